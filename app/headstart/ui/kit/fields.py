"""Controls for settings, made from their own descriptions: bounds, titles, choices."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QSpinBox,
    QToolButton,
    QWidget,
)

from headstart.core.settings.fields import FieldInfo
from headstart.core.text.locale import locale
from headstart.ui.kit import theme
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.icons import icon
from headstart.ui.kit.joining import unit_suffix
from headstart.ui.kit.number_boxes import DecimalBox, WholeNumberBox
from headstart.ui.kit.own_title import OwnTitle
from headstart.ui.kit.wrapped_check import WrappedCheckBox
from headstart.ui.wording import say

SLIDER_STEPS = 100


class ResetButton(QToolButton):
    """Resets a value to the inherited one; it keeps its space while there is nothing to reset."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("reset")
        self.setIcon(icon("rotate-ccw"))
        self.setAutoRaise(True)
        theme.follow(self._measure)
        self.setAccessibleName(say("kit.title-automatic", title=title))
        self.setToolTip(say("kit.back-to-automatic"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def _measure(self) -> None:
        self.setFixedSize(theme.icon_px(22), theme.icon_px(22))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange:
            self.setIcon(icon("rotate-ccw") if self.isEnabled() else QIcon())


class SliderField(QWidget):
    """Title, slider and value for a number with small bounds."""

    changed = Signal(float)
    reset = Signal()

    def __init__(self, info: FieldInfo, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        assert info.minimum is not None
        assert info.maximum is not None
        self._low, self._high = info.minimum, info.maximum
        self._title = OwnTitle(info.title, self)
        self._title.setMinimumWidth(120)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setRange(0, SLIDER_STEPS)
        self.slider.setMinimumHeight(22)
        self.slider.setAccessibleName(info.title)
        self._value = QLabel(self)
        self._value.setMinimumWidth(36)
        self._value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._reset = ResetButton(info.title, self)
        self._reset.clicked.connect(self.reset)
        self._title.setBuddy(self.slider)
        self._lay_out()
        self.setToolTip(info.description)
        self.slider.valueChanged.connect(self._on_slider)

    def _lay_out(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for widget in (self._title, self.slider, self._value, self._reset):
            layout.addWidget(widget, 1 if widget is self.slider else 0)

    def set_value(self, value: float) -> None:
        with QSignalBlocker(self):
            share = (value - self._low) / (self._high - self._low)
            self.slider.setValue(round(share * SLIDER_STEPS))
            self._value.setText(self._words(value))

    def set_own(self, own: bool) -> None:
        """Show a dot when the value is not the inherited one."""
        self._title.set_own(own)
        self._reset.setEnabled(own)

    def _on_slider(self, step: int) -> None:
        value = round(self._low + (self._high - self._low) * step / SLIDER_STEPS, 4)
        self._value.setText(self._words(value))
        self.changed.emit(value)

    def _words(self, value: float) -> str:
        decimals = f"{value:.2f}".partition(".")[2].rstrip("0")
        return locale().number(value, len(decimals))


def take_typed(*boxes: QAbstractSpinBox) -> None:
    """Take over typed text, before the boxes are filled again."""
    for box in boxes:
        box.interpretText()


def with_unit(box: QSpinBox, unit: Callable[[int], str]) -> None:
    """Append the unit that goes with the number."""

    def show(value: int) -> None:
        name = unit(value)
        box.setSuffix(unit_suffix(name))

    box.valueChanged.connect(show)
    show(box.value())


def number_box(info: FieldInfo, value: float, on_change: Callable[[float], None]) -> QWidget:
    """A spin box with the field's bounds and unit; the minimum shows its special meaning."""
    low, high = info.minimum or 0, info.maximum if info.maximum is not None else 1e9
    if info.integer:
        whole = WholeNumberBox(info)
        # the port is a name
        whole.setGroupSeparatorShown(info.name != "port")
        whole.setSpecialValueText(info.special)
        whole.setValue(int(value))
        with_unit(whole, info.unit)
        whole.setAccessibleName(info.title)
        whole.setToolTip(info.description)
        whole.valueChanged.connect(on_change)
        return whole
    box = DecimalBox()
    box.setRange(low, high)
    box.setSpecialValueText(info.special)
    box.setSingleStep(0.05 if high <= 100 else 1)
    box.setDecimals(2)
    unit = info.unit(value)
    if unit:
        box.setSuffix(unit_suffix(unit))
    box.setValue(value)
    box.setAccessibleName(info.title)
    box.setToolTip(info.description)
    box.valueChanged.connect(on_change)
    return box


def choice_box(info: FieldInfo, value: str, on_change: Callable[[str], None]) -> QComboBox:
    """A combo box over the field's choices, by their labels."""
    box = Choice()
    box.setAccessibleName(info.title)
    box.setToolTip(info.description)
    for choice in info.choices:
        box.addItem(info.labels[choice], choice)
    box.setCurrentIndex(box.findData(value))
    box.currentIndexChanged.connect(lambda _index: on_change(str(box.currentData())))
    return box


def check_box(info: FieldInfo, value: bool, on_change: Callable[[bool], None]) -> QCheckBox:
    box = WrappedCheckBox(info.label)
    box.setAccessibleName(info.title)
    box.setToolTip(info.description)
    box.setChecked(value)
    box.toggled.connect(on_change)
    return box


class _WheelGuard(QObject):
    """Lets the wheel scroll the panel instead of the control under the pointer."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        wheel = event.type() == QEvent.Type.Wheel
        if wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def keep_wheel_away(panel: QWidget) -> None:
    """Keep the wheel from changing values of unfocused controls in a panel."""
    guard = _WheelGuard(panel)
    for kind in (QSlider, QAbstractSpinBox, QComboBox):
        for control in panel.findChildren(kind):
            control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            control.installEventFilter(guard)


def give_room(panel: QWidget) -> None:
    """Keep the text of number fields off their border; style sheets do not reach it."""
    for box in panel.findChildren(QAbstractSpinBox):
        box.lineEdit().setTextMargins(8, 0, 8, 0)


def clearable(field: QLineEdit) -> None:
    """Give a field a clear button; every button in it gets its text as accessible name.

    Do not ask the buttons for their actions: PySide would take one as owned by the button, and
    lose it with the button's wrapper."""
    field.setClearButtonEnabled(True)
    for button in field.findChildren(QToolButton):
        button.setAccessibleName(button.text() or say("kit.clear"))


def show_value(control: QWidget, value: object) -> None:
    """Have a control show a value; one that already shows it keeps its state and typed text."""
    if isinstance(control, QAbstractButton) and control.isChecked() != bool(value):
        control.setChecked(bool(value))
    elif isinstance(control, QComboBox) and control.currentData() != value:
        control.setCurrentIndex(control.findData(value))
    elif isinstance(control, QSpinBox | QDoubleSpinBox) and control.value() != value:
        control.setProperty("value", value)
    elif isinstance(control, QPlainTextEdit) and control.toPlainText() != value:
        control.setPlainText(str(value))
