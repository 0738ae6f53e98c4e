"""The temperature, presented as creativity. Main thread."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from headstart.core.settings.fields import FieldInfo
from headstart.ui.kit.fields import SliderField
from headstart.ui.wording import say


class CreativityField(SliderField):
    """A slider between two words, with the temperature beside its title."""

    def __init__(self, info: FieldInfo, parent: QWidget | None = None) -> None:
        super().__init__(info, parent)
        self._title.rename(say("inspector.creativity"))
        self.slider.setAccessibleName(say("inspector.creativity"))

    def _lay_out(self) -> None:
        self._title.setMinimumWidth(0)
        self._value.setObjectName("quiet")
        self._value.setWordWrap(True)
        exact, inventive = (
            QLabel(say("inspector.exact"), self),
            QLabel(say("inspector.inventive"), self),
        )
        for word in (exact, inventive):
            word.setObjectName("quiet")
            word.setWordWrap(True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self._title, 0, 0)
        grid.addWidget(self._value, 0, 1)
        grid.addWidget(self._reset, 0, 2)
        grid.addWidget(self.slider, 1, 0, 1, 3)
        grid.addWidget(exact, 2, 0)
        grid.addWidget(inventive, 2, 1, 1, 2, self._value.alignment())

    def _words(self, value: float) -> str:
        return say("inspector.temperature-words", words=super()._words(value))
