"""Qt's own menus, dialogs and fonts, in every language of the window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtGui import QFontDatabase, QFontInfo, QKeySequence, QRawFont
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QTextEdit
from pytestqt.qtbot import QtBot

from headstart.core.resources import resources
from headstart.core.text.languages import ENGLISH, LANGUAGES, Language
from headstart.core.wording.translated import read_words
from headstart.ui.kit import languages, theme
from headstart.ui.kit.han_fonts import han_fonts
from headstart.ui.kit.languages import file_of
from headstart.ui.kit.qt_words import qt_file_of, qt_translators

OTHERS = [one for one in LANGUAGES if one is not ENGLISH]
# those that a user meets in fields, in dialogs for files and in a box before the window opens
SEEN = {
    "QWidgetTextControl": (
        "&Undo", "&Redo", "Cu&t", "&Copy", "&Paste", "Delete", "Select All",
        "Copy &Link Location",
    ),
    "QLineEdit": ("&Undo", "&Redo", "Cu&t", "&Copy", "&Paste", "Delete", "Select All"),
    "QAbstractSpinBox": ("&Select All", "&Step up", "Step &down"),
    "QScrollBar": ("Scroll here", "Top", "Bottom", "Page up", "Page down"),
    "QPlatformTheme": ("OK", "Cancel", "Open", "Save", "Close", "&Yes", "&No"),
    "QAccessibleActionInterface": ("Press", "Toggle", "ShowMenu", "SetFocus"),
    "QFileDialog": (
        "&Look in:", "File &name:", "Files of &type:", "Directory:", "&Open", "&Save", "&Choose",
        "&Rename", "&Delete", "&New Folder", "Create New Folder", "Parent Directory", "Back",
        "Forward", "List View", "Detail View", "Show &hidden files", "All Files (*)",
        "%1 already exists.\nDo you want to replace it?",
    ),
    "QFileSystemModel": ("Name", "Size", "Date Modified"),
    "QAbstractFileIconProvider": ("Drive",),
}  # fmt: skip


@pytest.fixture(params=OTHERS, ids=lambda one: one.code)
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[Language]:
    language: Language = request.param
    translators = qt_translators(language, qapp)
    for one in translators:
        qapp.installTranslator(one)
    yield language
    for one in translators:
        qapp.removeTranslator(one)


def test_each_text_of_qt_that_is_seen_is_in_the_language(language: Language) -> None:
    # words that some languages share with English
    shared = {"OK", "Name", "Drive", "&No"}
    missing = [
        (context, text)
        for context, texts in SEEN.items()
        for text in set(texts) - shared
        if QCoreApplication.translate(context, text) == text
    ]
    assert missing == []


def test_menus_and_the_dialog_for_files_have_no_english(qtbot: QtBot, language: Language) -> None:
    dialog = QFileDialog()
    qtbot.addWidget(dialog)
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    shown = {one.text() for one in dialog.findChildren(QLabel)}
    for widget in (QLineEdit(), QTextEdit()):
        qtbot.addWidget(widget)
        menu = widget.createStandardContextMenu()
        assert menu is not None
        shown |= {one.text().partition("\t")[0] for one in menu.actions() if one.text()}
        menu.deleteLater()
    assert shown
    assert shown.isdisjoint({text for texts in SEEN.values() for text in texts})


def test_keys_are_those_of_keyboards(language: Language) -> None:
    names = {"de": ("Strg", "Umschalt"), "fr": ("Ctrl", "Maj"), "es": ("Ctrl", "Mayús")}
    control, shift = names.get(language.code, ("Ctrl", "Shift"))
    shown = QKeySequence("Ctrl+Shift+N").toString(QKeySequence.SequenceFormat.NativeText)
    assert shown == f"{control}+{shift}+N"


def test_other_words_of_qt_are_found_behind_own_ones(language: Language) -> None:
    assert QCoreApplication.translate("QNothing", "Unheard of") == "Unheard of"
    if language.code not in ("hi", "id", "vi"):
        assert QCoreApplication.translate("QColorDialog", "Select Color") != "Select Color"


@pytest.mark.parametrize(
    "path", sorted(qt_file_of(ENGLISH).parent.glob("*.json")), ids=lambda one: str(one.stem)
)
def test_own_words_keep_facts_and_keys(path: Path) -> None:
    words: dict[str, str] = json.loads(path.read_text("utf-8"))
    assert words
    for said, own in words.items():
        assert own.strip(), said
        assert own.count("%1") == said.count("%1"), said
        assert own.count("&") == said.count("&"), said
        assert own.count("\n") == said.count("\n"), said
        assert own.endswith(" ") == said.endswith(" "), said


@pytest.mark.logs("Qt's words in vi cannot be read")
def test_a_damaged_file_leaves_qt_with_english(
    tmp_path: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = tmp_path / "vi.json"
    damaged.write_text('{"OK": 3}')
    monkeypatch.setattr("headstart.ui.kit.qt_words.qt_file_of", lambda _language: damaged)
    (vietnamese,) = (one for one in LANGUAGES if one.code == "vi")
    assert qt_translators(vietnamese, qapp) == []


def test_inter_has_the_letters_of_the_languages_that_use_it(language: Language) -> None:
    font = QRawFont(str(resources() / "fonts" / "Inter-Regular.otf"), 15)
    assert font.isValid()
    words = read_words(file_of(language)).values()
    letters = {sign for halves in words for half in halves for sign in half if sign.isalpha()}
    missing = {sign for sign in letters if not font.supportsCharacter(ord(sign))}
    assert (len(missing) < 3) is language.in_inter, sorted(missing)[:20]


@pytest.mark.parametrize("code", ["en", "vi", "uk", "ja", "hi", "fa"])
def test_the_automatic_font_is_inter_or_that_of_the_system(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    (language,) = (one for one in LANGUAGES if one.code == code)
    monkeypatch.setattr(languages, "current", lambda: language)
    theme.load_fonts()
    theme.apply(qapp, "light", "auto")
    system = QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)).family()
    assert qapp.font().family() == ("Inter" if code in ("en", "vi", "uk") else system)
    monkeypatch.undo()
    theme.apply(qapp, "system", "auto")


@pytest.mark.parametrize(
    ("code", "system", "font"),
    [
        ("zh-Hans", [], "Noto Sans CJK SC"), ("zh-Hant", ["zh-CN"], "PingFang TC"),
        ("ja", [], "Yu Gothic UI"), ("ko", [], "Malgun Gothic"), ("en", ["en-US"], ""),
        ("en", ["en-US", "zh-CN"], "Noto Sans CJK SC"), ("de", ["zh-HK", "ja"], "PingFang TC"),
    ],
)  # fmt: skip
def test_signs_are_drawn_as_in_the_users_country(
    monkeypatch: pytest.MonkeyPatch, code: str, system: list[str], font: str
) -> None:
    here = {"Noto Sans CJK SC", "PingFang SC", "PingFang TC", "Yu Gothic UI", "Malgun Gothic"}
    (language,) = (one for one in LANGUAGES if one.code == code)
    monkeypatch.setattr(languages, "current", lambda: language)
    monkeypatch.setattr(QLocale, "uiLanguages", lambda _locale: system)
    monkeypatch.setattr(QFontDatabase, "hasFamily", lambda name: name in here)
    assert han_fonts.__wrapped__() == ((font,) if font else ())
