"""The words of Qt's own menus and dialogs where Qt has none in a language, and names of keys that
stand on no keyboard. Main thread."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec
from PySide6.QtCore import QLibraryInfo, QObject, QTranslator

from headstart.core.resources import resources
from headstart.core.text.languages import Language

log = logging.getLogger(__name__)


class OwnWords(QTranslator):
    """Translates by Qt's English text alone: one text means one thing there."""

    def __init__(self, words: Mapping[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words = words

    def isEmpty(self) -> bool:
        return not self._words

    def translate(
        self,
        _context: bytes | str,
        text: bytes | str,
        _about: bytes | str | None = None,
        _count: int = -1,
    ) -> str:
        # only None lets Qt ask the next translator; the stubs do not know it
        said = text if isinstance(text, str) else text.decode("utf-8")
        return self._words.get(said)  # type: ignore[return-value]


def qt_file_of(language: Language) -> Path:
    return resources() / "languages" / "qt" / f"{language.code}.json"


def qt_translators(language: Language, parent: QObject) -> list[QTranslator]:
    """The translators of a language, to be installed in their order: Qt asks the last one first."""
    found: list[QTranslator] = []
    theirs = QTranslator(parent)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if theirs.load(f"qtbase_{language.qt}", folder):
        found.append(theirs)
    try:
        words = msgspec.json.decode(qt_file_of(language).read_bytes(), type=dict[str, str])
        found.append(OwnWords(words, parent))
    except FileNotFoundError:
        pass
    except (OSError, msgspec.MsgspecError) as error:
        log.warning("Qt's words in %s cannot be read: %s", language.code, error)
    return found
