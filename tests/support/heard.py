"""The window as a screen reader gets it: Qt's accessibility tree, and the focus as it is seen."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from headstart.ui.kit.focus import focus_by_tab, takes_tab
from headstart.ui.kit.sheet import sheet_over
from headstart.ui.shell.palette import Palette

Role, Text = QAccessible.Role, QAccessible.Text
# roles that say nothing about a control
_NOTHING = {Role.NoRole, Role.Client, Role.Pane, Role.Border, Role.Whitespace, Role.LayeredPane}
# roles that a control of a kind can have
_ROLES: dict[type[QWidget], set[QAccessible.Role]] = {
    QAbstractButton: {
        Role.Button, Role.CheckBox, Role.RadioButton, Role.ButtonMenu, Role.ButtonDropDown,
        Role.PageTab, Role.Link, Role.Switch, Role.ListItem, Role.MenuItem,
    },
    QAbstractSpinBox: {Role.SpinBox},
    QComboBox: {Role.ComboBox},
    QLineEdit: {Role.EditableText},
    QPlainTextEdit: {Role.EditableText},
    QTextEdit: {Role.EditableText, Role.Document, Role.StaticText},
    QAbstractSlider: {Role.Slider, Role.ScrollBar, Role.Dial},
    QAbstractItemView: {Role.List, Role.Table, Role.Tree},
    QTabBar: {Role.PageTabList},
}  # fmt: skip


def face(widget: QWidget) -> QAccessibleInterface:
    """A widget as a screen reader gets it."""
    found = QAccessible.queryAccessibleInterface(widget)
    assert found is not None
    return found


def heard_faults(window: QWidget) -> list[str]:
    """Parts without a name, a role or a place in the tree."""
    top = in_front(window)
    root = QAccessible.queryAccessibleInterface(top)
    if root is None:
        return [f"not in the tree: {type(top).__name__}"]
    return list(dict.fromkeys(_faults(root, 0)))


def _faults(part: QAccessibleInterface, depth: int) -> Iterator[str]:
    widget = part.object()
    if isinstance(widget, QWidget):
        yield from _of_widget(part, widget)
        if isinstance(widget, QAbstractItemView):
            yield from _of_rows(part, widget)
            return
    for row in range(part.childCount()):
        child = part.child(row)
        if child is None:
            yield f"no child {row} of {_said(part)}"
            continue
        if child.state().invisible or child.state().offscreen:
            continue
        if depth < 60:
            yield from _faults(child, depth + 1)


def _of_widget(part: QAccessibleInterface, widget: QWidget) -> Iterator[str]:
    role, name = part.role(), part.text(Text.Name)
    # reached by Tab or by a click; a pane that holds the focus for its keys counts, too
    reached = widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.isEnabled()
    reached = reached and widget.focusProxy() is None
    pressed = isinstance(widget, QAbstractButton)
    inner = isinstance(
        widget.parentWidget(), QAbstractSpinBox | QComboBox | QAbstractItemView
    ) or widget.objectName().startswith("qt_")
    if inner or not widget.isVisible():
        return
    if isinstance(widget, QComboBox) and sys.platform == "linux":
        # the name is the value there: a reader takes that of the label
        labels = part.relations(QAccessible.RelationFlag.Label)
        name = " ".join(one.text(Text.Name) for one, _flag in labels)
    if (reached or pressed) and not name.strip():
        yield f"no name: {_said(part)}"
    if reached and role in _NOTHING:
        yield f"no role: {_said(part)}"
    if role is Role.Graphic and not name.strip():
        yield f"a picture without a sentence: {_said(part)}"
    kind = next((one for one in _ROLES if isinstance(widget, one)), None)
    if kind is not None and role not in _ROLES[kind]:
        yield f"a wrong role: {_said(part)}"
    if pressed and isinstance(widget, QAbstractButton) and widget.isCheckable():
        state = part.state()
        if not (state.checkable or state.expandable or state.selectable):
            yield f"not told whether it is on: {_said(part)}"


def _of_rows(part: QAccessibleInterface, view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    if model is None:
        return
    for row in range(min(model.rowCount(), 60)):
        index = model.index(row, 0)
        for role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.DisplayRole):
            if str(index.data(role) or "").strip():
                break
        else:
            if view.indexWidget(index) is None:
                yield f"row {row} without words: {_said(part)}"


def in_front(window: QWidget) -> QWidget:
    """A sheet, the palette, or the whole window."""
    palettes = [one for one in window.findChildren(Palette) if one.isVisible()]
    return palettes[0] if palettes else sheet_over(window) or window


def _said(part: QAccessibleInterface) -> str:
    thing = part.object()
    around = thing.parent() if thing is not None else None
    return (
        f"{type(thing).__name__} {part.text(Text.Name)[:50]!r} as {part.role().name}"
        f" in {type(around).__name__}"
    )


def order_faults(window: QWidget) -> list[str]:
    """Controls from which Tab goes back up in their column, or back in their line."""
    top = in_front(window)
    stops, widget = list[QWidget](), window.nextInFocusChain()
    while widget is not None and widget is not window:
        inside = top is window or top.isAncestorOf(widget)
        seen = not widget.visibleRegion().isEmpty()
        if inside and seen and takes_tab(widget) and widget.focusProxy() is None:
            stops.append(widget)
        widget = widget.nextInFocusChain()
    found = []
    for one, other in itertools.pairwise(stops):
        here, there = (QRect(each.mapTo(window, QPoint()), each.size()) for each in (one, other))
        shared = min(here.right(), there.right()) - max(here.left(), there.left())
        back = abs(here.top() - there.top()) < 8 and there.right() < here.left()
        if (there.bottom() < here.top() and shared > 0) or back:
            parts = [QAccessible.queryAccessibleInterface(each) for each in (one, other)]
            names = [part.text(Text.Name)[:40] for part in parts if part is not None]
            found.append(f"Tab goes back from {' to '.join(names)}")
    return found


async def focus_faults(window: QWidget) -> list[str]:
    """Controls that Tab reaches, and that look the same with the focus as without."""
    top = in_front(window)
    before = QApplication.focusWidget()
    found: list[str] = []
    chain = [top, *top.findChildren(QWidget)]
    for widget in chain:
        by_tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if not (by_tab and widget.isVisible() and widget.isEnabled()) or widget.focusProxy():
            continue
        if widget.visibleRegion().isEmpty() or isinstance(widget.parentWidget(), Palette):
            # the palette's field is its only stop, with a caret
            continue
        window.setFocus()
        await asyncio.sleep(0)
        area = QRect(widget.mapTo(window, QPoint()), widget.size()).adjusted(-5, -5, 5, 5)
        plain = window.grab(area).toImage()
        focus_by_tab(widget, True)
        if isinstance(widget, QLabel):
            # Tab goes on to its first link
            QTest.keyClick(widget, Qt.Key.Key_Tab)
        await asyncio.sleep(0.005)
        if QApplication.focusWidget() is not widget:
            continue
        area_now = QRect(widget.mapTo(window, QPoint()), widget.size()).adjusted(-5, -5, 5, 5)
        if area_now == area and window.grab(area).toImage() == plain:
            part = QAccessible.queryAccessibleInterface(widget)
            found.append(f"focus not seen: {'' if part is None else _said(part)}")
    if before is not None:
        before.setFocus()
    return found
