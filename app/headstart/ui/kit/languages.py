"""The window's language: its sentences, those of Qt, its direction. Main thread, before the first
widget is made."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import msgspec
from PySide6.QtCore import QLocale, Qt, QTranslator
from PySide6.QtWidgets import QApplication

from headstart.core.resources import resources
from headstart.core.text.languages import (
    ENGLISH,
    LANGUAGES,
    PSEUDO,
    Language,
    best_language,
    language_of,
)
from headstart.core.wording.translated import read_words, use_words
from headstart.ui.kit.qt_words import qt_translators
from headstart.ui.kit.system_locale import SystemLocale

log = logging.getLogger(__name__)

# the language of this run, for tests of the window: “qps”, or “qps-mirrored”
VARIABLE = "HEADSTART_LANGUAGE"
_translators: list[QTranslator] = []
_current = ENGLISH


def current() -> Language:
    """The language of this run."""
    return _current


def offered() -> tuple[Language, ...]:
    """The languages whose sentences are here, English first."""
    return tuple(one for one in LANGUAGES if one is ENGLISH or file_of(one).is_file())


def file_of(language: Language) -> Path:
    return resources() / "languages" / f"{language.code}.json"


def wanted_language(setting: str) -> Language:
    """The language for a setting; "" is the system's."""
    code = os.environ.get(VARIABLE, "").partition("-mirrored")[0] or setting
    if code:
        return language_of(code) or ENGLISH
    return best_language(QLocale.system().uiLanguages(), offered())


def use_language(application: QApplication, setting: str) -> Language:
    """Have all text of the window in the language of a setting; English, if its file is damaged or
    missing."""
    global _current
    language = wanted_language(setting)
    words = {}
    if language is PSEUDO:
        from headstart.core.wording import catalogue
        from headstart.core.wording.pseudo import pseudo_words
        from headstart.ui.wording import all_words

        english = {**catalogue(), **{code: (text, "") for code, text in all_words().items()}}
        words = pseudo_words(english)
    elif language is not ENGLISH:
        try:
            words = read_words(file_of(language))
        except (OSError, msgspec.MsgspecError) as error:
            log.warning("the sentences of %s cannot be read: %s", language.code, error)
            language = ENGLISH
    _current = language
    use_words(words)
    SystemLocale(language.qt).install()
    for one in _translators:
        application.removeTranslator(one)
    _translators.clear()
    if language not in (ENGLISH, PSEUDO):
        _translators.extend(qt_translators(language, application))
        for one in _translators:
            application.installTranslator(one)
    mirrored = language.from_right or os.environ.get(VARIABLE, "").endswith("-mirrored")
    direction = Qt.LayoutDirection
    application.setLayoutDirection(direction.RightToLeft if mirrored else direction.LeftToRight)
    return language
