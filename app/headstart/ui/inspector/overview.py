"""What matters of a chat: its preset, its model, its draft with what it gains, its context."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QProgressBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from headstart.core.settings import Preset
from headstart.ui.elided import ElidedLabel


class Overview(QWidget):
    """Emits what the user chooses."""

    preset_chosen = Signal(object)  # Preset
    preset_to_save = Signal()
    library_requested = Signal()
    speculation_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._presets: Sequence[Preset] = ()
        self._current = ""
        self._quiet = False
        title = QLabel("This chat", self)
        title.setObjectName("sectionTitle")
        self.preset = QToolButton(self)
        self.preset.setObjectName("quietMenu")
        self.preset.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.preset.setToolTip("A system prompt with settings, under a name")
        self.menu = QMenu(self.preset)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.preset.setMenu(self.menu)
        self.model = ElidedLabel("", self, name="fieldValue")
        self.model.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.drafts = QCheckBox("Draft ahead", self)
        self.drafts.setAccessibleName("Draft ahead")
        self.drafts.setToolTip("Writes several tokens at once; the text stays the same")
        self.drafts.toggled.connect(self._on_toggled)
        self.gain = ElidedLabel("", self, name="gain")
        self.gain.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._meter = QProgressBar(self)
        self._meter.setTextVisible(False)
        self._meter.setAccessibleName("Context used")
        self._used = QLabel(self)
        self._used.setObjectName("fieldValue")
        self._used.setAlignment(Qt.AlignmentFlag.AlignRight)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        pairs: tuple[tuple[QWidget, QWidget], ...] = (
            (title, self.preset),
            (QLabel("Model", self), self.model),
            (self.drafts, self.gain),
            (QLabel("Context", self), self._used),
        )
        for left, right in pairs:
            row = QHBoxLayout()
            row.setContentsMargins(0, 0, 0, 0)
            row.addWidget(left)
            if right is self.preset:
                row.addStretch(1)
                row.addWidget(right)
            else:
                row.addWidget(right, 1)
            layout.addLayout(row)
        layout.addWidget(self._meter)
        self.set_context(0, 0)
        self.set_preset("")

    def set_model(self, name: str) -> None:
        self.model.set_full_text(name)

    def set_draft(self, on: bool, what: str, gain: str, here: bool) -> None:
        """Whether something is drafted, by what, and how much faster that is; `here`: on this
        computer."""
        self._quiet = True
        self.drafts.setChecked(on)
        self._quiet = False
        self.drafts.setVisible(here)
        self.gain.setVisible(here)
        self.gain.set_full_text((gain or what) if on else "off")
        self.gain.setToolTip(what if on else "")

    def set_context(self, used: int, size: int) -> None:
        """How much of the model's context the chat uses; 0 of 0 when nothing is known."""
        self._meter.setMaximum(max(1, size))
        self._meter.setValue(min(used, size))
        words = f"{used:,} of {size:,} tokens" if size else "known after the first reply"
        self._used.setText(words)
        self._meter.setAccessibleDescription(words)

    def set_presets(self, presets: Sequence[Preset]) -> None:
        self._presets = presets

    def set_preset(self, name: str) -> None:
        """The one that the chat is like, "" for none."""
        self._current = name
        self.preset.setText(f"Preset: {name}" if name else "Preset")
        self.preset.setAccessibleName(self.preset.text())

    def _on_toggled(self, on: bool) -> None:
        if not self._quiet:
            self.speculation_toggled.emit(on)

    def _fill_menu(self) -> None:
        self.menu.clear()
        for preset in self._presets:
            name = preset.name.replace("&", "&&")
            action = self.menu.addAction(name, partial(self.preset_chosen.emit, preset))
            action.setCheckable(True)
            action.setChecked(preset.name == self._current)
        if self._presets:
            self.menu.addSeparator()
        self.menu.addAction("Save as a preset…", self.preset_to_save.emit)
        self.menu.addAction("Presets and prompts…", self.library_requested.emit)
