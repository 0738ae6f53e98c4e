"""Computes syntax colours of code, and the blocks of long texts, on one worker thread.

The spans reach the main thread as plain tuples, with the serial number of their request.
"""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor

from PySide6.QtCore import QObject, Signal

from headstart.core.text.units import spans_in_units
from headstart.ui.transcript.streaming import parse_reply

LONGEST = 200_000  # characters; beyond this, code stays plain

# a span: start, length, and the name of a Theme field (or of a role the theme's ink covers)
Span = tuple[int, int, str]


class Highlighter(QObject):
    """Ask with `request`, hear back by `highlighted(block id, serial, spans)`."""

    highlighted = Signal(int, int, object)
    # a key, a text and its blocks
    parsed = Signal(str, str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="highlight")
        self._closed = False
        # the newest request of each block; it replaces older waiting ones
        self._waiting: dict[int, tuple[int, str, str]] = {}

    def request(self, block: int, serial: int, code: str, language: str) -> None:
        if len(code) > LONGEST or self._closed:
            return
        queued = block in self._waiting
        self._waiting[block] = (serial, code, language)
        if not queued:
            self._executor.submit(self._work, block)

    def parse(self, key: str, text: str) -> None:
        """Parse a whole long text; `parsed` delivers the blocks."""
        if not self._closed:
            self._executor.submit(self._parse, key, text)

    def prepare(self) -> None:
        """Import the Markdown parser on the worker thread, before the window needs it: this takes a
        fifth of a second. The URL makes it compile its longest regular expression."""
        if not self._closed:
            self._executor.submit(parse_reply, "https://example.org")

    def close(self) -> None:
        self._closed = True
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _parse(self, key: str, text: str) -> None:
        blocks = parse_reply(text)
        if not self._closed:
            self.parsed.emit(key, text, blocks)

    def _work(self, block: int) -> None:
        serial, code, language = self._waiting.pop(block)
        spans = lex(code, language)
        if spans and not self._closed:
            self.highlighted.emit(block, serial, spans)


# roles of a diff's tokens, from those of code and of the window
_DIFF = {
    "Inserted": "string",
    "Deleted": "danger",
    "Heading": "name",
    "Subheading": "comment",
}


def lex(code: str, language: str) -> list[Span]:
    """Coloured spans of `code`, in UTF-16 units; none for a language unknown to Pygments."""
    lexer = _lexer(language.lower())
    if lexer is None:
        return []
    spans: list[tuple[int, int, str]] = []
    for start, token, text in lexer.get_tokens_unprocessed(code):
        role = _role(token)
        if role and text.strip():
            spans.append((start, start + len(text), role))
    return [(begin, end - begin, role) for begin, end, role in spans_in_units(code, spans)]


@functools.lru_cache(maxsize=32)
def _lexer(language: str):  # type: ignore[no-untyped-def]
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if not language:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _role(token: object) -> str:
    name = str(token).removeprefix("Token.")
    if name.startswith("Keyword"):
        return "keyword"
    if name.startswith(("Literal.String", "Literal.Date")):
        return "string"
    if name.startswith("Literal.Number"):
        return "number"
    if name.startswith("Comment"):
        return "comment"
    # tokens of a diff
    if name.startswith("Generic."):
        return _DIFF.get(name.removeprefix("Generic."), "")
    if name.startswith("Operator.Word"):
        return "keyword"
    if name.startswith(
        ("Name.Function", "Name.Class", "Name.Builtin", "Name.Decorator", "Name.Tag", "Name.Attr")
    ):
        return "name"
    return ""
