"""Words in brackets, for a window in which everything that comes from a table can be told from what
does not."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)

from headstart.core import wording as core
from headstart.ui import wording as window_words

OPEN, CLOSE = "⟦", "⟧"
# names of programs and people, keys, code, units, and what the walk itself wrote
NAMES = re.compile(
    r"Headstart|Headstart [\d.]+, Python .*|Hugging Face|LM Studio|Ollama|GPT4All|GGUF|MLX|SmolLM2.*|Law|https?://.*"
    r"|b?f16|q8_0|Q\d_\w+|llama|apache-2\.0|A|Prime checker in Python"
    r"|[\d\W]*(B|kB|MB|GB|s|min|h|M|k|%|px)?[\d\W]*"
    r"|((Ctrl|Shift|Alt|Esc|Tab|Enter|Del|Up|Down|Home|End|F\d+)[+, ]{0,2}\S?)+"
)


def marked(text: str) -> str:
    return f"{OPEN}{text}{CLOSE}" if text else text


def mark() -> None:
    """Put every word of every table into brackets, from now on and for good: for a process of its
    own."""
    table, catalogue = window_words.table, core.catalogue

    @functools.cache
    def marked_table(room: str) -> Mapping[str, str]:
        return {name: marked(text) for name, text in table(room).items()}

    @functools.cache
    def marked_catalogue() -> Mapping[str, tuple[str, str]]:
        return {code: (marked(one), marked(two)) for code, (one, two) in catalogue().items()}

    window_words.table = marked_table
    core.catalogue = marked_catalogue


def texts_of(widget: QWidget) -> Iterator[str]:
    """Everything that a user can read or hear of it."""
    yield widget.accessibleName()
    yield widget.toolTip()
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        yield widget.placeholderText()
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(row) for row in range(widget.count()))
    if isinstance(widget, QTabBar):
        yield from (widget.tabText(tab) for tab in range(widget.count()))


def unmarked(widget: QWidget) -> list[str]:
    """Words that are in no table."""
    if isinstance(widget.parentWidget(), QAbstractItemView):
        return []
    texts = [re.sub(r"<[^>]*>|&\w+;", "", text) for text in texts_of(widget)]
    return [text for text in texts if OPEN not in text and not NAMES.fullmatch(text.strip())]
