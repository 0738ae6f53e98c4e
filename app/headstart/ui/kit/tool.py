"""Small buttons: an icon, optionally with text. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from headstart.ui.kit import icons


def small_tool(
    parent: QWidget, icon: str, text: str = "", name: str = "", tab: bool = True
) -> QToolButton:
    """Create a button; `name` describes it if `text` does not; `icon` may be "" for none. Without
    `tab` the area around it manages its keyboard focus."""
    button = QToolButton(parent)
    button.setObjectName("small")
    button.setText(text)
    button.setAccessibleName(name or text)
    button.setToolTip(name)
    if text:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    policy = Qt.FocusPolicy
    button.setFocusPolicy(policy.TabFocus if tab else policy.NoFocus)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    if icon:
        button.setIcon(icons.icon(icon))
    return button
