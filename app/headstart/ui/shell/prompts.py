"""The user's prompts and presets in the window: using, saving and managing them. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from headstart.chat.preferences import Preferences
from headstart.core.chats.variables import CLIPBOARD, LONGEST, filled, names
from headstart.core.settings.schema import SavedPrompt, Settings
from headstart.core.text.shown import is_blank
from headstart.ui.composer.slash_menu import SlashEntry
from headstart.ui.kit.asking import TextQuestion
from headstart.ui.kit.composing import commit_focused
from headstart.ui.kit.keys import key_text
from headstart.ui.kit.one_window import OneWindow
from headstart.ui.shell.shell import Shell
from headstart.ui.wording import say

if TYPE_CHECKING:
    from headstart.ui.kit.values_dialog import ValuesDialog
    from headstart.ui.shell.library_window import LibraryWindow

_LONGEST_NAME = 80
Values = Mapping[str, str]


class Prompts(QObject):
    """Creates its windows on demand."""

    library: OneWindow[LibraryWindow] = OneWindow()
    asking: OneWindow[ValuesDialog] = OneWindow()

    def __init__(self, window: Shell, preferences: Preferences) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        preferences.listen(self._on_settings, "prompts", "presets")
        window.composer.slash.entries = self._entries
        window.composer.below.prompts_menu.aboutToShow.connect(self._fill_menu)
        window.inspector.overview.preset_to_save.connect(self.save_preset)
        window.inspector.overview.library_requested.connect(self.open)

    # --- prompts in messages -------------------------------------------------------------

    def use(self, prompt: SavedPrompt) -> None:
        """Insert a prompt at the cursor, with its variables filled in."""

        def put(values: Values) -> None:
            edit = self._window.composer.edit
            edit.insertPlainText(filled(prompt.text, values, date.today()))
            edit.setFocus()

        self._fill(prompt.text, say("shell.name-has-places-to-fill", name=prompt.name), {}, put)

    def save_prompt(self) -> None:
        """Save the composer's text as a prompt."""
        commit_focused()
        text = self._window.composer.text()

        def save(name: str) -> None:
            kept = [one for one in self._preferences.current.prompts if one.name != name]
            new = (*kept, SavedPrompt(name, text[:LONGEST]))
            self._preferences.update(prompts=_sorted(new))
            self._window.toast.show_text(say("shell.saved-type-name-in-message", name=name))

        if not is_blank(text):
            first = text.strip().partition("\n")[0]
            self._ask_name(say("shell.save-as-prompt"), first[:40], save)

    def _entries(self) -> Iterator[SlashEntry]:
        for prompt in self._preferences.current.prompts:
            yield SlashEntry(prompt.name, partial(self.use, prompt), "book-open")
        for command in self._window.commands:
            if command.enabled():
                keys = key_text(command.keys) if command.keys else ""
                yield SlashEntry(command.title, command.run, command.icon, keys)

    def _fill_menu(self) -> None:
        menu: QMenu = self._window.composer.below.prompts_menu
        menu.clear()
        for prompt in self._preferences.current.prompts:
            menu.addAction(prompt.name.replace("&", "&&"), partial(self.use, prompt))
        if self._preferences.current.prompts:
            menu.addSeparator()
        save = menu.addAction(say("shell.save-message-as-prompt"), self.save_prompt)
        save.setEnabled(not self._window.composer.edit.is_blank())
        menu.addAction(say("shell.prompts-and-presets"), self.open)

    # --- presets -------------------------------------------------------------------------

    def save_preset(self) -> None:
        """Save the open chat's overrides as a preset."""

        def save(name: str) -> None:
            self._window.inspector.save_preset(name)
            self._window.toast.show_text(say("shell.saved-as-preset-name", name=name))

        self._ask_name(say("shell.save-as-preset"), self._window.header.title.full_text, save)

    def complete(self, then: Callable[[], object]) -> bool:
        """True if every variable of the open chat's system prompt has a value; else ask the user
        for the values, and then call `then`."""
        inspector = self._window.inspector
        known = inspector.holding.options.values
        missing = [
            name for name in names(inspector.holding.effective.system_prompt) if name not in known
        ]
        if not missing:
            return True

        def keep(values: Values) -> None:
            inspector.fill_in(dict(values))
            then()

        about = say("shell.system-prompt-of-chat-has")
        self._fill(inspector.holding.effective.system_prompt, about, known, keep)
        return False

    # --- both ----------------------------------------------------------------------------

    def open(self) -> None:
        """Open the window of prompts and presets."""
        if self.library is None:
            from headstart.ui.shell.library_window import LibraryWindow

            settings = self._preferences.current
            window = self.library = LibraryWindow(settings.prompts, settings.presets, self._window)
            window.prompts_changed.connect(
                lambda prompts: self._preferences.update(prompts=_sorted(prompts))
            )
            window.presets_changed.connect(
                lambda presets: self._preferences.update(presets=presets)
            )
        else:
            window = self.library
        window.show()
        window.raise_()

    def _on_settings(self, settings: Settings) -> None:
        if self.library is not None:
            self.library.follow(settings.prompts, settings.presets)

    def _fill(self, text: str, about: str, known: Values, then: Callable[[Values], object]) -> None:
        """Call `then` with the values of a text's variables, once the user has entered them."""
        wanted = [name for name in names(text) if name not in known]
        values: dict[str, str] = {}
        if CLIPBOARD in wanted:
            wanted.remove(CLIPBOARD)
            values[CLIPBOARD] = QGuiApplication.clipboard().text()[:LONGEST]
        if not wanted:
            then(values)
            return
        from headstart.ui.kit.values_dialog import ValuesDialog

        dialog = self.asking = ValuesDialog(wanted, about, known, self._window)
        dialog.given.connect(lambda given: then({**values, **given}))
        dialog.open()

    def _ask_name(self, title: str, suggested: str, then: Callable[[str], object]) -> None:
        def take(text: str) -> None:
            name = " ".join(text.split())[:_LONGEST_NAME]
            if name:
                then(name)

        TextQuestion(self._window, title, say("shell.name"), suggested, say("shell.save")).ask(take)


def _sorted(prompts: tuple[SavedPrompt, ...]) -> tuple[SavedPrompt, ...]:
    return tuple(sorted(prompts, key=lambda one: one.name.casefold()))
