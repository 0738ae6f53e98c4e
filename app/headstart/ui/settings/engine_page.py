"""How models run on this computer: every engine setting in one place, what it is automatically, and
whether the loaded model has it yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from headstart.chat.answering.loading import LoadedState
from headstart.core.settings import EngineSettings, changed
from headstart.core.settings_fields import describe
from headstart.ui.fields import check_box, choice_box, number_box
from headstart.ui.settings.form import Page

STATES: dict[LoadedState, str] = {
    "nothing": "No model is loaded: the next one gets these settings.",
    "same": "The loaded model has these settings.",
    "other": (
        "The loaded model still has the settings from before. It is loaded again at the next "
        "message, or now; chats stay as they are."
    ),
}


class EnginePage(Page):
    """Calls `change` with new engine settings."""

    reload_requested = Signal()

    def __init__(
        self,
        engine: EngineSettings,
        change: Callable[..., None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._change = change
        self.words: dict[str, QLabel] = {}
        form = self.section("Models on this computer")
        for name, info in describe(EngineSettings).items():
            value, act = getattr(engine, name), partial(self.change, name)
            field: QWidget
            if isinstance(value, bool):
                field = check_box(info, value, act)
            elif info.choices:
                field = choice_box(info, value, act)
            else:
                field = number_box(info, value, act)
            self.row(form, info.title, field)
            self.words[name] = self.word()
            form.addRow("", self.words[name])
        self._state = QLabel(self)
        self._state.setObjectName("quiet")
        self._state.setWordWrap(True)
        self.reload_button = QPushButton("Load now", self)
        self.reload_button.setAutoDefault(False)
        self.reload_button.clicked.connect(self.reload_requested)
        row = QHBoxLayout()
        row.addWidget(self._state, 1)
        row.addWidget(self.reload_button)
        self.column.addLayout(row)
        self.column.addStretch(1)
        self.set_state("nothing")

    def set_automatic(self, words: Mapping[str, str]) -> None:
        """What each automatic setting is on this computer."""
        for name, label in self.words.items():
            label.setText(words.get(name, ""))
            label.setVisible(bool(label.text()))

    def set_state(self, state: LoadedState) -> None:
        self._state.setText(STATES[state])
        self.reload_button.setVisible(state == "other")

    def change(self, name: str, value: float | str | bool) -> None:
        chosen = value if isinstance(value, str | bool) else int(value)
        self._engine = changed(self._engine, **{name: chosen})
        self._change(engine=self._engine)
