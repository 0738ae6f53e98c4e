"""Small buttons: an icon, perhaps with a word. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from headstart.ui import icons, theme


def small_tool(parent: QWidget, icon: str, text: str = "", name: str = "") -> QToolButton:
    """`name` says what it does where `text` does not; the icon may be "" for none."""
    button = QToolButton(parent)
    button.setObjectName("small")
    button.setIconSize(QSize(14, 14))
    button.setText(text)
    button.setAccessibleName(name or text)
    button.setToolTip(name)
    if text:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    dress(button, icon)
    return button


def dress(button: QToolButton, icon: str) -> None:
    """In the theme's font and colours of now."""
    if icon:
        button.setIcon(icons.icon(icon))
    button.setFont(theme.text_font(theme.SMALL_SIZE))
