"""The banner and the toast: nothing is covered before it could be read or undone."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from headstart.core.events import NoticeKind
from headstart.ui.shell import notices
from headstart.ui.shell.notices import Banner, Toast
from tests.conftest import OpenApp, until


def test_what_was_told_at_the_start_stays_until_it_is_dismissed(qapp: QApplication) -> None:
    banner = Banner()
    banner.show_text(NoticeKind.START, "2 replies were interrupted.")
    banner.show_text(NoticeKind.PROBLEM, "The model is missing.")
    assert banner.text() == "2 replies were interrupted.\n\nThe model is missing."
    # the problem is over, the other notice is not
    banner.withdraw()
    assert banner.text() == "2 replies were interrupted."
    assert not banner.isHidden()
    banner.dismiss()
    assert banner.isHidden()
    banner.show_text(NoticeKind.PROBLEM, "The disk is full.")
    assert banner.text() == "The disk is full."
    banner.withdraw()
    assert banner.isHidden()


def test_a_notice_about_a_chat_is_shown_there_only(qapp: QApplication) -> None:
    banner = Banner()
    banner.show_text(NoticeKind.START, "A reply was interrupted.", of_chat=True)
    assert banner.of_chat
    banner.belong("a", "new")
    assert banner.isHidden()
    # another notice in another chat is not about it
    banner.show_text(NoticeKind.PROBLEM, "The model is missing.")
    assert banner.text() == "The model is missing."
    banner.withdraw()
    assert banner.isHidden()
    banner.show_in("a")
    assert not banner.isHidden()
    assert banner.text() == "A reply was interrupted."
    banner.show_in("b")
    assert banner.isHidden()
    banner.show_in("a")
    banner.dismiss()
    banner.show_in("a")
    assert banner.isHidden()


def test_an_offer_goes_with_what_it_belongs_to(qapp: QApplication) -> None:
    banner = Banner()
    taken: list[int] = []
    banner.show_text(NoticeKind.PROBLEM, "It does not fit.")
    banner.offer("Use 8,192 tokens", lambda: taken.append(8192))
    # told once more, by another part of the program
    banner.show_text(NoticeKind.PROBLEM, "It does not fit.")
    button = banner.findChild(QPushButton)
    assert button is not None
    assert (button.text(), button.isHidden()) == ("Use 8,192 tokens", False)
    banner.show_text(NoticeKind.PROBLEM, "The disk is full.")
    assert button.isHidden()
    banner.show_text(NoticeKind.PROBLEM, "It does not fit.")
    assert button.isHidden()
    banner.offer("Use 4,096 tokens", lambda: taken.append(4096))
    banner.act()
    assert taken == [4096]
    assert banner.isHidden()


def test_an_undo_comes_back_when_a_text_that_covered_it_is_over(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "PLAIN_MS", 20)
    around = QWidget()
    area = QWidget(around)
    toast = Toast(area)
    undone: list[str] = []
    toast.show_text("Deleted “Rivers”", lambda: undone.append("Rivers"))
    toast.show_text("Exported")
    QTest.qWait(60)
    assert not toast.isHidden()
    toast.undo()
    assert undone == ["Rivers"]
    assert toast.isHidden()


def test_an_undo_that_was_used_is_over(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "TOAST_MS", 30)
    around = QWidget()
    toast = Toast(QWidget(around))
    undone: list[str] = []
    toast.show_text("Deleted “Rivers”", lambda: undone.append("Rivers"))
    toast.undo()
    # the time that it had goes by
    QTest.qWait(80)
    assert undone == ["Rivers"]
    assert toast.isHidden()


def test_what_cannot_be_undone_any_more_is_not_offered(qapp: QApplication) -> None:
    around = QWidget()
    toast = Toast(QWidget(around))
    undone: list[str] = []
    for name in ("Rivers", "Lakes"):
        toast.show_text(f"Deleted “{name}”", lambda name=name: undone.append(name), about=name)  # type: ignore[misc]
    toast.withdraw(["Lakes"])
    assert not toast.isHidden()
    toast.undo()
    assert undone == ["Rivers"]


def test_a_long_text_stays_in_its_pane(qapp: QApplication) -> None:
    around = QWidget()
    area = QWidget(around)
    area.setGeometry(100, 0, 400, 500)
    toast = Toast(area)
    toast.show_text("Exported to /home/somebody/documents/" + "a folder with a long name/" * 5)
    assert area.geometry().contains(toast.geometry())


async def test_what_was_done_is_said_at_the_foot_where_no_chat_is_open(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        await until(lambda: not window.greeting.isHidden())
        window.toast.show_text("Deleted “Rivers”", lambda: None)
        foot = window.greeting.geometry().bottom()
        assert foot - 60 < window.toast.geometry().bottom() < foot
