"""Drafts for the shown model: searched for on request, because that takes a while."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from headstart.chat.library.draft_offers import DraftOffer
from headstart.core.hub.catalog import Variant
from headstart.core.models.draft_choice import Works
from headstart.core.text.shown import size_text
from headstart.ui.kit import theme
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.joining import titled
from headstart.ui.wording import say

NONE = "models.no-draft-found"


class DraftRows(QWidget):
    wanted = Signal()
    chosen = Signal(object, object)  # Variant (None: the model is installed), DraftOffer to get

    def __init__(self, parent: QWidget | None = None, get: str = "") -> None:
        super().__init__(parent)
        self._get = get or say("models.get-both")
        title = QLabel(say("models.drafts-work-with"), self)
        title.setObjectName("sectionTitle")
        title.setWordWrap(True)
        self.button = QPushButton(say("models.find-drafts"), self)
        self.button.setToolTip(say("models.compares-vocabularies-of-models-here"))
        self.button.clicked.connect(self._on_wanted)
        self.hint = QLabel(self)
        self.hint.setObjectName("quiet")
        self.hint.setWordWrap(True)
        head = QHBoxLayout()
        head.addWidget(title, 1)
        head.addWidget(self.button)
        self._rows = QWidget(self)
        self._grid = QGridLayout(self._rows)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1)
        self._grid.setHorizontalSpacing(14)
        self.buttons: list[QPushButton] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addLayout(head)
        layout.addWidget(self.hint)
        layout.addWidget(self._rows)
        self.clear()

    def clear(self) -> None:
        self.hint.hide()
        self.button.setEnabled(True)
        self.buttons = []
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def set_offers(self, variant: Variant | None, offers: Sequence[DraftOffer]) -> None:
        self.clear()
        self.hint.setText(say(NONE))
        self.hint.setVisible(not any(offer.works is not Works.NO for offer in offers))
        for row, offer in enumerate(offers):
            self._add(row, variant, offer)

    def _add(self, row: int, variant: Variant | None, offer: DraftOffer) -> None:
        colours = theme.current()
        name = ElidedLabel(offer.name, self, 90)
        name.setToolTip(offer.name)
        # the reason matters more than the file's name, which is cut
        name.setSizePolicy(QSizePolicy.Policy.Ignored, name.sizePolicy().verticalPolicy())
        reason = QLabel(offer.reason, self)
        reason.setWordWrap(True)
        colour = {Works.YES: colours.accent, Works.BY_TEXT: colours.warning}.get(
            offer.works, colours.quiet
        )
        reason.setStyleSheet(f"color: {colour}")
        size = QLabel(size_text(offer.size), self)
        for column, cell in enumerate((name, reason, size)):
            self._grid.addWidget(cell, row, column)
        if offer.installed is not None:
            here = QLabel(say("models.installed-draft"), self)
            here.setObjectName("quiet")
            self._grid.addWidget(here, row, 3)
        elif offer.works is not Works.NO:
            both = QPushButton(self._get, self)
            both.setObjectName("row")
            both.setAccessibleName(titled(self._get, offer.name))
            both.clicked.connect(lambda: self._on_get(both, variant, offer))
            self._grid.addWidget(both, row, 3)
            self.buttons.append(both)

    def _on_get(self, button: QPushButton, variant: Variant | None, offer: DraftOffer) -> None:
        button.setEnabled(False)
        self.chosen.emit(variant, offer)

    def fail(self, problem: str) -> None:
        """Show why the search failed."""
        if not self.button.isEnabled():
            self.button.setEnabled(True)
            self.hint.setText(problem)
            self.hint.show()

    def _on_wanted(self) -> None:
        self.button.setEnabled(False)
        self.hint.setText(say("models.comparing-vocabularies"))
        self.hint.show()
        self.wanted.emit()
