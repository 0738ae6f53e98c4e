"""Controls and words of a window that are cut, off the screen or without a name."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QScrollBar,
    QStyle,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QWidget,
)

from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.hints import Hint
from headstart.ui.kit.sheet import sheet_over
from headstart.ui.wording import say

CONTROLS = (QAbstractButton, QLineEdit, QComboBox, QAbstractSpinBox, QAbstractSlider,
            QPlainTextEdit, QAbstractItemView)  # fmt: skip
# marks of direction around a name
_MARKS = {ord(one): None for one in "\u200f\u2066\u2067\u2068\u2069"}


def visible(window: QWidget) -> Iterator[QWidget]:
    """Widgets that a user sees: of a window with a sheet over it, the sheet's."""
    top = sheet_over(window) or window
    for widget in top.findChildren(QWidget):
        if widget.isVisible() and widget.width() and widget.height():
            yield widget


def faults(window: QWidget) -> list[str]:
    """Controls that are cut, off the screen or without a name."""
    found = []
    for widget in visible(window):
        if isinstance(widget, QScrollBar) or widget.objectName().startswith("qt_"):
            continue
        name = name_of(widget)
        if isinstance(widget, (*CONTROLS, QLabel)):
            if _off(widget, window):
                found.append(f"off the screen: {name}")
            elif _cut(widget):
                found.append(f"cut: {name}")
        if isinstance(widget, QHeaderView):
            found += [f"cut: head {one!r} of {name}" for one in _cut_heads(widget)]
        if isinstance(widget, CONTROLS) and not _is_named(widget):
            found.append(f"unnamed: {name}")
    return found


def name_of(widget: QWidget) -> str:
    said = widget.accessibleName()
    if not said and isinstance(widget, QAbstractButton | QLabel | QLineEdit):
        said = widget.text()
    inside = widget.parentWidget()
    return f"{type(widget).__name__} {str(said)[:60]!r} in {type(inside).__name__}"


def _is_named(widget: QWidget) -> bool:
    inside = widget.parentWidget()
    if isinstance(inside, QAbstractSpinBox | QComboBox | QAbstractItemView):
        # a field's own editor is read as the field
        return True
    if widget.accessibleName():
        return True
    return isinstance(widget, QAbstractButton) and bool(widget.text().strip())


def _off(widget: QWidget, window: QWidget) -> bool:
    """Wider than what is around it; or lower, where nothing scrolls there."""
    area = widget.parentWidget()
    scrolls = False
    while area is not None and not area.isWindow():
        around = area.parentWidget()
        if around is not None:
            inside = QRect(widget.mapTo(area, QPoint()), widget.size())
            scrolling = around.parentWidget()
            if isinstance(scrolling, QScrollArea) and scrolling.viewport() is around:
                scrolls = True
                left = area.mapTo(around, QPoint()).x() + inside.left()
                if left < -1 or left + inside.width() > around.width() + 1:
                    return True
            elif isinstance(area, QAbstractItemView):
                return False
        area = around
    place = QRect(widget.mapTo(window, QPoint()), widget.size())
    room = window.rect().adjusted(-1, -1, 1, 1)
    if in_transcript(widget):
        # messages that are scrolled away are laid out when they come back
        view = _view_of(widget, window)
        near = view.top() <= place.bottom() and place.top() <= view.bottom()
        return near and (place.left() < room.left() or place.right() > room.right())
    if scrolls:
        return place.left() < room.left() or place.right() > room.right()
    return not room.contains(place)


def _view_of(widget: QWidget, window: QWidget) -> QRect:
    """The place of the transcript's view around a part of it."""
    around = widget.parentWidget()
    while around is not None and not isinstance(around, QAbstractScrollArea):
        around = around.parentWidget()
    return window.rect() if around is None else QRect(around.mapTo(window, QPoint()), around.size())


def in_transcript(widget: QWidget) -> bool:
    around: QWidget | None = widget
    while around is not None:
        names = say("transcript.messages"), say("transcript.conversation")
        if around.accessibleName() in names:
            return True
        around = around.parentWidget()
    return False


def _cut(widget: QWidget) -> bool:
    """Its words do not fit, and nothing tells them."""
    if widget.toolTip():
        return False
    if isinstance(widget, ElidedLabel):
        return widget.text().translate(_MARKS) != widget.full_text.translate(_MARKS)
    if isinstance(widget, QLabel) and widget.text() and widget.pixmap().isNull():
        if widget.wordWrap():
            return widget.heightForWidth(widget.width()) > widget.height() + 2
        return widget.sizeHint().width() > widget.width() + 1
    if isinstance(widget, QLineEdit) and not widget.text() and widget.findChild(Hint) is None:
        hint = widget.placeholderText().translate(_MARKS)
        return widget.fontMetrics().horizontalAdvance(hint) > widget.contentsRect().width()
    if isinstance(widget, QAbstractSpinBox):
        line = widget.lineEdit()
        margins = line.textMargins()
        room = line.width() - margins.left() - margins.right()
        return line.fontMetrics().horizontalAdvance(line.text().translate(_MARKS)) > room
    if isinstance(widget, QComboBox):
        words = widget.currentText().translate(_MARKS)
        return widget.fontMetrics().horizontalAdvance(words) > _field(widget).width() + 1
    if isinstance(widget, QAbstractButton) and widget.text() and type(widget).__module__ != "":
        words = widget.text().replace("&", "").translate(_MARKS)
        room = widget.width()
        if type(widget) is QPushButton:
            option = QStyleOptionButton()
            widget.initStyleOption(option)
            part = QStyle.SubElement.SE_PushButtonContents
            room = widget.style().subElementRect(part, option, widget).width()
        return widget.fontMetrics().horizontalAdvance(words) > room + 1
    return False


def _field(choice: QComboBox) -> QRect:
    """The room of a choice's words."""
    option = QStyleOptionComboBox()
    choice.initStyleOption(option)
    field = QStyle.SubControl.SC_ComboBoxEditField
    kind = QStyle.ComplexControl.CC_ComboBox
    return choice.style().subControlRect(kind, option, field, choice)


def _cut_heads(header: QHeaderView) -> list[str]:
    """Heads of columns that are wider than their column."""
    model, role = header.model(), Qt.ItemDataRole.DisplayRole
    found = []
    for column in range(header.count()):
        words = str(model.headerData(column, header.orientation(), role) or "").translate(_MARKS)
        room = header.sectionSize(column)
        shown = words and not header.isSectionHidden(column)
        if shown and header.sectionSizeFromContents(column).width() > room + 1:
            found.append(words)
    return found
