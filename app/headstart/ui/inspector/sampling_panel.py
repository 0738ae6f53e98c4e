"""Sampling of the open chat: each value is the chat's own, or inherited."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QLocale, QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from headstart.core.settings.fields import FieldInfo, describe
from headstart.core.settings.inheritance import Effective
from headstart.core.settings.schema import MOST_BIASES, Bias, Sampling, SamplingChoice
from headstart.core.text.stop_lines import stop_text, stops_of
from headstart.core.text.typed_numbers import number_of
from headstart.ui.inspector.creativity import CreativityField
from headstart.ui.inspector.fold import Fold
from headstart.ui.inspector.own import OwnRow
from headstart.ui.kit.fields import SliderField, number_box, take_typed
from headstart.ui.kit.flow import FlowLayout
from headstart.ui.kit.measures import keep_height
from headstart.ui.kit.number_boxes import WholeNumberBox
from headstart.ui.kit.wrapped_check import WrappedCheckBox
from headstart.ui.kit.wrapping import TextEdit
from headstart.ui.wording import say

SLIDERS = ("temperature", "top_p", "min_p", "repeat_penalty", "presence_penalty")
_MORE = (
    "max_tokens", "top_p", "top_k", "min_p", "repeat_penalty", "presence_penalty", "seed", "stop",
    "bias",
)  # fmt: skip
# pixels of a field beside its title
_LEAST_FIELD = 90
_SUMMARY = "inspector.length-seed-words"
_LAST_SEED = 2**32 - 2
# bias of a word without a number: never sampled
_NEVER = -100.0


class SamplingPanel(QWidget):
    """Emits `edited` with a field's name and its new value; None inherits it again."""

    edited = Signal(str, object)

    def __init__(self, title_width: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title_width = title_width
        self._shown = Sampling()
        self.rows: dict[str, OwnRow | SliderField] = {}
        fields = describe(Sampling)
        self.sliders: dict[str, SliderField] = {}
        for name in SLIDERS:
            kind = CreativityField if name == "temperature" else SliderField
            slider = self.sliders[name] = self.rows[name] = kind(fields[name], self)
            slider.changed.connect(partial(self._edit, name))
            slider.reset.connect(partial(self._edit, name, None))
        self.top_k, self.max_tokens = (
            self._whole(fields["top_k"]),
            self._whole(fields["max_tokens"]),
        )
        self.max_tokens.setSingleStep(64)
        self._build_seed()
        self.stop = TextEdit(self)
        self.stop.setAccessibleName(say("inspector.stop-strings-one-on-each"))
        self.stop.setPlaceholderText(say("inspector.none"))
        self.stop.setToolTip(say("inspector.stop-strings-help"))
        self.stop.setTabChangesFocus(True)
        keep_height(self.stop, 40)
        self.stop.textChanged.connect(self._on_stop)
        self._row("stop", say("inspector.stop-at"), self.stop)
        self.bias = TextEdit(self)
        self.bias.setAccessibleName(say("inspector.favoured-and-forbidden-words"))
        self.bias.setPlaceholderText(say("inspector.delve-never-tea-2"))
        self.bias.setToolTip(say("inspector.one-word-or-phrase-per"))
        self.bias.setTabChangesFocus(True)
        keep_height(self.bias, 58)
        self.bias.textChanged.connect(self._on_bias)
        self._row("bias", say("inspector.words"), self.bias)
        self.more = Fold(say("inspector.length-and-sampling"), parent)
        more = QWidget(self.more)
        self._put(more, _MORE)
        self.more.put(more)
        self.more.set_summary(say(_SUMMARY))
        self._put(self, ("temperature",))

    def _whole(self, info: FieldInfo) -> WholeNumberBox:
        box = number_box(info, info.default, partial(self._edit, info.name))
        assert isinstance(box, WholeNumberBox)
        # the words of its special value may be long
        box.setMinimumWidth(_LEAST_FIELD)
        self._row(info.name, info.title, box)
        return box

    def _build_seed(self) -> None:
        box = QWidget(self)
        self.fixed_seed = WrappedCheckBox(say("inspector.seed-fixed"), self)
        self.fixed_seed.setAccessibleName(say("inspector.fixed-seed"))
        self.fixed_seed.setToolTip(say("inspector.seed-help"))
        self._seed = QLineEdit(self)
        self._seed.setAccessibleName(say("inspector.seed"))
        self._seed.setMinimumWidth(_LEAST_FIELD // 2)
        self.fixed_seed.toggled.connect(lambda fixed: self._edit("seed", 42 if fixed else None))
        self._seed.editingFinished.connect(self._seed_edited)
        row = FlowLayout(box)
        row.addWidget(self.fixed_seed)
        row.addWidget(self._seed)
        self._row("seed", say("inspector.seed"), box)

    def _put(self, parent: QWidget, names: tuple[str, ...]) -> None:
        layout = QVBoxLayout(parent)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for name in names:
            layout.addWidget(self.rows[name])

    @property
    def controls(self) -> dict[str, QWidget]:
        """Controls by the names of their settings."""
        return {
            **self.sliders,
            "top_k": self.top_k,
            "max_tokens": self.max_tokens,
            "seed": self.fixed_seed,
            "stop": self.stop,
            "bias": self.bias,
        }

    def show_values(self, holding: Effective, own: SamplingChoice) -> None:
        """Show the values in force, and the chat's own ones."""
        sampling = holding.sampling
        self._shown = sampling
        with QSignalBlocker(self):
            for name, slider in self.sliders.items():
                slider.set_value(getattr(sampling, name))
            self.top_k.setValue(sampling.top_k)
            self.max_tokens.setValue(sampling.max_tokens)
            self.fixed_seed.setChecked(sampling.seed is not None)
            self._seed.setEnabled(sampling.seed is not None)
            self._seed.setText("" if sampling.seed is None else str(sampling.seed))
            if stops_of(self.stop.toPlainText()) != sampling.stop:
                self.stop.setPlainText(stop_text(sampling.stop))
            if biases_of(self.bias.toPlainText()) != sampling.bias:
                self.bias.setPlainText(bias_text(sampling.bias))
            for name, row in self.rows.items():
                row.set_own(getattr(own, name) is not None)
            self.more.set_own(any(getattr(own, name) is not None for name in _MORE))

    def flush(self) -> None:
        """Take over typed text."""
        if self._seed.isModified():
            self._seed.setModified(False)
            self._seed_edited()
        take_typed(self.top_k, self.max_tokens)

    def _row(self, name: str, title: str, control: QWidget) -> None:
        row = self.rows[name] = OwnRow(title, control, self, self._title_width)
        row.reset.connect(partial(self._edit, name, None))

    def _edit(self, name: str, value: object = None, *_: object) -> None:
        self.edited.emit(name, value)

    def _seed_edited(self) -> None:
        text = self._seed.text()
        if self.signalsBlocked() or not self.fixed_seed.isChecked():
            return
        seed = number_of(text, QLocale().decimalPoint())
        if seed == -1:
            # another one for each reply, as in other programs
            self._edit("seed", None)
            return
        if seed is not None and seed == int(seed) and 0 <= seed <= _LAST_SEED:
            if int(seed) != self._shown.seed:
                self._edit("seed", int(seed))
        elif self._shown.seed is not None:
            self._seed.setText(str(self._shown.seed))

    def _on_stop(self) -> None:
        stop = stops_of(self.stop.toPlainText())
        if stop != self._shown.stop:
            self._edit("stop", stop or None)

    def _on_bias(self) -> None:
        found = biases_of(self.bias.toPlainText())
        if found != self._shown.bias:
            self._edit("bias", found or None)


def biases_of(text: str) -> tuple[Bias, ...]:
    """Biases in lines like “tea = 2” and “delve = never”; a line without a number forbids."""
    found = []
    for line in text.split("\n"):
        words, sign, number = line.rpartition("=")
        value = _value(number) if sign else None
        words = (words if value is not None else line).strip()
        if words:
            found.append(Bias(words[:100], _NEVER if value is None else value))
    return tuple(found[:MOST_BIASES])


def bias_text(biases: tuple[Bias, ...]) -> str:
    """Biases as lines of text, for `biases_of`."""
    return "\n".join(
        f"{one.text} = {'never' if one.value == _NEVER else f'{round(one.value, 4):g}'}"
        for one in biases
    )


def _value(text: str) -> float | None:
    if text.strip().casefold() == "never":
        return _NEVER
    value = number_of(text, QLocale().decimalPoint())
    return None if value is None else max(_NEVER, min(-_NEVER, value))
