"""Entries of the palette, and their actions. Main thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QObject

from headstart.chat.models import ModelList
from headstart.core.chats.search import FoundChats
from headstart.ui.controllers.everything import Controllers
from headstart.ui.kit.keys import key_text
from headstart.ui.settings.form import SettingEntry as Setting
from headstart.ui.settings.wiring import SettingsOpener
from headstart.ui.shell.help import Help
from headstart.ui.shell.palette import Palette, PaletteEntry
from headstart.ui.shell.shell import Shell
from headstart.ui.wording import say


class PaletteOpener(QObject):
    """Creates the palette on first use, not at the start of the program."""

    def __init__(
        self, window: Shell, controllers: Controllers, settings: SettingsOpener, helping: Help
    ) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._help = helping
        self._controllers = controllers
        self._models: ModelList | None = None
        self.palette: Palette | None = None
        controllers.model_list.listed.connect(self._on_models)
        controllers.finding.found.connect(self._on_found)

    def open(self) -> None:
        if self.palette is None:
            self.palette = Palette(self._window, lambda: self._entries())
            self.palette.messages_wanted.connect(self._controllers.finding.find)
            self.palette.closed.connect(self._window.composer.edit.setFocus)
        self._controllers.model_list.list()
        self.palette.open()

    def place(self) -> None:
        if self.palette is not None and not self.palette.isHidden():
            self.palette.place()

    def _entries(self) -> Iterator[PaletteEntry]:
        window = self._window
        for chat in window.sidebar.model.summaries():
            yield PaletteEntry(
                say("shell.chat"), chat.title, partial(window.open_chat, chat.id),
                say("shell.archived-chat") if chat.archived else chat.folder, "message-square",
            )  # fmt: skip
        for command in window.commands:
            if command.enabled():
                yield PaletteEntry(
                    say("shell.command"), command.title.removesuffix("…"), command.run,
                    key_text(command.keys) if command.keys else "", command.icon,
                )  # fmt: skip
        yield from self._of_models()
        yield from self._of_settings()
        yield from self._of_help()

    def _of_models(self) -> Iterator[PaletteEntry]:
        choose = self._controllers.models.choose
        for model in self._models.local if self._models is not None else ():
            if model.why_not is None:
                yield PaletteEntry(
                    say("shell.model"), model.ref.name, partial(choose, model.ref), icon="box"
                )
        for offered in self._models.servers if self._models is not None else ():
            for one in offered.models:
                yield PaletteEntry(
                    say("shell.model"), one.name, partial(choose, one), one.host, "server"
                )

    def _of_settings(self) -> Iterator[PaletteEntry]:
        settings = self._settings
        page = settings.make()

        def show(name: str, entry: Setting) -> None:
            settings.open(name).show_entry(name, entry)

        for name, entry in page.entries():
            run = partial(show, name, entry)
            yield PaletteEntry(
                say("shell.setting"), entry.title, run, page.pages[name].title, "settings"
            )

    def _of_help(self) -> Iterator[PaletteEntry]:
        from headstart.ui.help.guide_page import pages

        for title, name in pages():
            yield PaletteEntry(
                say("shell.help"),
                title,
                partial(self._help.guide, name),
                say("shell.guide"),
                "book-open",
            )

    def _on_models(self, models: ModelList) -> None:
        self._models = models

    def _on_found(self, query: str, found: FoundChats) -> None:
        if self.palette is not None:
            self.palette.set_messages(query, found.chats, self._window.open_message)
