"""English words in every language of a run: window tests also run in the pseudo-locale."""

from __future__ import annotations

import re
from collections.abc import Iterable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from headstart.core.text.languages import PSEUDO
from headstart.core.wording.pseudo import LETTERS
from headstart.ui.kit import languages

_PLAIN = str.maketrans({own: said for said, own in LETTERS.items()})
_ACCENTS = str.maketrans(LETTERS)
_TAIL = re.compile(r"(?: ~)+$")
_WHOLE = re.compile(r"\[(.*?)(?: ~)+\]", re.DOTALL)


def plain(text: str) -> str:
    """A shown text in English: the marks of the pseudo-locale are taken off. What was cut with
    its last bracket keeps them."""
    if languages.current() is not PSEUDO:
        return text
    found, open_at = [""], 0
    for sign in text:
        if sign == "[":
            found.append("")
            open_at += 1
        elif sign == "]" and open_at:
            inner = found.pop()
            open_at -= 1
            tail = _TAIL.search(inner)
            found[-1] += f"[{inner}]" if tail is None else inner[: tail.start()]
        else:
            found[-1] += sign
    if open_at and (whole := _WHOLE.fullmatch(text)) is not None:
        # a fact in it has a bracket of its own
        return whole[1].translate(_PLAIN)
    return "[".join(found).translate(_PLAIN)


def plain_all(texts: Iterable[str]) -> list[str]:
    return [plain(one) for one in texts]


def accented(words: str) -> str:
    """English words as they stand in the window's texts, to look for them there."""
    return words.translate(_ACCENTS) if languages.current() is PSEUDO else words


def type_words(widget: QWidget, words: str) -> None:
    """Type words of the window's texts, on a keyboard that has their letters."""
    for letter in accented(words):
        if letter.isascii():
            QTest.keyClicks(widget, letter)
        else:
            # QTest has the keys of English only
            press = QKeyEvent(QEvent.Type.KeyPress, 0, Qt.KeyboardModifier.NoModifier, letter)
            QApplication.sendEvent(widget, press)
