"""Fields for numbers: what people of any place type is what they get."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox
from pytestqt.qtbot import QtBot

from headstart.ui.kit.number_boxes import DecimalBox, WholeBox
from tests.conftest import OpenApp
from tests.ui.looks import fill

# typed text: a decimal field's value, a whole field's; both begin with 7
TYPED = {
    "1.5": (1.5, 7), "1,5": (1.5, 7), "0.05": (0.05, 7), "0,05": (0.05, 7), "١٫٥": (1.5, 7),
    "۱٫۵": (1.5, 7), "१२": (12, 12), "１２": (12, 12), "12": (12, 12), "": (7, 7), "-": (7, 7),
    "x": (7, 7), "0.4": (0.4, 7), "0.001": (7, 7), "0": (0, 0),
}  # fmt: skip
PLACES = ("en_US", "de_DE", "fr_FR", "de_CH", "ar_EG", "fa_IR", "hi_IN", "sv_SE")


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Iterator[QLocale]:
    before = QLocale()
    QLocale.setDefault(QLocale(str(request.param)))
    yield QLocale()
    QLocale.setDefault(before)


def _type(box: QSpinBox | QDoubleSpinBox, text: str) -> float:
    """As keys do it, one after the other: a sign that the field refuses is not taken."""
    box.setSpecialValueText("automatic")
    box.setSuffix(" s")
    box.setValue(7)
    box.lineEdit().clear()
    for one in text:
        box.lineEdit().insert(one)
    box.interpretText()
    return box.value()


@pytest.mark.parametrize("text", TYPED)
def test_a_number_typed_with_any_sign_is_that_number(
    qtbot: QtBot, place: QLocale, text: str
) -> None:
    decimal, whole = DecimalBox(), WholeBox()
    qtbot.addWidget(decimal)
    qtbot.addWidget(whole)
    decimal.setRange(0, 100)
    whole.setRange(0, 100_000)
    assert (_type(decimal, text), _type(whole, text)) == TYPED[text]


@pytest.mark.usefixtures("place")
def test_thousands_are_read_as_they_are_shown(qtbot: QtBot) -> None:
    whole = WholeBox()
    qtbot.addWidget(whole)
    whole.setRange(0, 10_000_000)
    whole.setGroupSeparatorShown(True)
    for value in (1500, 15_000, 1_234_567):
        shown = whole.textFromValue(value)
        assert _type(whole, shown) == value
        assert _type(whole, str(value)) == value
    whole.setValue(1500)
    whole.stepUp()
    assert whole.cleanText() == whole.textFromValue(1501)


async def test_every_number_of_the_window_is_read_like_that(running: OpenApp) -> None:
    async with running() as app:
        await fill(app)
        app.window.settings.open()
        found = [*app.window.findChildren(QSpinBox), *app.window.findChildren(QDoubleSpinBox)]
        assert found
        assert [box for box in found if not isinstance(box, WholeBox | DecimalBox)] == []
