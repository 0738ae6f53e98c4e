"""Commands of the main window, and the functions that they call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from headstart.chat.titles import NEW_CHAT
from headstart.core.chats.values import ChatSummary, Folder
from headstart.core.knowledge.embedders import SMALL
from headstart.ui.commands import Command, Commands, ItemCommand
from headstart.ui.shell.message_actions import message_commands

if TYPE_CHECKING:
    from headstart.ui.controllers.everything import Controllers
    from headstart.ui.shell.main_window import MainWindow


def fill(commands: Commands, window: MainWindow, controllers: Controllers) -> None:
    """Register every action of this window."""
    commands.fill(
        window_commands(window, controllers),
        chat_commands(window, controllers),
        message_commands(window, controllers),
        folder_commands(window, controllers),
    )


def window_commands(window: MainWindow, controllers: Controllers) -> tuple[Command, ...]:
    return (
        *_of_chats(window, controllers),
        *_of_models(window),
        *_of_views(window),
        *_of_help(window),
    )


def _of_chats(window: MainWindow, controllers: Controllers) -> tuple[Command, ...]:
    open_chat, find = controllers.open, window.find_here
    settings, edit = window.settings, window.composer.edit

    def stored() -> bool:
        return open_chat.stored

    return (
        Command("chat.new", window.new_chat, "plus", "Ctrl+N"),
        Command(
            "chat.new_private", window.new_private_chat, "lock", "Ctrl+Shift+N"
        ),
        Command(
            "chat.export", lambda: _export(window, open_chat.id), "upload",
            "Ctrl+S", stored
        ),
        Command(
            "chat.branches", window.toggle_branches, "git-branch",
            "Ctrl+Shift+B", stored
        ),
        Command("chats.search", window.search, "search", "Ctrl+Shift+F"),
        Command("chat.find", find, "search", "Ctrl+F"),
        Command("chat.next", lambda: window.keyboard.next_chat(1), keys="Ctrl+Down"),
        Command(
            "chat.previous", lambda: window.keyboard.next_chat(-1), keys="Ctrl+Up"
        ),
        Command(
            "chats.export", lambda: window.transfer.export([], ""), "upload"
        ),
        Command(
            "chats.import", window.transfer.ask_files, "download", "Ctrl+Shift+O"
        ),
        Command("chats.import_folder", window.transfer.ask_folder),
        Command("chats.backups", lambda: settings.open("files"), "folder-open"),
        Command("folder.new", window.order.new_folder, "folder-plus"),
        Command("chats.archive", window.order.open_archive, "archive"),
        Command("chats.trash", window.trash.open, "trash-2"),
        Command(
            "composer.attach", window.attachments.ask_files, "paperclip",
            "Ctrl+Shift+A"
        ),
        Command("prompts.open", window.prompts.open, "book-open"),
        Command("composer.focus", edit.setFocus, keys="Ctrl+L"),
        Command("chat.tools", window.show_tools, "wrench"),
        Command("chat.files", window.show_sources, "book-open"),
        Command(
            "files.ask_every", lambda: window.knowledge.ask_every(window.composer.text()),
            "file-text", enabled=lambda: not controllers.reply.writing
        ),
        Command("files.search", window.knowledge.open_search, "search", "Ctrl+Shift+K"),
        Command(
            "reply.answer_tool", window.transcript.walking.answer_call, "hand",
            "Ctrl+Shift+Y"
        ),
        Command("reply.stop", window.escape, "stop", "Esc", always=True)
    )  # fmt: skip


def _of_models(window: MainWindow) -> tuple[Command, ...]:
    pill, pages = window.header.pill, window.pages
    return (
        Command("models.show", pages.show_models, "box", "Ctrl+M"),
        Command(
            "models.discover", lambda: pages.show_models().show_discover(),
            "download"
        ),
        Command(
            "models.embedders",
            lambda: pages.show_models().show_discover("embedding"), "download"
        ),
        Command(
            "models.small_embedder",
            lambda: pages.show_models().show_discover(SMALL), "download"
        ),
        Command("model.open_file", pill.ask_file, "folder-open", "Ctrl+O"),
        Command("model.open_folder", pill.ask_folder),
        Command("model.servers", lambda: window.settings.open("servers"), "globe"),
        Command("app.server", lambda: window.settings.open("server"), "server"),
        Command("model.drafting", window.show_drafting, "zap"),
        Command("cache.sizes", window.sizes.open, "database")
    )  # fmt: skip


def _of_views(window: MainWindow) -> tuple[Command, ...]:
    looks, preferences = window.looks, window.preferences

    def use(theme: str) -> Callable[[], object]:
        return lambda: preferences.update(theme=theme)

    return (
        Command("app.restart", window.restart, "rotate-ccw"),
        Command("app.palette", window.palette_opener.open, "search", "Ctrl+K"),
        Command(
            "view.sidebar", window.panels.toggle_sidebar, "panel-left",
            "Ctrl+B"
        ),
        Command(
            "view.inspector", window.panels.toggle_inspector,
            "panel-right", "Ctrl+I"
        ),
        Command("view.pane", window.keyboard.next_pane, keys="F6"),
        Command(
            "view.pane_back", lambda: window.keyboard.next_pane(-1),
            keys="Shift+F6"
        ),
        Command(
            "view.larger", lambda: looks.larger(1), keys="Ctrl++",
            more_keys=("Ctrl+=",), always=True
        ),
        Command(
            "view.smaller", lambda: looks.larger(-1), keys="Ctrl+-", always=True
        ),
        Command("view.usual", lambda: looks.larger(0), keys="Ctrl+0"),
        Command("view.dark", use("dark"), "palette"),
        Command("view.light", use("light"), "palette"),
        Command("view.system", use("system"), "palette"),
        Command("app.settings", window.settings.open, "settings", "Ctrl+,"),
        Command("app.quit", window.leave, keys="Ctrl+Q", always=True)
    )  # fmt: skip


def _of_help(window: MainWindow) -> tuple[Command, ...]:
    helping = window.help
    return (
        Command("help.guide", helping.guide, "book-open", "F1"),
        Command(
            "help.privacy",
            lambda: helping.guide("privacy.md"),
            "shield",
        ),
        Command("help.tools", lambda: helping.guide("tools.md"), "wrench"),
        Command("help.knowledge", lambda: helping.guide("knowledge.md"), "book-open"),
        Command("help.server", lambda: helping.guide("programs.md"), "server"),
        Command("help.keys", helping.keys, "keyboard", "Ctrl+/"),
        Command("app.news", window.news.open, "info"),
        Command("help.report", helping.report, "bug"),
        Command("help.about", helping.about, "info"),
    )


def chat_commands(
    window: MainWindow, controllers: Controllers
) -> tuple[ItemCommand[ChatSummary], ...]:
    chats = controllers.chat_list
    return (
        ItemCommand(
            "chat.rename",
            lambda chat: window.sidebar.begin_rename(chat.id),
            "pencil",
            "F2",
            shown=lambda chat: not chat.private,
        ),
        ItemCommand(
            "chat.pin",
            lambda chat: chats.pin(chat.id, True),
            "pin",
            shown=lambda chat: not chat.pinned,
        ),
        ItemCommand(
            "chat.unpin",
            lambda chat: chats.pin(chat.id, False),
            "pin-off",
            shown=lambda chat: chat.pinned,
        ),
        ItemCommand(
            "chat.tags",
            lambda chat: window.order.ask_tags([chat]),
            "tag",
            shown=lambda chat: not chat.private,
            many=window.order.ask_tags,
        ),
        ItemCommand(
            "chat.archive",
            lambda chat: controllers.folders.archive([chat.id]),
            "archive",
            shown=lambda chat: not chat.private,
            many=lambda several: controllers.folders.archive([chat.id for chat in several]),
        ),
        ItemCommand(
            "chat.export_this",
            lambda chat: _export(window, chat.id),
            "upload",
            many=lambda several: window.transfer.export(
                [chat.id for chat in several], several[0].title
            ),
        ),
        ItemCommand(
            "chat.copy",
            lambda chat: window.transfer.copy(chat.id, "markdown"),
            "copy",
        ),
        ItemCommand(
            "chat.copy_formatted",
            lambda chat: window.transfer.copy(chat.id, "formatted"),
        ),
        ItemCommand(
            "chat.close_private",
            lambda chat: chats.close_private([chat.id]),
            "x",
            "Del",
            shown=lambda chat: chat.private,
            apart=True,
            many=lambda several: chats.close_private([chat.id for chat in several]),
        ),
        ItemCommand(
            "chat.delete",
            lambda chat: chats.delete([chat.id]),
            "trash-2",
            "Del",
            shown=lambda chat: not chat.private,
            apart=True,
            many=lambda several: chats.delete([chat.id for chat in several]),
        ),
    )


def folder_commands(
    window: MainWindow, controllers: Controllers
) -> tuple[ItemCommand[Folder], ...]:
    return (
        ItemCommand(
            "folder.new_chat",
            lambda folder: window.new_chat(folder=folder),
            "plus",
        ),
        ItemCommand(
            "folder.rename",
            lambda folder: window.sidebar.begin_rename_folder(folder.path),
            "pencil",
            "F2",
        ),
        ItemCommand(
            "folder.settings",
            lambda folder: window.order.open_settings(folder.path),
            "sliders-horizontal",
        ),
        ItemCommand(
            "folder.inside",
            lambda folder: window.order.new_folder(folder.path),
            "folder-plus",
        ),
        ItemCommand(
            "folder.remove",
            lambda folder: controllers.folders.remove(folder.path),
            "trash-2",
            apart=True,
        ),
    )


def _export(window: MainWindow, chat_id: str) -> None:
    title = window.sidebar.model.titles().get(chat_id, NEW_CHAT)
    window.transfer.export([chat_id], title)
