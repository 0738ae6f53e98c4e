"""Looks, what new chats begin with, and what is kept of what models have read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QFormLayout, QPlainTextEdit, QWidget

from headstart.core.settings import PrefixSettings, Sampling, Settings, changed
from headstart.core.settings_fields import FieldInfo, describe
from headstart.ui.fields import check_box, choice_box, number_box
from headstart.ui.settings.form import Page


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
        prompt = QPlainTextEdit(self)
        prompt.setPlainText(settings.system_prompt)
        prompt.setAccessibleName("System prompt of chats without one of their own")
        prompt.setTabChangesFocus(True)
        prompt.setFixedHeight(72)
        prompt.textChanged.connect(lambda: self.change(system_prompt=prompt.toPlainText()))
        self.row(form, "System prompt", prompt)
        sampling = describe(Sampling)
        for name in ("temperature", "top_p", "max_tokens"):
            box = number_box(
                sampling[name],
                getattr(settings.sampling, name),
                partial(self.change_sampling, name),
            )
            self.row(form, sampling[name].title, box)
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
        self.column.addStretch(1)

    def _choice(self, form: QFormLayout, name: str, fields: dict[str, FieldInfo]) -> None:
        box = choice_box(
            fields[name],
            getattr(self._settings, name),
            lambda value: self.change(**{name: value}),
        )
        self.row(form, fields[name].title, box)

    def change_sampling(self, name: str, value: float) -> None:
        self.change(sampling=changed(self._settings.sampling, **{name: value}))

    def _prefix_changed(self, name: str, value: float | bool) -> None:
        chosen = value if isinstance(value, bool) else int(value)
        self.change(prefix=changed(self._settings.prefix, **{name: chosen}))

    def change(self, **changes: object) -> None:
        self._settings = changed(self._settings, **changes)
        self._change(**changes)
