"""Drafting in all chats without their own setting."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from headstart.core.models.heads import AUTOMATIC
from headstart.core.settings.fields import describe
from headstart.core.settings.schema import Settings, Speculation, changed
from headstart.ui.settings.form import Page
from headstart.ui.wording import say

ABOUT = "settings.about-drafting"


class DraftingPage(Page):
    """Calls `change` with the settings to replace."""

    def __init__(
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__(say("settings.drafting"), settings, parent)
        self._change = change
        self.column.addWidget(self.word(say(ABOUT)))
        fields = describe(Speculation)
        section = self.section(say("settings.in-all-chats"))
        section.field(
            fields["enabled"],
            lambda settings: settings.speculation.enabled,
            lambda on: self._set(enabled=on),
        )
        section.field(
            fields["draft"],
            lambda settings: settings.speculation.draft == AUTOMATIC,
            lambda on: self._set(draft=AUTOMATIC if on else ""),
        )
        section.field(
            fields["prompt_lookup"],
            lambda settings: settings.speculation.prompt_lookup,
            lambda on: self._set(prompt_lookup=on),
        )
        section.field(
            fields["earlier_chats"],
            lambda settings: settings.speculation.earlier_chats,
            lambda on: self._set(earlier_chats=on),
        )
        self.finish()

    def _set(self, **changes: object) -> None:
        self._change(speculation=changed(self.settings.speculation, **changes))
