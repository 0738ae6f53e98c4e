"""General settings: the beginning of new chats, and updates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QWidget

from headstart.core.settings.fields import FieldInfo, describe
from headstart.core.settings.schema import Sampling, SamplingChoice, Settings, changed
from headstart.ui.kit.fields import ResetButton, number_box, show_value
from headstart.ui.kit.measures import keep_height
from headstart.ui.kit.wrapping import TextEdit
from headstart.ui.settings.form import Page, ResetField, Section
from headstart.ui.settings.updates_section import UpdatesSection
from headstart.ui.wording import say

_ADVICE = "settings.automatic-advice"


class SamplingRows:
    """Sampling of new chats, each value with a reset to the makers' advice. One object for all
    pages, so that each change builds on the others."""

    def __init__(self, sampling: SamplingChoice, change: Callable[..., None]) -> None:
        self.sampling = sampling
        self._change = change
        self.boxes: dict[str, QWidget] = {}
        self.resets: dict[str, ResetButton] = {}

    def add(self, section: Section, info: FieldInfo, about: str) -> None:
        chosen = getattr(self.sampling, info.name)
        reset = ResetButton(info.title, section)
        reset.setEnabled(chosen is not None)

        def choose(value: float) -> None:
            self.set(info.name, int(value) if info.integer else value)
            reset.setEnabled(True)

        self.resets[info.name] = reset
        box = self.boxes[info.name] = number_box(
            info, info.default if chosen is None else chosen, choose
        )
        box.setToolTip("")

        def forget() -> None:
            with QSignalBlocker(box):
                box.setProperty("value", info.default)
            self.set(info.name, None)
            reset.setEnabled(False)

        reset.clicked.connect(forget)
        section.row(info.title, ResetField(box, reset, section), about)

    def follow(self, settings: Settings) -> None:
        """Show changed settings."""
        self.sampling = settings.sampling
        for name, box in self.boxes.items():
            chosen = getattr(self.sampling, name)
            self.resets[name].setEnabled(chosen is not None)
            with QSignalBlocker(box):
                show_value(box, describe(Sampling)[name].default if chosen is None else chosen)

    def set(self, name: str, value: float | None) -> None:
        self.sampling = changed(self.sampling, **{name: value})
        self._change(sampling=self.sampling)


class GeneralPage(Page):
    """Calls `change` with the fields to replace."""

    def __init__(
        self,
        settings: Settings,
        numbers: SamplingRows,
        change: Callable[..., None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(say("settings.general"), settings, parent)
        fields, sampling = describe(Settings), describe(Sampling)
        section = self.section(say("settings.new-chats"))
        prompt = self.prompt = TextEdit(self)
        prompt.setPlainText(settings.system_prompt)
        prompt.setAccessibleName(say("settings.system-prompt-of-chats-without"))
        prompt.setPlaceholderText(say("settings.instructions"))
        prompt.setTabChangesFocus(True)
        keep_height(prompt, 84)
        told = self.by_user(lambda text: change(system_prompt=text))
        prompt.textChanged.connect(lambda: told(prompt.toPlainText()))
        self.watch(prompt, lambda settings: settings.system_prompt)
        section.wide(prompt, title=say("settings.system-prompt"))
        numbers.add(
            section,
            sampling["temperature"],
            say("settings.0-exact-1-inventive-advice", advice=say(_ADVICE)),
        )
        numbers.add(section, sampling["max_tokens"], sampling["max_tokens"].description)
        for name in ("thinking", "when_full"):
            section.field(
                fields[name],
                partial(_value_of, name),
                partial(self._set, change, name),
            )
        messages = self.section(say("settings.messages"))
        messages.field(
            fields["long_paste"],
            lambda settings: settings.long_paste,
            lambda value: change(long_paste=int(float(str(value)))),
        )
        self.updates = UpdatesSection(self, settings.updates, lambda new: change(updates=new))
        self.finish()

    @staticmethod
    def _set(change: Callable[..., None], name: str, value: object) -> None:
        change(**{name: value})

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        self.updates.follow(settings.updates)


def _value_of(name: str, settings: Settings) -> object:
    return getattr(settings, name)
