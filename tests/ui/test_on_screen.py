"""The window fits its screen, whatever size it had on another one."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget

from headstart.ui.shell.on_screen import OnScreen, placed
from tests.support.patience import PatientBot

SCREEN = QRect(0, 30, 1400, 870)
CASES = (
    (QRect(100, 100, 800, 600), QRect(100, 100, 800, 600)),
    (QRect(0, 0, 3400, 1900), SCREEN),
    (QRect(2000, 100, 800, 600), QRect(600, 100, 800, 600)),
    (QRect(-500, -500, 800, 600), QRect(0, 30, 800, 600)),
    (QRect(0, 30, 1400, 900), SCREEN),
)


@pytest.mark.parametrize(("frame", "right"), CASES)
def test_a_frame_is_moved_and_shrunk_as_little_as_may_be(frame: QRect, right: QRect) -> None:
    assert placed(frame, SCREEN) == right
    assert SCREEN.contains(placed(frame, SCREEN))


def test_a_window_that_was_larger_than_the_screen_fits_it(qtbot: PatientBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(3400, 1900)
    keeper = OnScreen(window)
    keeper.fit()
    area = window.screen().availableGeometry()
    assert window.width() <= area.width()
    assert window.height() <= area.height()
    window.show()
    # as after a change of screens
    window.resize(area.width() + 500, area.height() + 500)
    window.move(area.right() - 10, area.bottom() - 10)
    keeper.fit()
    assert area.contains(window.geometry())
