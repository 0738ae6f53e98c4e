"""Help inside the window: the guide, every key, a report that one can read, and what this is. Main
thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from headstart.ui.commands import Commands, key_text
from headstart.ui.controllers.reporting import ReportingController
from headstart.ui.kit.one_window import OneWindow
from headstart.ui.settings.wiring import SettingsOpener

if TYPE_CHECKING:
    from headstart.ui.help.about_sheet import AboutSheet
    from headstart.ui.help.guide_page import GuideSheet
    from headstart.ui.help.report_sheet import ReportSheet
    from headstart.ui.settings.shortcuts_page import Keys

# keys that belong to a place instead of a command
_PLACES = (
    ("In the message", (
        ("Send", "Enter"),
        ("New line", "Shift+Enter"),
        ("Stop the reply and send now", "Ctrl+Enter"),
        ("Earlier questions", "Up"),
        ("Prompts and commands", "/"),
    )),
    ("Among messages", (
        ("Next and previous message", "Up, Down"),
        ("Actions of the message", "Tab"),
        ("Copy the selection", "Ctrl+C"),
        ("Copy it as Markdown", "Ctrl+Shift+C"),
        ("Select everything", "Ctrl+A"),
        ("First and last message", "Home, End"),
    )),
    ("In the list of chats", (
        ("Open, and write", "Enter"),
        ("Rename", "F2"),
        ("Delete", "Del"),
        ("Choose several", "Shift or Ctrl with a click"),
    )),
)  # fmt: skip
_GROUPS = (
    ("Chats", ("chat.", "chats.", "folder.", "composer.", "prompts.", "reply.")),
    ("Window", ("app.", "view.", "models.", "model.", "help.")),
)


def keys_of(commands: Commands) -> Keys:
    """Every key, in groups."""

    def rows(begins: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        for command in commands:
            if command.keys and command.id.startswith(begins):
                yield command.title.removesuffix("…"), key_text(command.keys)

    found = [(title, tuple(rows(begins))) for title, begins in _GROUPS]
    places = [
        (
            title,
            tuple((what, key_text(by) if "+" in by or len(by) < 4 else by) for what, by in keys),
        )
        for title, keys in _PLACES
    ]
    return [*found, *places]


class Help(QObject):
    """Each sheet is made when it is opened."""

    sheet: OneWindow[GuideSheet | AboutSheet | ReportSheet] = OneWindow()

    def __init__(
        self, window: QWidget, settings: SettingsOpener, reporting: ReportingController
    ) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._reporting = reporting

    def guide(self, page: str = "") -> None:
        from headstart.ui.help.guide_page import GuideSheet

        sheet = GuideSheet(self._window, page)
        self._open(sheet)

    def keys(self) -> None:
        self._settings.open("shortcuts")

    def about(self) -> None:
        from headstart.ui.help.about_sheet import AboutSheet

        self._open(AboutSheet(self._window))

    def report(self) -> None:
        from headstart.ui.help.report_sheet import ReportSheet

        sheet = ReportSheet(self._window)
        sheet.saved.connect(self._reporting.save)
        self._reporting.ready.connect(sheet.show_text)
        self._reporting.saved.connect(sheet.show_saved)
        self._open(sheet)
        self._reporting.make()

    def _open(self, sheet: GuideSheet | AboutSheet | ReportSheet) -> None:
        self.sheet = sheet
        sheet.open()
