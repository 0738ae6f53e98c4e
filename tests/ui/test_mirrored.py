"""What paints itself stands as far from the right in a mirrored window as from the left in a usual
one: rows of lists, cards, switches, the line of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHBoxLayout,
    QListView,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from headstart.core.chats.sections import CallState, ShownCall
from headstart.core.serving.line import LineState, ServedLine
from headstart.ui.kit.focus import stops_in
from headstart.ui.kit.switch import Switch
from headstart.ui.settings.request_table import COLUMNS, RequestTable
from headstart.ui.shell.greeting import EXAMPLES, ExampleCard
from headstart.ui.shell.palette import Palette
from headstart.ui.sidebar.search_results import ResultsView
from headstart.ui.transcript.branch_panel import BranchPanel
from headstart.ui.transcript.call_box import CallBox
from tests.conftest import OpenApp, until
from tests.ui.looks import fill

# px between two words of a run, at most, and what the two directions may differ by
_WITHIN, _NEAR = 14, 9
TERM = '{"term": "1 + 1"}'
Runs = list[tuple[int, int]]


@pytest.fixture(autouse=True)
def usual_again(qapp: QApplication) -> Iterator[None]:
    before = qapp.layoutDirection()
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    yield
    qapp.setLayoutDirection(before)


def runs(image: QImage) -> Runs:
    """Where something stands, from the left: spans of columns that differ from their ground."""
    ink = []
    for x in range(image.width()):
        ground = image.pixel(x, 3)
        if any(_far(image.pixel(x, y), ground) for y in range(4, image.height() - 4)):
            ink.append(x)
    found: Runs = []
    for x in ink:
        if found and x - found[-1][1] <= _WITHIN:
            found[-1] = (found[-1][0], x)
        else:
            found.append((x, x))
    return found


def _far(one: int, other: int) -> bool:
    return any(abs((one >> by & 255) - (other >> by & 255)) > 24 for by in (0, 8, 16))


def both(qapp: QApplication, picture: Callable[[], QImage]) -> tuple[Runs, Runs]:
    """The runs of a picture, and those of the mirrored one, turned back."""
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    usual = runs(picture())
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    mirrored = runs(picture().flipped(Qt.Orientation.Horizontal))
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    return usual, mirrored


def alike(one: Runs, other: Runs) -> bool:
    return len(one) == len(other) and all(
        abs(a - c) <= _NEAR and abs(b - d) <= _NEAR
        for (a, b), (c, d) in zip(one, other, strict=True)
    )


def of_widget(widget: QWidget, area: QRect | None = None) -> QImage:
    grabbed = widget.grab() if area is None else widget.grab(area)
    return grabbed.toImage().convertToFormat(QImage.Format.Format_RGB32)


def of_row(view: QAbstractItemView, row: int) -> QImage:
    index = view.model().index(row, 0)
    view.scrollTo(index)
    area = view.visualRect(index)
    return of_widget(view.viewport(), area.adjusted(4, 0, -4, 0))


def assert_rows_are_mirrored(qapp: QApplication, view: QAbstractItemView, least: int) -> None:
    count = min(view.model().rowCount(), 12)
    assert count >= least
    for row in range(count):
        usual, mirrored = both(qapp, lambda row=row: of_row(view, row))  # type: ignore[misc]
        assert usual
        assert alike(usual, mirrored), (row, usual, mirrored)


async def test_rows_of_lists(qapp: QApplication, running: OpenApp) -> None:
    async with running() as app:
        chat = await fill(app)
        app.controllers.chat_list.list()
        await app.controllers.settle()
        app.window.open_chat(chat)
        await app.controllers.settle()
        assert_rows_are_mirrored(qapp, app.window.sidebar.view, 8)
        app.window.commands.run("chat.branches")
        await app.controllers.settle()
        panel = app.window.findChild(BranchPanel)
        assert panel is not None
        await until(lambda: panel.list.model().rowCount() > 4)
        assert_rows_are_mirrored(qapp, panel.list, 5)
        app.window.commands.run("app.palette")
        palette = app.window.findChild(Palette)
        assert palette is not None
        await until(lambda: palette.list.model().rowCount() > 6)
        assert_rows_are_mirrored(qapp, palette.list, 7)


async def test_rows_of_models_and_findings(qapp: QApplication, running: OpenApp) -> None:
    async with running() as app:
        await fill(app)
        app.window.sidebar.search.setText("prime")
        found = app.window.findChild(ResultsView)
        assert found is not None
        await until(lambda: found.isVisible() and found.model().rowCount() > 1)
        assert_rows_are_mirrored(qapp, found, 2)
        app.window.commands.run("models.show")
        page = app.window.pages.models
        assert page is not None
        await app.controllers.settle()
        for tab, least in ((0, 4), (1, 1)):
            page.tabs.setCurrentIndex(tab)
            await app.controllers.settle()
            lists = [one for one in page.findChildren(QListView) if one.isVisible()]
            await until(lambda lists=lists: bool(lists and lists[0].model().rowCount()))
            assert_rows_are_mirrored(qapp, lists[0], least)


def test_the_bar_of_a_request(qapp: QApplication, qtbot: QtBot) -> None:
    place = QWidget()
    qtbot.addWidget(place)
    table = RequestTable(place)
    place.resize(900, 200)
    table.setGeometry(0, 0, 900, 200)
    done = ServedLine(1, 0, "Codex", "x", LineState.DONE, prompt=9, reused=3)
    table.show_lines([done, ServedLine(2, 0, "pi", "x", LineState.PROCESSING, prompt=9, done=3)])
    place.show()
    table.horizontalHeader().setMinimumSectionSize(140)
    column = COLUMNS.index("reused")
    view = table.viewport()
    for row in range(2):
        area = partial(table.visualRect, table.model().index(row, column))
        usual, mirrored = both(qapp, lambda area=area: of_widget(view, area()))  # type: ignore[misc]
        # the bar, and a number that it does not touch
        assert len(usual) == 2 - row
        assert alike(usual, mirrored), (usual, mirrored)


def test_cards_and_switches(qapp: QApplication, qtbot: object) -> None:
    place = QWidget()
    cards = [ExampleCard(one, place) for one in EXAMPLES]
    for card in cards:
        card.resize(300, 70)
        usual, mirrored = both(qapp, lambda card=card: of_widget(card, QRect(6, 0, 288, 70)))  # type: ignore[misc]
        assert alike(usual, mirrored), (usual, mirrored)
        assert len(usual) > 1
    switch = Switch("Drafting", place)
    switch.resize(switch.sizeHint())
    for on in (True, False):
        switch.setChecked(on)
        usual, mirrored = both(qapp, lambda: of_widget(switch))
        assert alike(usual, mirrored), (on, usual, mirrored)


def test_tab_goes_from_where_reading_begins(qapp: QApplication, qtbot: QtBot) -> None:
    place = QWidget()
    qtbot.addWidget(place)
    column = QVBoxLayout(place)
    buttons: list[QPushButton] = []
    for _line in range(2):
        row = QHBoxLayout()
        for _one in range(3):
            button = QPushButton("x", place)
            row.addWidget(button)
            buttons.append(button)
        column.addLayout(row)
    place.show()
    assert stops_in(place) == buttons
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    column.activate()
    qtbot.waitUntil(lambda: buttons[0].x() > buttons[1].x())
    assert stops_in(place) == buttons


class _Host:
    tinted = False

    def resized(self) -> None: ...


@pytest.mark.parametrize("state", [CallState.DONE, CallState.RUNNING])
def test_the_line_of_a_call(qapp: QApplication, state: CallState) -> None:
    place = QWidget()
    call = ShownCall(1, "calculate", TERM, state=state, result="2")
    box = CallBox(_Host(), place, call)  # type: ignore[arg-type]
    box.head.resize(500, 40)
    usual, mirrored = both(qapp, lambda: of_widget(box.head))
    assert alike(usual, mirrored), (usual, mirrored)
    assert len(usual) > 2
