"""Roles of the program's own widgets for screen readers. Nothing is queried while none is active.
Main thread."""

from __future__ import annotations

import functools
from collections.abc import Callable
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject
from PySide6.QtGui import (
    QAccessible,
    QAccessibleInterface,
    QAccessibleStateChangeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QAccessibleWidget, QWidget

Spoken = QAccessible.Role
_ROLE = "accessibleRole"
# set for a widget that is `text_face.HasText`
_READ = "accessibleText"
_places: WeakKeyDictionary[QWidget, Callable[[], str]] = WeakKeyDictionary()
# stands in for a role
_FOLD = -1
_PRESS = "Press"


def be(widget: QWidget, role: Spoken) -> None:
    """Set the role as which a screen reader announces a widget."""
    widget.setProperty(_ROLE, role.value)
    _forget(widget)


def be_read(widget: QWidget, role: Spoken) -> None:
    """Like `be`, for a widget with a text that is read by lines: it is `text_face.HasText`."""
    widget.setProperty(_READ, True)
    be(widget, role)


def be_placed(widget: QWidget, role: Spoken, place: Callable[[], str]) -> None:
    """Like `be`, for an item of a list, with a sentence about its place there."""
    _places[widget] = place
    be(widget, role)


def be_fold(button: QAbstractButton) -> None:
    """Have a fold button announced as expanded while it is checked, else as collapsed."""
    button.setProperty(_ROLE, _FOLD)
    _forget(button)
    button.toggled.connect(lambda _on: _tell_state(button))


@functools.cache
def install() -> None:
    """Register the roles, once for the program."""
    QAccessible.installFactory(_face)


class FoldFace(QAccessibleWidget):
    """A button that shows and hides the content below it."""

    def __init__(self, button: QAbstractButton) -> None:
        super().__init__(button, Spoken.Button)
        self._button = button

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self._button.accessibleName() or self._button.text()
        return super().text(kind)

    def state(self) -> QAccessible.State:
        state = super().state()
        state.expandable = 1
        state.expanded = int(self._button.isChecked())
        state.collapsed = int(not self._button.isChecked())
        return state

    def actionNames(self) -> list[str]:
        return [_PRESS]

    def doAction(self, name: str) -> None:
        if name == _PRESS:
            self._button.click()


class PlacedFace(QAccessibleWidget):
    """An item of a list, with its place in it as the description."""

    def __init__(self, widget: QWidget, role: Spoken, place: Callable[[], str]) -> None:
        super().__init__(widget, role)
        self._place = place

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Description:
            return self._place()
        return super().text(kind)


def _forget(widget: QWidget) -> None:
    """Delete the widget's previous interface, which has another role."""
    if QAccessible.isActive():
        face = QAccessible.queryAccessibleInterface(widget)
        if face is not None:
            QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(face))


def _face(_kind: str, thing: QObject) -> QAccessibleInterface | None:
    role = thing.property(_ROLE) if isinstance(thing, QWidget) else None
    if role is None:
        return None
    if isinstance(thing, QAbstractButton) and role == _FOLD:
        return FoldFace(thing)
    assert isinstance(thing, QWidget)
    if thing.property(_READ):
        from headstart.ui.kit.text_face import TextFace

        return TextFace(thing, Spoken(role))
    if thing in _places:
        return PlacedFace(thing, Spoken(role), _places[thing])
    return QAccessibleWidget(thing, Spoken(role))


def _tell_state(button: QAbstractButton) -> None:
    if QAccessible.isActive():
        changed = QAccessible.State()
        changed.expanded = 1
        QAccessible.updateAccessibility(QAccessibleStateChangeEvent(button, changed))
