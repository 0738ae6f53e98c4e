"""With large text, what holds words grows or gives way, and a tooltip tells what is cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)
from pytestqt.qtbot import QtBot

from headstart.ui.inspector.fold import Fold
from headstart.ui.kit import theme
from headstart.ui.kit.columns import ColumnsLayout
from headstart.ui.kit.hints import set_hint
from headstart.ui.kit.measures import keep_height
from headstart.ui.kit.sheet import Sheet
from headstart.ui.models.installed_rows import InstalledDelegate
from headstart.ui.models.results import ModelResultsDelegate
from headstart.ui.transcript.branch_panel import BranchDelegate
from tests.conftest import OpenApp, until

LONG = "Length and sampling of each reply"


@pytest.fixture(autouse=True)
def usual_again(qapp: QApplication) -> Iterator[None]:
    show_text(qapp, 100)
    yield
    show_text(qapp, 100)


def show_text(qapp: QApplication, percent: int) -> None:
    theme.set_reading(percent, "medium", "normal")
    theme.apply(qapp, "light", "inter")


@pytest.mark.parametrize("kind", [ModelResultsDelegate, InstalledDelegate, BranchDelegate])
def test_rows_grow(qapp: QApplication, kind: type[QStyledItemDelegate]) -> None:
    delegate = kind()
    before = delegate.sizeHint(QStyleOptionViewItem(), QModelIndex()).height()
    show_text(qapp, 200)
    after = delegate.sizeHint(QStyleOptionViewItem(), QModelIndex()).height()
    assert after >= 1.6 * before


def test_a_field_of_some_lines_and_a_sheet_grow(qapp: QApplication, qtbot: QtBot) -> None:
    field = QPlainTextEdit()
    qtbot.addWidget(field)
    keep_height(field, 60)
    assert field.height() == 60
    show_text(qapp, 200)
    assert field.height() == 120
    around = QWidget()
    qtbot.addWidget(around)
    around.resize(900, 700)
    sheet = Sheet("Versions", around, (400, 300))
    sheet.place_in(QRect(0, 0, 900, 700))
    assert (sheet.width(), sheet.height()) == (800, 600)
    # never past what is around it
    sheet.place_in(QRect(0, 0, 640, 400))
    assert sheet.width() < 640
    assert sheet.height() < 400


def test_the_title_of_a_section_gives_way(qtbot: QtBot) -> None:
    fold = Fold(LONG)
    qtbot.addWidget(fold)
    fold.resize(600, 40)
    fold.show()
    assert fold.button.toolTip() == ""
    fold.resize(120, 40)
    qtbot.waitUntil(lambda: fold.width() == 120)
    assert fold.button.geometry().right() < 120
    assert fold.button.toolTip() == LONG


@pytest.mark.parametrize(
    ("width", "text", "told"), [(120, "", True), (600, "", False), (120, "words", False)]
)
def test_a_hint_that_is_cut_is_told(qtbot: QtBot, width: int, text: str, told: bool) -> None:
    field = QLineEdit(text)
    qtbot.addWidget(field)
    set_hint(field, LONG)
    field.resize(width, 30)
    field.show()
    QToolTip.hideText()
    place = QPoint(10, 10)
    QApplication.sendEvent(field, QHelpEvent(QEvent.Type.ToolTip, place, field.mapToGlobal(place)))
    assert QToolTip.isVisible() == told
    QToolTip.hideText()


@pytest.mark.parametrize("mirrored", [False, True])
def test_columns_become_fewer(qapp: QApplication, qtbot: QtBot, mirrored: bool) -> None:
    direction = Qt.LayoutDirection
    qapp.setLayoutDirection(direction.RightToLeft if mirrored else direction.LeftToRight)
    place = QWidget()
    qtbot.addWidget(place)
    layout = ColumnsLayout(place, 2)
    cells = [QWidget(place) for _ in range(5)]
    for cell in cells:
        cell.setMinimumSize(200, 20)
        layout.addWidget(cell)
    place.resize(500, 200)
    place.show()
    qtbot.waitUntil(lambda: cells[4].y() > 0)
    first, second = cells[0].geometry(), cells[1].geometry()
    assert first.y() == second.y()
    assert first.width() == second.width() > 200
    assert (first.x() > second.x()) == mirrored
    assert not first.intersects(second)
    place.resize(300, 200)
    qtbot.waitUntil(lambda: cells[1].y() > cells[0].y())
    assert {cell.x() for cell in cells} == {0}
    assert layout.heightForWidth(300) > layout.heightForWidth(500)
    qapp.setLayoutDirection(direction.LeftToRight)


async def test_the_smallest_window_grows(qapp: QApplication, running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        window.resize(300, 200)
        assert (window.width(), window.height()) == (720, 480)
        app.services.preferences.update(text_size=200)
        await until(lambda: window.height() == 720)
        # the screen of tests is 800 px wide
        room = window.screen().availableGeometry()
        assert window.width() == min(1080, room.width())
        assert window.minimumHeight() <= room.height()
        app.services.preferences.update(text_size=100)
        await until(lambda: window.minimumWidth() == 720)
