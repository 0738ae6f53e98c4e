"""The line above the transcript: title, model, drafting, search, branches, export, and the buttons
of the panels."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from headstart.chat.titles import NEW_CHAT
from headstart.core.text.shown import shortened
from headstart.ui.commands import Commands
from headstart.ui.kit import icons, theme
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.tips import plain_tip
from headstart.ui.models.model_menu import ModelPill
from headstart.ui.wording import say

# px reserved for the title and for the host that gets the text; characters of the host's name
TITLE_WIDTH, HOST_WIDTH, HOST_LENGTH = 64, 96, 28
PRIVATE_WORDS = "shell.nothing-in-chat-saved-deleted"


class TitleLabel(ElidedLabel):
    """A double click renames the chat."""

    rename_wanted = Signal()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        self.rename_wanted.emit()


class Header(QFrame):
    """Widgets only: the window's wiring connects them."""

    drafting_wanted = Signal()  # the settings of drafting

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self.title = TitleLabel(NEW_CHAT, self, TITLE_WIDTH, "chatTitle")
        self.private = QLabel(self)
        self.private.setObjectName("privatePill")
        self.private.setText(say("shell.private"))
        self.private.setToolTip(say(PRIVATE_WORDS))
        self.private.setAccessibleName(say("shell.private-chat"))
        self.private.hide()
        self.remote = ElidedLabel("", self, HOST_WIDTH, "remotePill")
        self.remote.hide()
        self.pill = ModelPill(self)
        self.draft_pill = QPushButton(self)
        self.draft_pill.setObjectName("draftPill")
        self.draft_pill.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.draft_pill.clicked.connect(self.drafting_wanted)
        self.draft_pill.hide()
        self.draft_pill.setIcon(icons.icon("zap", "accent_text"))
        self.sidebar_button = self._button("panel-left")
        self.find_button = self._button("search")
        self.branches = self._button("git-branch", checkable=True)
        self.export_button = self._button("upload")
        self.inspector_button = self._button("panel-right", checkable=True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 0, 12, 0)
        layout.setSpacing(8)
        layout.addWidget(self.sidebar_button)
        for widget in (self.title, self.private, self.pill, self.remote, self.draft_pill):
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(4)
        for button in (self.find_button, self.branches, self.export_button, self.inspector_button):
            row.addWidget(button)
        layout.addLayout(row)
        self._room = True
        # hint and keys of the branches button, from its command
        self._branches = self._branch_keys = ""
        theme.follow(self._measure)

    def tab_order(self) -> list[QWidget]:
        return [
            self.sidebar_button,
            self.pill,
            self.draft_pill,
            self.find_button,
            self.branches,
            self.export_button,
            self.inspector_button,
        ]

    def set_title(self, title: str) -> None:
        """Show the title; “New chat” tells nothing and is hidden."""
        self.title.setToolTip(plain_tip(title))
        self.title.set_full_text(title)
        self.title.setVisible(title != NEW_CHAT)

    def set_begun(self, begun: bool) -> None:
        """Show the buttons of a chat with messages: an empty one has nothing to find or export."""
        for button in (self.find_button, self.branches, self.export_button):
            button.setVisible(begun)
        self.setProperty("bare", not begun)
        self.style().unpolish(self)
        self.style().polish(self)

    def set_wide(self, wide: bool) -> None:
        """Show the draft only in a `wide` window: a narrow one has no room."""
        self._room = wide
        self.draft_pill.setVisible(wide and bool(self.draft_pill.text()))

    def show_branches(self, count: int) -> None:
        """Show the number of branches if there are several."""
        many = say("shell.count-branches-of-chat", count=count)
        self.branches.setAccessibleName(many if count > 1 else say("shell.branches-of-chat"))
        self.branches.setToolTip(f"{many} ({self._branch_keys})" if count > 1 else self._branches)

    def show_host(self, host: str, here: bool = False) -> None:
        """Name the host that gets the text of this chat; "" for none. `here`: a program on this
        computer."""
        short = shortened(host, HOST_LENGTH)
        self.remote.set_full_text(say("shell.on-short", short=short))
        self.remote.setToolTip(
            say("shell.another-program-on-computer-answers-host", host=host)
            if here
            else say("shell.text-of-chat-leaves-computer", host=host)
        )
        self.remote.setAccessibleName(say("shell.text-sent-to-host", host=host))
        self.remote.setVisible(bool(host))
        self.private.setToolTip(
            say("shell.nothing-in-chat-saved-here", host=host) if host else say(PRIVATE_WORDS)
        )

    def show_draft(self, name: str, gain: str) -> None:
        """Show the draft of this chat ("" for none) and its gain, if any."""
        words = say("shell.drafting-gain", gain=gain) if gain else say("shell.drafting")
        self.draft_pill.setText(words if name else "")
        told = say("shell.drafts-faster" if gain else "shell.name-drafts", name=name, gain=gain)
        self.draft_pill.setToolTip(told if name else "")
        self.draft_pill.setAccessibleName(say("shell.drafting-told", told=told))
        self.draft_pill.setVisible(bool(name) and self._room)

    def set_commands(self, commands: Commands) -> None:
        commands.bind(self.sidebar_button, "view.sidebar")
        commands.bind(self.find_button, "chat.find")
        commands.bind(self.branches, "chat.branches")
        commands.bind(self.export_button, "chat.export")
        commands.bind(self.inspector_button, "view.inspector")
        self._branches = self.branches.toolTip()
        self._branch_keys = self._branches.rpartition("(")[2].rstrip(")")
        self.pill.set_commands(commands)

    def show_panel(self, inspector: bool, branches: bool) -> None:
        """Show which of the panels on the right is open."""
        self.inspector_button.setChecked(inspector)
        self.branches.setChecked(branches)

    def _measure(self) -> None:
        self.setFixedHeight(theme.px(48))

    def _button(self, icon: str, checkable: bool = False) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName("bar")
        button.setIcon(icons.icon(icon, checked="accent_text"))
        button.setCheckable(checkable)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button
