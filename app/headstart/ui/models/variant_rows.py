"""The variants of a repository as rows: quantization, size, memory, quality, download."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QWidget

from headstart.core.hub.catalog import Fit, Variant
from headstart.core.hub.downloads import LARGEST_HTTP
from headstart.core.hub.presence import Presence
from headstart.core.text.shown import size_text
from headstart.core.told import told
from headstart.ui.kit import theme
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.joining import titled
from headstart.ui.models.words import fit_hint, memory_words, quality_words
from headstart.ui.wording import say

_GET = "models.get"
_STATES = {
    Presence.HERE: "models.here",
    Presence.COMING: "models.downloading",
    Presence.STOPPED: "models.stopped",
}
_TITLES = ("models.file", "models.size", "models.memory-here", "models.quality")


class VariantRows(QWidget):
    chosen = Signal(Variant)  # get it

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(5)
        self._grid.setColumnStretch(0, 1)
        self._variants: tuple[Variant, ...] = ()
        self._fits: Mapping[str, Fit] = {}
        self._best: Variant | None = None
        self._presence: Mapping[str, Presence] = {}
        self._memory: list[QLabel] = []
        self._names: list[QLabel] = []
        # cells that a narrow page hides
        self._qualities: list[QLabel] = []
        self._narrow = False
        self.buttons: list[QPushButton] = []
        theme.follow(self._show)

    @property
    def current(self) -> Variant | None:
        """The default variant: the recommended one, or the first."""
        return self._best or (self._variants[0] if self._variants else None)

    def set_variants(self, variants: Sequence[Variant], meant: Variant | None) -> None:
        self._variants, self._fits, self._best = tuple(variants), {}, meant
        self._presence = {}
        self._clear()
        for column, title in enumerate(_TITLES):
            label = QLabel(say(title), self)
            label.setObjectName("quiet")
            self._grid.addWidget(label, 0, column)
            if title == _TITLES[-1]:
                self._qualities.append(label)
        for number, variant in enumerate(variants):
            self._add(2 * number + 1, variant)
        self._show()

    def set_fits(self, fits: Mapping[str, Fit], best: Variant | None) -> None:
        self._fits = fits
        self._best = self._best or best
        self._show()

    def set_asked(self) -> None:
        """Show a dash where the memory need stayed unknown."""
        for variant, memory in zip(self._variants, self._memory, strict=True):
            if variant.title not in self._fits:
                memory.setText("—")

    def set_presence(self, presence: Mapping[str, Presence]) -> None:
        """Set the presence on this computer, by the variants' titles."""
        if presence != self._presence:
            self._presence = presence
            self._show()

    def set_narrow(self, narrow: bool) -> None:
        if narrow != self._narrow:
            self._narrow = narrow
            self._show()

    def _add(self, row: int, variant: Variant) -> None:
        line = QFrame(self)
        line.setObjectName("line")
        line.setFixedHeight(1)
        self._grid.addWidget(line, row, 0, 1, len(_TITLES) + 1)
        parts = len(variant.files) if variant.format == "gguf" else 1
        name = ElidedLabel(
            say("models.title-and-parts", title=variant.title, parts=parts)
            if parts > 1
            else variant.title,
            self,
            90,
        )
        name.setToolTip(variant.main or variant.title)
        quality = QLabel(quality_words(variant.quality), self)
        if variant.quality:
            quality.setAccessibleName(say("models.quality-quality-of-4", quality=variant.quality))
        memory = QLabel("…", self)
        button = QPushButton(say(_GET), self)
        button.setObjectName("row")
        button.clicked.connect(lambda _=False, one=variant: self.chosen.emit(one))
        cells = (name, QLabel(size_text(variant.size), self), memory, quality, button)
        for column, cell in enumerate(cells):
            self._grid.addWidget(cell, row + 1, column)
        self._names.append(name)
        self._memory.append(memory)
        self._qualities.append(quality)
        self.buttons.append(button)

    def _show(self) -> None:
        for label in self._qualities:
            label.setVisible(not self._narrow)
        rows = zip(self._variants, self._names, self._memory, self.buttons, strict=True)
        for variant, name, memory, button in rows:
            fit = self._fits.get(variant.title)
            if fit is not None:
                text, colour = memory_words(fit, short=self._narrow)
                memory.setText(text)
                memory.setStyleSheet(f"color: {colour}")
                memory.setToolTip(fit_hint(fit))
            best = variant is self._best
            name.setStyleSheet(f"color: {theme.current().accent}; font-weight: 600" if best else "")
            state = self._presence.get(variant.title)
            button.setText(say(_GET if state is None else _STATES[state]))
            button.setAccessibleName(
                titled(button.text(), variant.title) if state else f"{say(_GET)} {variant.title}"
            )
            over = variant.too_large_for_http
            button.setEnabled(state is None and not over)
            button.setToolTip(told("file-over-http", **_facts(variant)).text if over else "")
            button.setObjectName("primary" if best and state is None else "row")
            button.style().unpolish(button)
            button.style().polish(button)

    def _clear(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._names, self._memory, self.buttons, self._qualities = [], [], [], []


def _facts(variant: Variant) -> dict[str, str | int]:
    largest = max(variant.files, key=lambda file: file.size)
    return {"name": largest.path, "limit": LARGEST_HTTP}
