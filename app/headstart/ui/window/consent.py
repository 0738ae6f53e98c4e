"""Asks, once for each server, whether the words of a chat may leave this computer."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from headstart.core.servers import Connection


def ask_consent(
    parent: QWidget,
    answered: Callable[[], None],
    connection: Connection,
    allowed: Callable[[], None],
) -> None:
    """Show the question; `allowed` is called when the user agrees, `answered` in any case."""
    box = QMessageBox(parent)
    box.setWindowTitle("Send text to a server?")
    box.setText(f"Chats with this model are sent to {connection.host}.")
    safe = connection.url.startswith("https://")
    way = (
        "The connection is encrypted."
        if safe
        else "The connection is not encrypted: others on the network could read it."
    )
    box.setInformativeText(
        f"The text of such chats leaves this computer. {way}\n\n"
        f"Your answer holds for the server “{connection.name}” until its address changes."
    )
    yes = box.addButton("Send", QMessageBox.ButtonRole.AcceptRole)
    box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def on_answer() -> None:
        if box.clickedButton() is yes:
            allowed()
        answered()

    box.finished.connect(on_answer)
    box.open()
