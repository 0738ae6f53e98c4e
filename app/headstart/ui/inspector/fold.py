"""A section of the inspector that folds to one line, which sums up its content."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from headstart.ui.inspector.own import back_button
from headstart.ui.kit import icons
from headstart.ui.kit.accessible import be_fold
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.mirrored import forward_icon
from headstart.ui.kit.tips import plain_tip
from headstart.ui.wording import say

# width in pixels below which a title is not read
_LEAST = 80


class Fold(QWidget):
    """Emits `toggled` when the user opens or closes it."""

    toggled = Signal(bool)
    reset = Signal()

    def __init__(self, title: str, parent: QWidget | None = None, resets: bool = False) -> None:
        """`resets`: True to offer a button that resets all of its settings together."""
        super().__init__(parent)
        self._content: QWidget | None = None
        self.button = QToolButton(self)
        self.button.setObjectName("fold")
        self.button.setText(title)
        self.button.setAccessibleName(title)
        self.button.setCheckable(True)
        be_fold(self.button)
        # large text in a narrow panel: the button cuts its words
        self.button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.button.setMinimumWidth(_LEAST)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.toggled.connect(self._show)
        self.button.clicked.connect(lambda: self.toggled.emit(self.button.isChecked()))
        self.summary = ElidedLabel(parent=self, name="quiet")
        self.summary.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.summary.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._dot = QLabel("●", self)
        self._dot.setObjectName("dot")
        self._dot.setToolTip(say("inspector.chat-decides-for-itself"))
        self._back = back_button(title, self)
        self._back.clicked.connect(self.reset)
        self._resets = resets
        self.set_own(False)
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        line.addWidget(self._dot)
        line.addWidget(self.summary, 100)
        line.addStretch(1)
        line.addWidget(self._back)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self._layout.addLayout(line)
        self._show(False)

    def put(self, content: QWidget) -> None:
        """Set the content, already a child of this fold: a change of parents makes Qt apply the
        style sheet again."""
        self._content = content
        self._layout.addWidget(content)
        content.setVisible(self.open)

    @property
    def open(self) -> bool:
        return self.button.isChecked()

    def set_open(self, on: bool) -> None:
        self.button.setChecked(on)

    def set_summary(self, text: str) -> None:
        """Set a short summary of the content, shown while folded."""
        self.summary.set_full_text(text)
        self.summary.setToolTip(plain_tip(text))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        cut = self.button.sizeHint().width() > self.button.width()
        self.button.setToolTip(plain_tip(self.button.text()) if cut else "")

    def set_own(self, own: bool) -> None:
        """Mark the section if the chat overrides a setting in it."""
        self._dot.setVisible(own)
        self._back.setVisible(own and self._resets)
        self._back.setEnabled(own)

    def _show(self, on: bool) -> None:
        self.button.setIcon(icons.icon("chevron-down" if on else forward_icon()))
        if self._content is not None:
            self._content.setVisible(on)
        self.summary.setVisible(not on)
