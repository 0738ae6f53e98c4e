"""Looks, what new chats begin with, and what is kept of what models have read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QWidget

from headstart.core.prefix_settings import PrefixSettings
from headstart.core.settings import Sampling, Settings, changed
from headstart.core.settings_fields import FieldInfo, describe
from headstart.ui.fields import ResetButton, check_box, choice_box, number_box
from headstart.ui.settings.form import Page
from headstart.ui.settings.updates_section import UpdatesSection
from headstart.ui.wrapping import TextEdit


class GeneralPage(Page):
    """Calls `change` with the fields to replace."""

    def __init__(
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._change = change
        fields = describe(Settings)
        form = self.section("Appearance")
        for name in ("theme", "text_font"):
            self._choice(form, name, fields)
        stats = check_box(
            fields["show_stats"], settings.show_stats, lambda on: self.change(show_stats=on)
        )
        self.row(form, fields["show_stats"].title, stats)
        form = self.section("New chats")
        prompt = TextEdit(self)
        prompt.setPlainText(settings.system_prompt)
        prompt.setAccessibleName("System prompt of chats without one of their own")
        prompt.setTabChangesFocus(True)
        prompt.setFixedHeight(72)
        prompt.textChanged.connect(lambda: self.change(system_prompt=prompt.toPlainText()))
        self.row(form, "System prompt", prompt)
        for name in ("temperature", "top_p", "max_tokens"):
            self._sampling_row(form, describe(Sampling)[name])
        self._choice(form, "when_full", fields)
        self._choice(form, "thinking", fields)
        form = self.section("Privacy")
        days = fields["trash_days"]
        box = number_box(
            days, settings.trash_days, lambda value: self.change(trash_days=int(value))
        )
        self.row(form, days.title, box)
        form = self.section("Prompt cache")
        for name, info in describe(PrefixSettings).items():
            value, act = getattr(settings.prefix, name), partial(self._prefix_changed, name)
            field = (
                check_box(info, value, act)
                if isinstance(value, bool)
                else number_box(info, value, act)
            )
            self.row(form, info.title, field)
        form = self.section("Updates")
        self.updates = UpdatesSection(
            self, form, settings.updates, lambda updates: self.change(updates=updates)
        )
        self.column.addStretch(1)

    def _choice(self, form: QFormLayout, name: str, fields: dict[str, FieldInfo]) -> None:
        box = choice_box(
            fields[name],
            getattr(self._settings, name),
            lambda value: self.change(**{name: value}),
        )
        self.row(form, fields[name].title, box)

    def _sampling_row(self, form: QFormLayout, info: FieldInfo) -> None:
        """A number, and a way back to what the model's makers advise."""
        chosen = getattr(self._settings.sampling, info.name)
        reset = ResetButton(info.title, self)
        reset.setEnabled(chosen is not None)

        def choose(value: float) -> None:
            self.change_sampling(info.name, value)
            reset.setEnabled(True)

        box = number_box(info, info.default if chosen is None else chosen, choose)

        def forget() -> None:
            with QSignalBlocker(box):
                box.setProperty("value", info.default)
            self.change_sampling(info.name, None)
            reset.setEnabled(False)

        reset.clicked.connect(forget)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(box, 1)
        row.addWidget(reset)
        field = QWidget(self)
        field.setLayout(row)
        field.setFocusProxy(box)
        self.row(form, info.title, field)

    def change_sampling(self, name: str, value: float | None) -> None:
        self.change(sampling=changed(self._settings.sampling, **{name: value}))

    def _prefix_changed(self, name: str, value: float | bool) -> None:
        chosen = value if isinstance(value, bool) else int(value)
        self.change(prefix=changed(self._settings.prefix, **{name: chosen}))

    def change(self, **changes: object) -> None:
        self._settings = changed(self._settings, **changes)
        self._change(**changes)
