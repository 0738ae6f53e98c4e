"""A check box whose words go on in a second line where there is no room. Main thread."""

from __future__ import annotations

import itertools
from math import ceil

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from headstart.core.text.units import from_units


class WrappedCheckBox(QCheckBox):
    """`full_text` is the text in one line; Qt's own box makes everything around it as wide."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.full_text = text
        self.setAccessibleName(text)
        # Qt's own policy does not shrink
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.full_text)
        return QSize(self._beside() + words + 1, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        # what cannot be broken: a word, a sign of Japanese
        longest = ceil(self._laid_out(1, QTextOption.WrapMode.WordWrap).minimumWidth())
        return QSize(self._beside() + longest + 1, super().sizeHint().height())

    def heightForWidth(self, width: int) -> int:
        now = self.text().count("\n")
        more = len(self._lines(width)) - 1 - now
        return super().sizeHint().height() + more * self.fontMetrics().lineSpacing()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        words = "\n".join(self._lines(event.size().width()))
        if words != self.text():
            self.setText(words)

    def _beside(self) -> int:
        """The width of the box itself, with its gap."""
        metrics = self.fontMetrics()
        shown = max(metrics.horizontalAdvance(line) for line in self.text().split("\n"))
        return super().sizeHint().width() - shown

    def _lines(self, width: int) -> list[str]:
        mode = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
        layout = self._laid_out(max(1, width - self._beside()), mode)
        lines = [layout.lineAt(number) for number in range(layout.lineCount())]
        ends = [from_units(self.full_text, one.textStart() + one.textLength()) for one in lines]
        spans = itertools.pairwise([0, *ends])
        return [self.full_text[begin:end].rstrip() for begin, end in spans] or [""]

    def _laid_out(self, width: int, mode: QTextOption.WrapMode) -> QTextLayout:
        layout, option = QTextLayout(self.full_text, self.font()), QTextOption()
        option.setWrapMode(mode)
        layout.setTextOption(option)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
        layout.endLayout()
        return layout
