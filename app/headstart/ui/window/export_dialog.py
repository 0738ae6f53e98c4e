"""Asks where a chat's Markdown file should go."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget


def ask_export_path(parent: QWidget, title: str, on_chosen: Callable[[str], None]) -> None:
    """Open the dialog with a file name made from the title; does not wait."""
    name = re.sub(r"[^\w\- ]+", "", title).strip()[:60] or "chat"
    dialog = QFileDialog(parent, "Export as Markdown", str(Path.home()))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter("Markdown (*.md)")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setDefaultSuffix("md")
    dialog.selectFile(f"{name}.md")
    dialog.fileSelected.connect(on_chosen)
    dialog.open()
