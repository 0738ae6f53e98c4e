"""Connects the sidebar with the controllers."""

from __future__ import annotations

from headstart.ui.commands import Commands
from headstart.ui.controllers.everything import Controllers
from headstart.ui.sidebar.sidebar import Sidebar


def connect(sidebar: Sidebar, controllers: Controllers, commands: Commands) -> None:
    sidebar.set_commands(commands)
    chats = controllers.chat_list
    sidebar.rename_requested.connect(chats.rename)
    chats.listed.connect(sidebar.set_chats)
    chats.line_changed.connect(sidebar.set_chat)
    chats.status_changed.connect(sidebar.model.set_writing)
    controllers.branch.chat_shown.connect(lambda chat, *_: sidebar.show_current(chat.id))
