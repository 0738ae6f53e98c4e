"""A choice is read whole: what is around it makes room, and a tooltip tells what is cut."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QSpinBox, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from headstart.core.settings.schema import Settings
from headstart.ui.inspector.own import OwnRow
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.fields import ResetButton
from headstart.ui.kit.mirrored import across
from headstart.ui.settings.form import Page, ResetField, SettingRow

LONG = "The words of a language that needs more room than English"


def choice(parent: QWidget | None, *titles: str) -> Choice:
    box = Choice(parent)
    box.setAccessibleName("Answer format")
    box.addItems(list(titles))
    return box


def begins(widget: QWidget, around: QWidget) -> int:
    """Its distance in pixels from the side where reading begins."""
    return across(widget.mapTo(around, QPoint()).x(), widget.width(), around.width())


def reads_whole(box: Choice) -> bool:
    """True if no word is cut; two of the px that a choice asks for are a margin, which fonts
    without whole widths take."""
    return box.whole_width() - 2 <= box.width()


def test_a_choice_in_a_panel_goes_below_its_title(qtbot: QtBot) -> None:
    box = choice(None, "Free text", "JSON")
    row = OwnRow("Answer format", box)
    qtbot.addWidget(row)
    row.resize(300, 60)
    row.show()
    assert box.y() < row.title.geometry().bottom()
    box.addItem(LONG[:30])
    qtbot.waitUntil(lambda: box.y() >= row.title.geometry().bottom())
    qtbot.waitUntil(lambda: reads_whole(box))
    # as Tab goes
    assert row.button.y() > row.title.y()
    assert begins(row.button, row) > begins(box, row) + box.width()
    row.resize(600, 60)
    qtbot.waitUntil(lambda: box.y() < row.title.geometry().bottom())
    qtbot.waitUntil(lambda: reads_whole(box))


def test_the_controls_of_a_page_are_as_wide_as_the_widest(qtbot: QtBot) -> None:
    page = Page("Servers", Settings())
    qtbot.addWidget(page)
    section = page.section("One")
    boxes = [choice(page, "Short"), choice(page, "Short too")]
    for box in boxes:
        section.row("Model", box)
    page.finish()
    page.resize(800, 400)
    page.show()
    before = boxes[0].width()
    boxes[1].addItem(LONG[:38])
    qtbot.waitUntil(lambda: boxes[0].width() > before)
    assert boxes[0].width() == boxes[1].width()
    assert boxes[1].whole_width() <= boxes[1].width()
    # a name without an end does not push the words out
    boxes[0].addItem(LONG * 9)
    row = page.findChild(SettingRow)
    assert row is not None
    QApplication.processEvents()
    assert boxes[0].width() < row.width() * 0.6


def first_after(start: QWidget, *these: QWidget) -> QWidget:
    """The one that Tab comes to first."""
    one = start.nextInFocusChain()
    while one is not None and one not in these:
        assert one is not start
        one = one.nextInFocusChain()
    assert one is not None
    return one


def test_fields_with_a_reset_stand_in_line(qtbot: QtBot) -> None:
    page = Page("General", Settings())
    qtbot.addWidget(page)
    section = page.section("One")
    box, number, reset = choice(page, "Short"), QSpinBox(page), ResetButton("Top-k", page)
    reset.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    number.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    field = ResetField(number, reset, section)
    section.row("Model", box)
    section.row("Top-k", field)
    page.finish()
    page.show()

    left = partial(begins, around=page)
    page.resize(800, 400)
    qtbot.waitUntil(lambda: left(number) > left(reset))
    assert left(number) + number.width() == left(box) + box.width()
    assert first_after(box, number, reset) is reset
    page.resize(420, 400)
    qtbot.waitUntil(lambda: left(number) < left(reset))
    assert left(number) == left(box)
    assert first_after(box, number, reset) is number


@pytest.mark.parametrize(("title", "told"), [(LONG, True), ("Short", False)])
def test_a_cut_choice_says_its_words(qtbot: QtBot, title: str, told: bool) -> None:
    box = choice(None, title)
    qtbot.addWidget(box)
    box.resize(160, 32)
    box.show()
    QToolTip.hideText()
    place = QPoint(20, 10)
    QApplication.sendEvent(box, QHelpEvent(QEvent.Type.ToolTip, place, box.mapToGlobal(place)))
    assert QToolTip.isVisible() == told
    assert not told or QToolTip.text() == LONG
    QToolTip.hideText()
