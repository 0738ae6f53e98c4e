"""The line above the transcript: title, model, draft, export, and what hides the panels."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from headstart.chat.titles import NEW_CHAT
from headstart.core.text import shortened
from headstart.ui import icons
from headstart.ui.commands import Commands
from headstart.ui.elided import ElidedLabel
from headstart.ui.models.model_menu import ModelPill

# a draft's name is shown up to this length; the whole one is in the tool tip
NAME_LENGTH = 20
# pixels that are left to the title, whatever else is shown
TITLE_WIDTH, NARROW_TITLE_WIDTH = 120, 64
# and to the name of who else gets the text
HOST_WIDTH = 132
HOST_LENGTH = 28
PRIVATE_WORDS = "Nothing of this chat is written to disk; it ends with Headstart."


class Header(QFrame):
    """Widgets only: the window's wiring connects them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self.setFixedHeight(48)
        self.title = ElidedLabel(NEW_CHAT, self)
        self.title.setObjectName("chatTitle")
        self.title.setMinimumWidth(TITLE_WIDTH)
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.private = QLabel("private", self)
        self.private.setObjectName("privatePill")
        self.private.setToolTip(PRIVATE_WORDS)
        self.private.setAccessibleName("A private chat")
        self.private.setFixedHeight(28)
        self.private.hide()
        self.remote = ElidedLabel("", self, HOST_WIDTH)
        self.remote.setObjectName("remotePill")
        self.remote.setFixedHeight(28)
        self.remote.hide()
        self.pill = ModelPill(self)
        self.draft_pill = ElidedLabel("", self, HOST_WIDTH, name="draftPill")
        self.draft_pill.setFixedHeight(28)
        self.draft_pill.hide()
        self.sidebar_button = self._button()
        self.branches = self._button()
        self.branches.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.branches.hide()
        self.export_button = self._button()
        self.export_button.setText("Export")
        self.export_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.inspector_button = self._button()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 0, 12, 0)
        layout.setSpacing(8)
        layout.addWidget(self.sidebar_button)
        layout.addWidget(self.title, 1)
        for widget in (
            self.private,
            self.pill,
            self.remote,
            self.draft_pill,
            self.branches,
            self.export_button,
            self.inspector_button,
        ):
            layout.addWidget(widget)

    def set_title(self, title: str) -> None:
        self.title.setToolTip(title)
        self.title.set_full_text(title)

    def set_wide(self, wide: bool) -> None:
        """In a narrow window “Export” is a picture only, and the title short: who answers matters
        more."""
        self.title.setMinimumWidth(TITLE_WIDTH if wide else NARROW_TITLE_WIDTH)
        style = Qt.ToolButtonStyle
        self.export_button.setToolButtonStyle(
            style.ToolButtonTextBesideIcon if wide else style.ToolButtonIconOnly
        )

    def show_branches(self, count: int) -> None:
        """How many ways the chat goes; one is not worth a word."""
        self.branches.setText(f"{count:,}")
        self.branches.setAccessibleName(f"{count:,} branches of this chat")
        self.branches.setVisible(count > 1)

    def show_host(self, host: str) -> None:
        """Who else gets the text of this chat; "" for nobody."""
        short = shortened(host, HOST_LENGTH)
        self.remote.set_full_text(f"on {short}")
        self.remote.setToolTip(f"The text of this chat leaves this computer: {host} gets it.")
        self.remote.setAccessibleName(f"Text is sent to {host}")
        self.remote.setVisible(bool(host))
        self.private.setToolTip(
            f"Nothing of this chat is written to disk here; but its text is sent to {host}."
            if host
            else PRIVATE_WORDS
        )

    def show_draft(self, name: str, loaded: bool, room: bool) -> None:
        """The draft of the chat ("" for none), and whether it is really there."""
        short = shortened(name, NAME_LENGTH)
        self.draft_pill.set_full_text(f"draft: {short}{'' if loaded else ' · not loaded yet'}")
        self.draft_pill.setToolTip(name)
        self.draft_pill.setVisible(bool(name) and room)

    def set_commands(self, commands: Commands) -> None:
        commands.bind(self.sidebar_button, "view.sidebar")
        commands.bind(self.branches, "chat.branches")
        commands.bind(self.export_button, "chat.export")
        commands.bind(self.inspector_button, "view.inspector")
        self.pill.set_commands(commands)
        self.refresh_theme()

    def refresh_theme(self) -> None:
        self.sidebar_button.setIcon(icons.icon("panel-left"))
        self.inspector_button.setIcon(icons.icon("panel-right"))
        self.export_button.setIcon(icons.icon("upload"))
        self.branches.setIcon(icons.icon("git-branch"))

    def _button(self) -> QToolButton:
        button = QToolButton(self)
        button.setIconSize(QSize(16, 16))
        return button
