"""The dialog that asks for files and folders."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget


def file_dialog(parent: QWidget, title: str, folder: str = "") -> QFileDialog:
    """It begins in `folder`, or in the user's home: the program's current folder is its own. Gone
    once it is closed."""
    dialog = QFileDialog(parent, title, folder or str(Path.home()))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog
