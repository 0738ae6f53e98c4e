"""The dialog that asks for files and folders."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget


def file_dialog(parent: QWidget, title: str, folder: str = "") -> QFileDialog:
    """Create a dialog that starts in `folder`, or in the user's home, not in the program's working
    folder. Closing deletes it."""
    dialog = QFileDialog(parent, title, folder or str(Path.home()))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog
