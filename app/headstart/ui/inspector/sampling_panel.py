"""Sampling of the open chat: each value is the chat's own, or follows what it belongs to."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from headstart.core.inheritance import Effective
from headstart.core.settings import Sampling
from headstart.core.settings_fields import describe
from headstart.ui.fields import ResetButton, SliderField, take_typed

SLIDERS = ("temperature", "top_p", "min_p", "repeat_penalty", "presence_penalty")
_LAST_SEED = 2**32 - 2


class SamplingPanel(QWidget):
    """Emits `edited` with a field's name and its new value; None follows again."""

    edited = Signal(str, object)

    def __init__(self, title_width: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title_width = title_width
        self._quiet = False
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        fields = describe(Sampling)
        self.sliders: dict[str, SliderField] = {}
        for name in SLIDERS:
            slider = SliderField(fields[name], self)
            slider.changed.connect(partial(self._edit, name))
            slider.reset.connect(partial(self._edit, name, None))
            self._layout.addWidget(slider)
            self.sliders[name] = slider
        self.top_k = QSpinBox(self)
        self.top_k.setRange(0, 1000)
        self.top_k.setSpecialValueText("off")
        self.top_k.setAccessibleName("Top-k")
        self.top_k.setToolTip(fields["top_k"].description)
        self.top_k.valueChanged.connect(partial(self._edit, "top_k"))
        self._reset_top_k = ResetButton("Top-k", self)
        self._reset_top_k.clicked.connect(partial(self._edit, "top_k", None))
        self._row("Top-k", self.top_k, self._reset_top_k)
        self.max_tokens = QSpinBox(self)
        self.max_tokens.setRange(0, 1_000_000)
        self.max_tokens.setSpecialValueText("no limit")
        self.max_tokens.setSingleStep(64)
        self.max_tokens.setAccessibleName("Max tokens of a reply")
        self.max_tokens.valueChanged.connect(partial(self._edit, "max_tokens"))
        self._row("Max tokens", self.max_tokens)
        self.fixed_seed = QCheckBox("Fixed seed", self)
        self.fixed_seed.setToolTip("the same seed and text give the same reply")
        self._seed = QLineEdit(self)
        self._seed.setAccessibleName("Seed")
        self._seed.setFixedWidth(110)
        self.fixed_seed.toggled.connect(lambda fixed: self._edit("seed", 42 if fixed else None))
        self._seed.editingFinished.connect(self._seed_edited)
        row = QHBoxLayout()
        row.addWidget(self.fixed_seed, 1)
        row.addWidget(self._seed)
        self._layout.addLayout(row)
        self.stop = QLineEdit(self)
        self.stop.setAccessibleName("Stop strings, separated by |")
        self.stop.setPlaceholderText("none")
        self.stop.setToolTip("the reply ends before any of these; separate them with |")
        self.stop.editingFinished.connect(self._stop_edited)
        self._row("Stop at", self.stop)
        self._shown = Sampling()

    @property
    def controls(self) -> dict[str, QWidget]:
        """By the names of their settings."""
        return {
            **self.sliders,
            "top_k": self.top_k,
            "max_tokens": self.max_tokens,
            "seed": self.fixed_seed,
            "stop": self.stop,
        }

    def show_values(self, holding: Effective) -> None:
        """What holds for the chat, and which of it nobody chose."""
        sampling, chosen = holding.sampling, holding.chosen
        self._quiet, self._shown = True, sampling
        try:
            for name, slider in self.sliders.items():
                slider.set_value(getattr(sampling, name))
                slider.set_automatic(getattr(chosen, name) is None)
            self.top_k.setValue(sampling.top_k)
            self._reset_top_k.setEnabled(chosen.top_k is not None)
            self.max_tokens.setValue(sampling.max_tokens)
            self.fixed_seed.setChecked(sampling.seed is not None)
            self._seed.setEnabled(sampling.seed is not None)
            self._seed.setText("" if sampling.seed is None else str(sampling.seed))
            self.stop.setText("|".join(sampling.stop))
        finally:
            self._quiet = False

    def flush(self) -> None:
        """Take what was typed so far."""
        for field, take in ((self.stop, self._stop_edited), (self._seed, self._seed_edited)):
            if field.isModified():
                field.setModified(False)
                take()
        take_typed(self.top_k, self.max_tokens)

    def _row(self, title: str, widget: QWidget, button: QWidget | None = None) -> None:
        row = QHBoxLayout()
        label = QLabel(title, self)
        label.setMinimumWidth(self._title_width)
        row.addWidget(label)
        row.addWidget(widget, 1)
        if button is not None:
            row.addWidget(button)
        self._layout.addLayout(row)

    def _edit(self, name: str, value: object = None, *_: object) -> None:
        if not self._quiet:
            self.edited.emit(name, value)

    def _seed_edited(self) -> None:
        text = self._seed.text().strip()
        if self._quiet or not self.fixed_seed.isChecked():
            return
        if text.isdigit() and int(text) <= _LAST_SEED and int(text) != self._shown.seed:
            self._edit("seed", int(text))
        elif self._shown.seed is not None:
            self._seed.setText(str(self._shown.seed))

    def _stop_edited(self) -> None:
        stop = tuple(text[:200] for text in self.stop.text().split("|") if text)
        if stop != self._shown.stop:
            self._edit("stop", stop or None)
