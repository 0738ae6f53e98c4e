"""Tab navigation in areas that control it themselves. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QTabWidget, QWidget

from headstart.ui.kit.mirrored import across


def takes_tab(widget: QWidget) -> bool:
    takes = bool(widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value)
    return takes and widget.isEnabled() and widget.isVisible()


def stops_in(area: QWidget) -> list[QWidget]:
    """Keyboard stops inside `area` in reading order: buttons, and all other focusable widgets."""
    found = [
        widget
        for widget in area.findChildren(QWidget)
        if widget.isEnabled()
        and widget.isVisible()
        and (isinstance(widget, QAbstractButton) or widget.focusPolicy() != Qt.FocusPolicy.NoFocus)
        and widget.focusProxy() is None
    ]
    places = {id(widget): widget.mapTo(area, widget.rect().topLeft()) for widget in found}

    def place(one: QWidget) -> tuple[int, int]:
        at = places[id(one)]
        return at.y() // 8, across(at.x(), one.width(), area.width())

    return sorted(found, key=place)


def in_reading_order(*areas: QWidget) -> None:
    """Have Tab go through areas as they stand, whatever was made first."""
    before: QWidget | None = None
    for area in areas:
        for widget in (area, *area.findChildren(QWidget)):
            by_tab = widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value
            # the list of a combo box is a window of its own
            here = widget.window() is area.window() and widget.focusProxy() is None
            if by_tab and here:
                if before is not None:
                    QWidget.setTabOrder(before, widget)
                before = widget


def tabs_first(tabs: QTabWidget) -> None:
    """Have Tab reach the tabs before what is on them; after the last one was added."""
    pages = [tabs.widget(number) for number in range(tabs.count())]
    in_reading_order(tabs.tabBar(), *(page for page in pages if page is not None))


def step_among(stops: Sequence[QWidget], focus: QWidget | None, forward: bool) -> bool:
    """Focus the next (or previous) stop; False if there is none."""
    at = next((number for number, one in enumerate(stops) if one is focus), -1)
    number = at + (1 if forward else -1)
    if at < 0 or not 0 <= number < len(stops):
        return False
    focus_by_tab(stops[number], forward)
    return True


def leave_area(area: QWidget, forward: bool) -> bool:
    """Focus the widget after (or before) `area` and its content; False if there is none."""
    at: QWidget | None = area
    while True:
        assert at is not None
        at = at.nextInFocusChain() if forward else at.previousInFocusChain()
        if at is None or at is area:
            return False
        if not area.isAncestorOf(at) and at.window() is area.window() and takes_tab(at):
            focus_by_tab(at, forward)
            return True


def focus_by_tab(widget: QWidget, forward: bool) -> None:
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    widget.setFocus(reason)
    show_focus(widget.window())


def show_focus(window: QWidget) -> None:
    """Show the frame of the focus, which is for users of the keyboard. After the focus has moved:
    `setFocus` clears the mark."""
    window.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
    focus = window.focusWidget()
    if focus is not None:
        focus.update()
