"""Expert settings: the engine and sampling. Each row shows its automatic value, and a line tells
if the loaded model already has these settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from headstart.chat.answering.loading import LoadedState
from headstart.core.settings.fields import describe
from headstart.core.settings.schema import EngineSettings, Sampling, Settings, changed
from headstart.core.told import Told
from headstart.ui.kit.joining import sentences
from headstart.ui.settings.form import Page, Section, SettingRow
from headstart.ui.settings.general_page import SamplingRows
from headstart.ui.wording import say

STATES: dict[LoadedState, str] = {
    "nothing": "settings.no-model-loaded-next-one",
    "same": "settings.loaded-model-has-these-settings",
    "other": "settings.model-has-old-settings",
}
# the settings that people are likeliest to change, on the page about models
COMMON = ("check_memory", "context_length", "gpu_layers")
_SAMPLING = ("top_p", "top_k", "min_p", "repeat_penalty")


class EngineRows:
    """Rows for engine settings, on two pages; calls `change` with the new settings."""

    def __init__(self, engine: EngineSettings, change: Callable[..., None]) -> None:
        self._engine = engine
        self._change = change
        self._rows: dict[str, tuple[SettingRow, str]] = {}

    def add(self, section: Section, names: tuple[str, ...]) -> None:
        for name in names:
            info = describe(EngineSettings)[name]
            control = section.field(info, partial(_value_of, name), partial(self.change, name))
            row = control.parentWidget()
            assert isinstance(row, SettingRow)
            self._rows[name] = row, row.about.text()

    def change(self, name: str, value: object) -> None:
        chosen = value if isinstance(value, str | bool) else int(float(str(value)))
        self._engine = changed(self._engine, **{name: chosen})
        self._change(engine=self._engine)

    def about(self, name: str) -> str:
        """The text below a setting."""
        return self._rows[name][0].about.text()

    def follow(self, settings: Settings) -> None:
        """Take over changed settings; the pages update the rows."""
        self._engine = settings.engine

    def set_automatic(self, words: Mapping[str, Told]) -> None:
        """Show the value of each automatic setting on this computer."""
        for name, (row, about) in self._rows.items():
            row.set_about(sentences(about, words[name].text) if name in words else about)


class ExpertPage(Page):
    reload_requested = Signal()

    def __init__(
        self,
        settings: Settings,
        rows: EngineRows,
        numbers: SamplingRows,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(say("settings.expert"), settings, parent)
        self.column.addWidget(self.word(say("settings.automatic-suits-nearly-everybody-after")))
        section = self.section(say("settings.engine"))
        rows.add(section, tuple(one for one in describe(EngineSettings) if one not in COMMON))
        self._state = QLabel(self)
        self._state.setObjectName("quiet")
        self._state.setWordWrap(True)
        self.reload_button = QPushButton(say("settings.load-now"), self)
        self.reload_button.setAutoDefault(False)
        self.reload_button.clicked.connect(self.reload_requested)
        line = QHBoxLayout()
        line.addWidget(self._state, 1)
        line.addWidget(self.reload_button)
        section.wide(line)
        section = self.section(say("settings.sampling-of-new-chats"))
        for name in _SAMPLING:
            info = describe(Sampling)[name]
            numbers.add(section, info, info.description)
        self.finish()
        self.set_state("nothing")

    def set_state(self, state: LoadedState) -> None:
        self._state.setText(say(STATES[state]))
        self.reload_button.setVisible(state == "other")


def _value_of(name: str, settings: Settings) -> object:
    return getattr(settings.engine, name)
