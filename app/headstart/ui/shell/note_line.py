"""One quiet line above the composer: a note of one sentence, with its actions as links. Main
thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QWidget

from headstart.ui.kit import icons
from headstart.ui.kit.elided import ElidedButton, ElidedLabel
from headstart.ui.kit.focus import in_reading_order
from headstart.ui.kit.tips import plain_tip
from headstart.ui.wording import say

# px at the sides, between the parts, and reserved for the text
_SIDES, _GAP, _LEAST = 8, 10, 90
Action = tuple[str, Callable[[], object]]


class NoteLine(QFrame):
    """Hidden without notes; of two notes the later one is shown, and the other one again when it
    goes. Each note belongs to a `kind`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notes: dict[str, tuple[str, Sequence[Action], Callable[[], object] | None]] = {}
        self._covered = False
        self.text = ElidedLabel("", self, _LEAST, "quietText")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(_SIDES, 0, _SIDES, 0)
        self._row.setSpacing(_GAP)
        self._row.addStretch(1)
        self._row.addWidget(self.text)
        self.links: list[ElidedButton] = []
        self.dismiss = QToolButton(self)
        self.dismiss.setAccessibleName(say("shell.do-not-show-again"))
        self.dismiss.setIcon(icons.icon("x"))
        self.dismiss.setToolTip(say("shell.do-not-show-again"))
        self.dismiss.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.dismiss.clicked.connect(self._on_dismiss)
        self._row.addWidget(self.dismiss)
        self._row.addStretch(1)
        self.hide()

    @property
    def kind(self) -> str:
        """Kind of the shown note; "" for none."""
        return next(reversed(self._notes), "")

    def say(
        self,
        kind: str,
        text: str,
        actions: Sequence[Action] = (),
        dismissed: Callable[[], object] | None = None,
    ) -> None:
        """Show a note; `dismissed` is called when the user closes it, and None forbids closing."""
        if kind not in self._notes:
            self._notes[kind] = ("", (), None)
        self._notes[kind] = (text, actions, dismissed)
        self._show()

    def withdraw(self, kind: str) -> None:
        if self._notes.pop(kind, None) is not None:
            self._show()

    def set_covered(self, on: bool) -> None:
        """Hide the line while a more important notice stands in the same place."""
        self._covered = on
        self._show()

    def _show(self) -> None:
        kind = self.kind
        self.setVisible(bool(kind) and not self._covered)
        if not kind:
            return
        text, actions, dismissed = self._notes[kind]
        self.text.set_full_text(text)
        self.text.setToolTip(plain_tip(text))
        self.dismiss.setVisible(dismissed is not None)
        names = [name for name, _ in actions]
        if names != [link.full_text for link in self.links]:
            self._make_links(names)
        for link, (_name, act) in zip(self.links, actions, strict=True):
            link.clicked.disconnect()
            link.clicked.connect(lambda _checked=False, act=act: act())
        self._fit()

    def _make_links(self, names: Sequence[str]) -> None:
        for link in self.links:
            self._row.removeWidget(link)
            link.hide()
            link.deleteLater()
        self.links = []
        for name in names:
            link = ElidedButton(self)
            link.set_full_text(name)
            link.setAccessibleName(name)
            link.setToolTip(plain_tip(name))
            link.setObjectName("link")
            link.setCursor(Qt.CursorShape.PointingHandCursor)
            link.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            link.clicked.connect(lambda: None)
            self._row.insertWidget(2 + len(self.links), link)
            self.links.append(link)
        in_reading_order(*self.links, self.dismiss)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Fit the links: the first action takes precedence over the others and over the text."""
        room = self.width() - self.dismiss.sizeHint().width() - 2 * _SIDES - _LEAST
        for number, link in enumerate(self.links):
            room -= link.sizeHint().width() + _GAP
            link.setVisible(number == 0 or room >= 0)

    def _on_dismiss(self) -> None:
        kind = self.kind
        if kind:
            _text, _actions, dismissed = self._notes[kind]
            self.withdraw(kind)
            if dismissed is not None:
                dismissed()
