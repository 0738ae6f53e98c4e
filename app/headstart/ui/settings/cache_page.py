"""What is kept of prompts that were computed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from headstart.core.prefix_settings import PrefixSettings
from headstart.core.settings import Settings, changed
from headstart.core.settings_fields import describe
from headstart.ui.settings.form import Page

ABOUT = (
    "What a model has computed of a chat is kept, so that it is not computed again: after a "
    "restart, another branch, or another model a long chat goes on at once."
)


class CachePage(Page):
    """Calls `change` with the settings to replace."""

    sizes_requested = Signal()

    def __init__(
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__("Prompt cache", parent)
        self._prefix = settings.prefix
        self._change = change
        self.column.addWidget(self.word(ABOUT))
        section = self.section()
        for name, info in describe(PrefixSettings).items():
            value = getattr(settings.prefix, name)
            section.field(info, value, partial(self._set, name))
        sizes = QPushButton("Sizes and clearing…", self)
        sizes.clicked.connect(self.sizes_requested)
        line = QHBoxLayout()
        line.addWidget(sizes)
        line.addStretch(1)
        section.wide(line, title="What is kept")
        self.finish()

    def follow(self, settings: Settings) -> None:
        """They were changed elsewhere."""
        self._prefix = settings.prefix

    def _set(self, name: str, value: object) -> None:
        chosen = value if isinstance(value, bool) else int(float(str(value)))
        self._prefix = changed(self._prefix, **{name: chosen})
        self._change(prefix=self._prefix)
