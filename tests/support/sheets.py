"""Sheets of the window, as tests answer them."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from headstart.ui.kit.asking import Question, TextQuestion
from headstart.ui.kit.sheet import sheet_over


def asked(window: QWidget) -> Question | None:
    """The question that is in front, if there is one."""
    sheet = sheet_over(window.window())
    return sheet if isinstance(sheet, Question) else None


def agree(window: QWidget) -> None:
    question = asked(window)
    assert question is not None
    question.yes.click()


def refuse(window: QWidget) -> None:
    """Answer as Enter does."""
    question = asked(window)
    assert question is not None
    assert question.no.isDefault()
    question.no.click()


def write(window: QWidget, text: str) -> None:
    """Answer the line that a sheet asks for."""
    sheet = sheet_over(window.window())
    assert isinstance(sheet, TextQuestion)
    sheet.line.setText(text)
    sheet.yes.click()
