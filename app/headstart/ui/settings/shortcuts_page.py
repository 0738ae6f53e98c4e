"""Every key of the window; those of commands can be chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.core.settings.schema import Settings
from headstart.ui.kit.aloud import tell
from headstart.ui.kit.fields import ResetButton
from headstart.ui.kit.key_field import KeyField
from headstart.ui.kit.keys import key_text
from headstart.ui.settings.form import Page, SettingRow
from headstart.ui.settings.key_conflicts import SECOND_HELD, conflict
from headstart.ui.wording import say


class KeyRow(Struct, frozen=True):
    """Keys of one action. `shown`: as this system writes them. A command has an id and its usual
    keys in the portable form; the keys of places have none."""

    title: str
    shown: str
    command: str = ""
    usual: str = ""
    # the same keys in the portable form, for the places
    taken: tuple[str, ...] = ()


# titles of groups, each with its rows
Keys = Sequence[tuple[str, Sequence[KeyRow]]]


class ShortcutsPage(Page):
    """Calls `change` with the user's keys."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        change: Callable[..., None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(say("settings.shortcuts"), settings, parent)
        self._change = change
        self._rows = {row.command: row for _, rows in keys for row in rows if row.command}
        self._fixed = {one: row.title for _, rows in keys for row in rows for one in row.taken}
        self.choices: dict[str, KeyChoice] = {}
        for title, rows in keys:
            section = self.section(title)
            for row in rows:
                if row.command:
                    choice = self.choices[row.command] = KeyChoice(row.title, self)
                    choice.place = section.row(row.title, choice)
                    choice.field.entered.connect(partial(self.choose, row.command))
                    choice.reset.clicked.connect(partial(self.choose, row.command, row.usual))
                    continue
                label = QLabel(row.shown, self)
                trailing = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter
                label.setAlignment(trailing)
                label.setObjectName("quietText")
                section.row(row.title, label)
        self.all_usual = QPushButton(say("shortcuts.all-keys-as-usual"), self)
        self.all_usual.setAutoDefault(False)
        self.all_usual.clicked.connect(lambda: self._change(shortcuts={}))
        self.column.addWidget(self.all_usual, 0, Qt.AlignmentFlag.AlignLeading)
        self.finish()
        self._show()

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        self._show()

    def choose(self, command: str, keys: str) -> None:
        """Give a command these keys, unless something else has them: then say so."""
        own = self.settings.shortcuts
        problem, other = conflict(keys, command, self._keys(), self._fixed)
        if not problem:
            self._change(shortcuts=self._with(own, {command: keys}))
            return
        title = self._rows[other].title if other else self._fixed.get(keys, "")
        taking = None
        if other:
            taking = partial(self._change, shortcuts=self._with(own, {other: "", command: keys}))
        text = say(problem, keys=key_text(keys), title=title, other=key_text(SECOND_HELD))
        self.choices[command].refuse(text, taking)

    def _keys(self) -> dict[str, str]:
        own = self.settings.shortcuts
        return {one: own.get(one, row.usual) for one, row in self._rows.items()}

    def _with(self, own: Mapping[str, str], keys: Mapping[str, str]) -> dict[str, str]:
        """The user's keys with these; a command with its usual keys is in no list."""
        found = {**own, **keys}
        return {
            one: by
            for one, by in found.items()
            if one not in self._rows or by != self._rows[one].usual
        }

    def _show(self) -> None:
        for command, keys in self._keys().items():
            self.choices[command].show_keys(keys, self._rows[command].usual)
        self.all_usual.setEnabled(bool(self.settings.shortcuts))


class KeyChoice(QWidget):
    """The keys of a command, with a button that brings back the usual ones, and below them the
    sentence about keys that cannot be had."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = KeyField(title, self)
        self.reset = ResetButton(title, self)
        self.reset.setAccessibleName(say("shortcuts.usual-keys-of", title=title))
        self.reset.setToolTip(say("shortcuts.usual-keys"))
        self.take = QPushButton(say("shortcuts.use-keys-here"), self)
        self.take.setAutoDefault(False)
        self.take.hide()
        self.take.clicked.connect(self._take)
        self.place: SettingRow | None = None
        self._taking: Callable[[], object] | None = None
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(4)
        line.addWidget(self.field, 1)
        line.addWidget(self.reset)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(line)
        column.addWidget(self.take)
        self.setFocusProxy(self.field)

    def show_keys(self, keys: str, usual: str) -> None:
        self.field.show_keys(keys)
        self.reset.setEnabled(keys != usual)
        self._say("", None)

    def refuse(self, text: str, taking: Callable[[], object] | None) -> None:
        """Say why these keys stay where they are; `taking` moves them here."""
        tell(self, text, urgent=True)
        self._say(text, taking)

    def _say(self, text: str, taking: Callable[[], object] | None) -> None:
        self._taking = taking
        self.take.setVisible(taking is not None)
        if self.place is not None:
            self.place.set_about(text)

    def _take(self) -> None:
        if self._taking is not None:
            self._taking()
            self.field.setFocus()
