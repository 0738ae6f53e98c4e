"""Copies the selection to the clipboard, in forms for all kinds of programs. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

from headstart.ui.transcript.selecting import Selecting


def copy_shown(selecting: Selecting) -> None:
    """Copy the text as shown, and as HTML for programs that support formatting."""
    text = selecting.text()
    if text:
        data = QMimeData()
        data.setText(text)
        data.setHtml(selecting.html())
        QGuiApplication.clipboard().setMimeData(data)


def copy_plain(selecting: Selecting) -> None:
    _copy(selecting.text())


def copy_markdown(selecting: Selecting) -> None:
    _copy(selecting.markdown())


def _copy(text: str) -> None:
    if text:
        QGuiApplication.clipboard().setText(text)
