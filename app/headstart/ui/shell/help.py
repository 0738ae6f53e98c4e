"""Help inside the window: the guide, all shortcuts, a readable report, and the program's about
sheet. Main thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from headstart.ui.commands import Commands
from headstart.ui.controllers.reporting import ReportingController
from headstart.ui.kit.keys import key_text
from headstart.ui.kit.one_window import OneWindow
from headstart.ui.settings.wiring import SettingsOpener
from headstart.ui.wording import say

if TYPE_CHECKING:
    from headstart.ui.help.about_sheet import AboutSheet
    from headstart.ui.help.guide_page import GuideSheet
    from headstart.ui.help.report_sheet import ReportSheet
    from headstart.ui.settings.shortcuts_page import KeyRow, Keys

# it closes whatever is in front, everywhere
_FIXED = "reply.stop"
# keys that belong to a part of the window instead of a command
_PLACES = (
    ("shell.in-message", (
        ("shell.send", "Enter"),
        ("shell.new-line", "Shift+Enter"),
        ("shell.stop-reply-and-send-now", "Ctrl+Enter"),
        ("shell.earlier-questions", "Up"),
        ("shell.prompts-and-commands", "/"),
        ("shell.paste-into-message", "Ctrl+Shift+V"),
    )),
    ("shell.among-messages", (
        ("shell.next-and-previous-message", "Up, Down"),
        ("shell.actions-of-message", "Tab"),
        ("shell.copy-selection", "Ctrl+C"),
        ("shell.copy-as-markdown-2", "Ctrl+Shift+C"),
        ("shell.select-everything", "Ctrl+A"),
        ("shell.first-and-last-message", "Home, End"),
    )),
    ("shell.in-list-of-chats", (
        ("shell.open-and-write", "Enter"),
        ("shell.rename", "F2"),
        ("shell.delete", "Del"),
        ("shell.choose-several", "shell.keys-with-click"),
    )),
)  # fmt: skip
_GROUPS = (
    ("shell.chats", ("chat.", "chats.", "folder.", "composer.", "prompts.", "files.", "reply.")),
    ("shell.window", ("app.", "view.", "models.", "model.", "cache.", "help.")),
)


def keys_of(commands: Commands) -> Keys:
    """All keys, in groups."""
    from headstart.ui.settings.shortcuts_page import KeyRow

    def rows(begins: tuple[str, ...]) -> Iterator[KeyRow]:
        for command in commands:
            if not command.id.startswith(begins):
                continue
            title, shown = command.title.removesuffix("…"), key_text(command.keys)
            if command.id == _FIXED:
                yield KeyRow(title, shown, taken=(command.keys,))
            else:
                usual = commands.usual_keys(command.id)
                yield KeyRow(title, shown, command.id, usual, command.more_keys)

    found = [(say(title), tuple(rows(begins))) for title, begins in _GROUPS]
    places = [
        (
            say(title),
            tuple(KeyRow(say(what), _keys(by), taken=_taken(by)) for what, by in keys),
        )
        for title, keys in _PLACES
    ]
    return [*found, *places]


def _taken(by: str) -> tuple[str, ...]:
    if by.startswith("shell."):
        return ()
    # the key beside the letters, and that of the number pad
    return tuple(one for keys in by.split(", ") for one in (keys, keys.replace("Enter", "Return")))


def _keys(by: str) -> str:
    if by.startswith("shell."):
        return say(by)
    return key_text(by) if "+" in by or len(by) < 4 else by


class Help(QObject):
    """Opens the sheets, each created on demand."""

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
