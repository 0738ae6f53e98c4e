"""Number fields that accept numbers as people type them, in any script and with either sign."""

from __future__ import annotations

from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox, QWidget

from headstart.core.settings.fields import FieldInfo
from headstart.core.text.typed_numbers import may_become_number, number_of

_INVALID, _PART, _WHOLE = (
    QValidator.State.Invalid,
    QValidator.State.Intermediate,
    QValidator.State.Acceptable,
)
Answer = tuple[QValidator.State, str, int]


def _is_minus_one(box: QSpinBox | QDoubleSpinBox, text: str) -> bool:
    return number_of(_bare(box, text), box.locale().decimalPoint()) == -1


def _bare(box: QSpinBox | QDoubleSpinBox, text: str) -> str:
    return text.removeprefix(box.prefix()).removesuffix(box.suffix()).strip()


def _read(box: QSpinBox | QDoubleSpinBox, text: str, decimals: int) -> float | None:
    """The number in the text; None if the field does not accept it."""
    bare = _bare(box, text)
    if box.specialValueText() and bare == box.specialValueText():
        return box.minimum()
    number = number_of(bare, box.locale().decimalPoint())
    if number is None or (not decimals and number != int(number)):
        return None
    rounded = round(number, decimals)
    # a small number does not have the special meaning of the minimum
    hidden = bool(box.specialValueText()) and rounded <= box.minimum() < number
    return None if hidden else rounded


def _state(box: QSpinBox | QDoubleSpinBox, text: str, number: float | None) -> QValidator.State:
    if number is None:
        return _PART if may_become_number(_bare(box, text)) else _INVALID
    if number > box.maximum() or (number < 0 <= box.minimum()):
        return _INVALID
    return _PART if number < box.minimum() else _WHOLE


class WholeBox(QSpinBox):
    """Field for whole numbers. Text that is no number leaves the value unchanged."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # the 0 of 0.5 is not a value yet
        self.setKeyboardTracking(False)

    def validate(self, text: str, position: int) -> Answer:
        return (_state(self, text, _read(self, text, 0)), text, position)

    def valueFromText(self, text: str) -> int:
        number = _read(self, text, 0)
        return self.value() if number is None else int(number)

    def fixup(self, text: str) -> str:
        return self.textFromValue(self.value())


class DecimalBox(QDoubleSpinBox):
    """Field for decimal numbers. Text that is no number leaves the value unchanged."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setKeyboardTracking(False)

    def validate(self, text: str, position: int) -> Answer:
        return (_state(self, text, _read(self, text, self.decimals())), text, position)

    def valueFromText(self, text: str) -> float:
        number = _read(self, text, self.decimals())
        return self.value() if number is None else number

    def fixup(self, text: str) -> str:
        return self.textFromValue(self.value())


class WholeNumberBox(WholeBox):
    """Field for whole numbers from `least` on; the minimum below it has a special meaning."""

    def __init__(self, info: FieldInfo) -> None:
        super().__init__()
        # asked for already while the range is set
        self._minus_one = info.minus_one
        high = info.maximum if info.maximum is not None else 1e9
        self.setRange(int(info.minimum or 0), int(min(high, 2**31 - 1)))
        self._least = self.minimum() if info.least is None else info.least

    def valueFromText(self, text: str) -> int:
        special = self._minus_one and _is_minus_one(self, text)
        return self.minimum() if special else super().valueFromText(text)

    def validate(self, text: str, position: int) -> Answer:
        if self._minus_one and _is_minus_one(self, text):
            return (_WHOLE, text, position)
        state = super().validate(text, position)[0]
        if state == _WHOLE and self.minimum() < self.valueFromText(text) < self._least:
            # may still become a larger number while being typed
            state = _PART
        return (state, text, position)

    def fixup(self, text: str) -> str:
        between = self.minimum() < self.valueFromText(text) < self._least
        return self.textFromValue(self._least) if between else super().fixup(text)

    def stepBy(self, steps: int) -> None:
        before = self.value()
        super().stepBy(steps)
        if self.minimum() < self.value() < self._least:
            self.setValue(self._least if self.value() > before else self.minimum())
