"""Settings of the prompt cache, with its sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from headstart.core.settings.fields import describe
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.schema import Settings, changed
from headstart.ui.settings.form import Page
from headstart.ui.wording import say

ABOUT = "settings.about-cache"


class CachePage(Page):
    """Calls `change` with the settings to replace."""

    sizes_requested = Signal()

    def __init__(
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__(say("settings.prompt-cache"), settings, parent)
        self._change = change
        self.column.addWidget(self.word(say(ABOUT)))
        section = self.section()
        for name, info in describe(PrefixSettings).items():
            section.field(info, partial(_value_of, name), partial(self._set, name))
        sizes = QPushButton(say("settings.sizes-and-clearing"), self)
        sizes.clicked.connect(self.sizes_requested)
        line = QHBoxLayout()
        line.addWidget(sizes)
        line.addStretch(1)
        section.wide(line, title=say("settings.kept-on-disk"))
        self.finish()

    def _set(self, name: str, value: object) -> None:
        chosen = value if isinstance(value, bool) else int(float(str(value)))
        self._change(prefix=changed(self.settings.prefix, **{name: chosen}))


def _value_of(name: str, settings: Settings) -> object:
    return getattr(settings.prefix, name)
