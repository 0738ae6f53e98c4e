"""The buttons below the text of a message: attach, prompts, tools. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from headstart.chat.agent.costs import ToolCosts
from headstart.ui.kit import icons
from headstart.ui.kit.hover import settle_after
from headstart.ui.kit.joining import sentences
from headstart.ui.kit.tool import small_tool
from headstart.ui.wording import say

# paddings and gaps around the words of a button, in pixels
_AROUND = 20


class ComposerButtons:
    """The buttons are children of `parent`."""

    def __init__(self, parent: QWidget) -> None:
        self.attach = small_tool(
            parent, "paperclip", say("composer.attach"), say("composer.attach-files-to-message")
        )
        # files, and resources of tool servers
        self.attach_menu = QMenu(self.attach)
        settle_after(self.attach_menu, self.attach)
        name = say("composer.prompts-or-type-in-message")
        self.prompts = small_tool(parent, "square-slash", say("composer.prompts"), name)
        self.prompts.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.prompts_menu = QMenu(self.prompts)
        settle_after(self.prompts_menu, self.prompts)
        self.prompts.setMenu(self.prompts_menu)
        name = say("composer.tools-of-chat")
        self.tools = small_tool(parent, "wrench", say("composer.tools"), name)

    @property
    def all(self) -> tuple[QToolButton, QToolButton, QToolButton]:
        return self.attach, self.prompts, self.tools

    def set_attach_choices(self, more: bool) -> None:
        """`more`: there is more to attach than files, so the button opens a menu."""
        modes = QToolButton.ToolButtonPopupMode
        self.attach.setMenu(self.attach_menu if more else None)  # type: ignore[arg-type]
        self.attach.setPopupMode(modes.InstantPopup if more else modes.DelayedPopup)

    def words_width(self) -> int:
        """The width of the buttons with their words, in pixels."""
        beside = icons.size() + _AROUND
        return sum(one.fontMetrics().horizontalAdvance(one.text()) + beside for one in self.all)

    def set_narrow(self, narrow: bool) -> None:
        """Show icons only in a narrow window."""
        styles = Qt.ToolButtonStyle
        style = styles.ToolButtonIconOnly if narrow else styles.ToolButtonTextBesideIcon
        for button in self.all:
            button.setToolButtonStyle(style)

    def show_costs(self, costs: ToolCosts) -> None:
        """Show the number of tools that are on, and the tokens that they take."""
        count = len(costs.on)
        text = say("composer.tools-on", count=count) if count else say("composer.tools")
        self.tools.setText(text)
        code = "composer.tools-cost" if costs.counted else "composer.tools-about-cost"
        said = say(code, count=costs.together) if count else say("composer.tools-of-chat")
        self.tools.setToolTip(said)
        self.tools.setAccessibleName(sentences(text, said) if count else said)
        self.tools.setIcon(icons.icon("wrench", "accent_text" if count else "quiet"))
