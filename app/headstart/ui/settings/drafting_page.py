"""Drafting in all chats that say nothing else."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from headstart.core.models.heads import AUTOMATIC
from headstart.core.settings.fields import FieldInfo, describe
from headstart.core.settings.schema import Settings, Speculation, changed
from headstart.ui.settings.form import Page

ABOUT = (
    "A small model, layers that a model has for it, or repeats in the text propose what comes "
    "next; the model checks all of it at once. Replies are the same, and sooner there: where it "
    "would not be faster, nothing is drafted."
)


class DraftingPage(Page):
    """Calls `change` with the settings to replace."""

    def __init__(
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__("Drafting", settings, parent)
        self._change = change
        self.column.addWidget(self.word(ABOUT))
        fields = describe(Speculation)
        section = self.section("In all chats")
        section.field(
            _switch("enabled", "Drafting"), lambda settings: settings.speculation.enabled,
            lambda on: self._set(enabled=on),
            "Several tokens at once, where that is faster",
        )  # fmt: skip
        section.field(
            _switch("draft", "Choose the draft automatically"),
            lambda settings: settings.speculation.draft == AUTOMATIC,
            lambda on: self._set(draft=AUTOMATIC if on else ""),
            "For each model the installed draft that gained most; off: no draft model",
        )  # fmt: skip
        section.field(
            _switch("prompt_lookup", "Reuse repeated text"),
            lambda settings: settings.speculation.prompt_lookup,
            lambda on: self._set(prompt_lookup=on),
            "Drafts copies of earlier text, without a model",
        )  # fmt: skip
        section.field(
            fields["earlier_chats"],
            lambda settings: settings.speculation.earlier_chats,
            lambda on: self._set(earlier_chats=on),
        )
        self.finish()

    def _set(self, **changes: object) -> None:
        self._change(speculation=changed(self.settings.speculation, **changes))


def _switch(name: str, title: str) -> FieldInfo:
    return FieldInfo(name, title, "", True, None, None, (), False)
