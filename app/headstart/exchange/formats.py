"""The export formats of chats."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from headstart.core.told import told
from headstart.exchange import own_format
from headstart.exchange.include import Include
from headstart.exchange.tree import ExchangeChat
from headstart.exchange.writers.html import DOCUMENT, body, to_html
from headstart.exchange.writers.lines import trace_lines, training_line
from headstart.exchange.writers.markdown import to_markdown
from headstart.exchange.writers.text import to_text

# makes a document's bytes from its title and its body as HTML; needs the window's classes
Render = Callable[[str, str], bytes]


class FileFormat(Struct, frozen=True):
    """`together`: several chats are joined in one file; other formats put them into an archive."""

    code: str
    suffix: str
    write: Callable[[ExchangeChat, Include], bytes] | None = None
    together: bool = False
    # options that the format supports
    has_branches: bool = False
    has_choices: bool = True

    @property
    def title(self) -> str:
        return told(f"file-format-{self.code}").message

    @property
    def about(self) -> str:
        """Its purpose, in a few words."""
        return told(f"file-format-{self.code}").remedy

    def to_bytes(
        self, conversation: ExchangeChat, include: Include, render: Render | None = None
    ) -> bytes:
        if self.write is not None:
            return self.write(conversation, include)
        assert render is not None, self.code
        return render(conversation.title, body(conversation, include, DOCUMENT))


HEADSTART = FileFormat(
    "headstart",
    own_format.SUFFIX,
    lambda chat, _: own_format.to_json(chat),
    has_choices=False,
)
FORMATS = (
    HEADSTART,
    FileFormat(
        "markdown",
        ".md",
        lambda chat, include: to_markdown(chat, include).encode(),
    ),
    FileFormat(
        "html",
        ".html",
        lambda chat, include: to_html(chat, include).encode(),
        has_branches=True,
    ),
    FileFormat("pdf", ".pdf", has_branches=True),
    FileFormat("odt", ".odt", has_branches=True),
    FileFormat(
        "text",
        ".txt",
        lambda chat, include: to_text(chat, include).encode(),
    ),
    FileFormat(
        "trace",
        ".jsonl",
        trace_lines,
        together=True,
        has_branches=True,
    ),
    FileFormat(
        "training",
        ".jsonl",
        training_line,
        together=True,
    ),
)


def format_of(code: str) -> FileFormat:
    """Raises KeyError for an unknown code."""
    return {form.code: form for form in FORMATS}[code]
