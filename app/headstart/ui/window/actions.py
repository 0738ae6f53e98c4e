"""What the main window's user can do: every command, with what it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from headstart.core.values import ChatSummary, Folder, Message, MessageStatus, Role
from headstart.ui.commands import Command, Commands, ItemCommand

if TYPE_CHECKING:
    from headstart.ui.controllers.everything import Controllers
    from headstart.ui.window.main_window import MainWindow

# a reply that ended like this can be gone on with
_CUT = (MessageStatus.STOPPED, MessageStatus.INTERRUPTED, MessageStatus.FAILED)


def make_commands(window: MainWindow, controllers: Controllers) -> Commands:
    return Commands(
        window_commands(window, controllers),
        chat_commands(window, controllers),
        message_commands(window, controllers),
        folder_commands(window, controllers),
    )


def window_commands(window: MainWindow, controllers: Controllers) -> tuple[Command, ...]:
    pill, open_chat = window.header.pill, controllers.open
    return (
        Command("chat.new", "New chat", window.new_chat, "plus", "Ctrl+N"),
        Command(
            "chat.new_private",
            "New private chat: leaves nothing on disk",
            window.new_private_chat,
            "lock",
            "Ctrl+Shift+N",
        ),
        Command(
            "chat.export",
            "Export this chat…",
            lambda: window.ask_export(open_chat.id),
            "upload",
            "Ctrl+S",
            lambda: open_chat.stored,
        ),
        Command(
            "chat.branches",
            "Branches of this chat…",
            controllers.versions.map,
            "git-branch",
            "Ctrl+Shift+B",
            lambda: open_chat.stored,
        ),
        Command("app.palette", "Go to anything", window.palette_opener.open, "search", "Ctrl+K"),
        Command("chats.search", "Search all chats", window.search, "search", "Ctrl+Shift+F"),
        Command("chat.find", "Find in this chat", window.find_here, "search", "Ctrl+F"),
        Command(
            "chats.export", "Export all chats…", lambda: window.transfer.export([], ""), "upload"
        ),
        Command(
            "chats.import", "Import chats…", window.transfer.ask_files, "download", "Ctrl+Shift+O"
        ),
        Command("chats.import_folder", "Import chats from a folder…", window.transfer.ask_folder),
        Command("chats.backups", "Backups…", lambda: window.settings.open("files"), "folder-open"),
        Command("folder.new", "New folder…", window.order.new_folder, "folder-plus"),
        Command("chats.archive", "Archived chats…", window.order.open_archive, "archive"),
        Command("chats.trash", "Recently deleted…", window.trash.open, "trash-2"),
        Command("models.show", "Models", window.pages.show_models, "box", "Ctrl+M"),
        Command(
            "models.discover",
            "Get more models…",
            lambda: window.pages.show_models().show_discover(),
            "download",
        ),
        Command("model.open_file", "Open model file…", pill.ask_file, "folder-open", "Ctrl+O"),
        Command("model.open_folder", "Open MLX folder…", pill.ask_folder),
        Command("model.servers", "Servers…", lambda: window.settings.open("servers"), "server"),
        Command(
            "view.sidebar",
            "Show or hide the chats",
            window.panels.toggle_sidebar,
            "panel-left",
            "Ctrl+B",
        ),
        Command(
            "view.inspector",
            "Show or hide the chat's settings",
            window.panels.toggle_inspector,
            "panel-right",
            "Ctrl+I",
        ),
        Command("app.settings", "Settings", window.settings.open, "settings", "Ctrl+,"),
        Command("app.news", "What’s new", window.news.open),
        Command("app.quit", "Quit Headstart", window.close, keys="Ctrl+Q"),
        Command(
            "composer.attach",
            "Attach files…",
            window.attachments.ask_files,
            "paperclip",
            "Ctrl+Shift+A",
        ),
        Command("prompts.open", "Prompts and presets…", window.prompts.open, "book-open"),
        Command("composer.focus", "Write a message", window.composer.edit.setFocus, keys="Ctrl+L"),
        Command("reply.stop", "Stop writing", window.escape, "stop", "Esc"),
    )


def chat_commands(
    window: MainWindow, controllers: Controllers
) -> tuple[ItemCommand[ChatSummary], ...]:
    chats = controllers.chat_list
    return (
        ItemCommand(
            "chat.rename",
            "Rename",
            lambda chat: window.sidebar.begin_rename(chat.id),
            "pencil",
            "F2",
        ),
        ItemCommand(
            "chat.pin",
            "Pin",
            lambda chat: chats.pin(chat.id, True),
            "pin",
            shown=lambda chat: not chat.pinned,
        ),
        ItemCommand(
            "chat.unpin",
            "Unpin",
            lambda chat: chats.pin(chat.id, False),
            "pin-off",
            shown=lambda chat: chat.pinned,
        ),
        ItemCommand(
            "chat.tags",
            "Tags…",
            lambda chat: window.order.ask_tags([chat]),
            "tag",
            shown=lambda chat: not chat.private,
            many=window.order.ask_tags,
        ),
        ItemCommand(
            "chat.archive",
            "Archive",
            lambda chat: controllers.folders.archive([chat.id]),
            "archive",
            shown=lambda chat: not chat.private,
            many=lambda several: controllers.folders.archive([chat.id for chat in several]),
        ),
        ItemCommand(
            "chat.export_this",
            "Export…",
            lambda chat: window.ask_export(chat.id),
            "upload",
            many=lambda several: window.transfer.export(
                [chat.id for chat in several], several[0].title
            ),
        ),
        ItemCommand(
            "chat.copy",
            "Copy as Markdown",
            lambda chat: window.transfer.copy(chat.id, "markdown"),
            "copy",
        ),
        ItemCommand(
            "chat.copy_formatted",
            "Copy with formatting",
            lambda chat: window.transfer.copy(chat.id, "formatted"),
        ),
        ItemCommand(
            "chat.delete",
            "Delete",
            lambda chat: chats.delete([chat.id]),
            "trash-2",
            "Del",
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
            "New chat here",
            lambda folder: window.new_chat(folder=folder),
            "plus",
        ),
        ItemCommand(
            "folder.rename",
            "Rename",
            lambda folder: window.sidebar.begin_rename_folder(folder.path),
            "pencil",
            "F2",
        ),
        ItemCommand(
            "folder.settings",
            "System prompt, model and settings…",
            lambda folder: window.order.open_settings(folder.path),
            "sliders-horizontal",
        ),
        ItemCommand(
            "folder.inside",
            "New folder inside…",
            lambda folder: window.order.new_folder(folder.path),
            "folder-plus",
        ),
        ItemCommand(
            "folder.remove",
            "Remove the folder, keep its chats",
            lambda folder: controllers.folders.remove(folder.path),
            "trash-2",
            apart=True,
        ),
    )


def message_commands(
    window: MainWindow, controllers: Controllers
) -> tuple[ItemCommand[Message], ...]:
    talk = controllers.conversation
    return (
        ItemCommand("message.copy", "Copy", _copy, "copy", shown=_has_text),
        ItemCommand(
            "message.regenerate",
            "Regenerate",
            lambda message: talk.regenerate(message.id),
            "rotate-ccw",
            shown=lambda message: _is_reply(message) and message.status is not MessageStatus.OPEN,
            needs_idle=True,
        ),
        ItemCommand(
            "message.regenerate_with",
            "Regenerate with…",
            lambda message: window.regenerate_with(message.id),
            "box",
            shown=lambda message: _is_reply(message) and message.status is not MessageStatus.OPEN,
            needs_idle=True,
        ),
        ItemCommand(
            "message.continue",
            "Continue",
            lambda message: talk.continue_reply(message.id),
            "play",
            shown=lambda message: (
                _is_reply(message) and message.status in _CUT and bool(message.parts)
            ),
            needs_idle=True,
        ),
        ItemCommand(
            "message.edit",
            "Edit",
            lambda message: window.transcript.begin_edit(message.id),
            "pencil",
            shown=lambda message: message.status is not MessageStatus.OPEN,
            needs_idle=True,
        ),
        *branch_commands(window, controllers),
    )


def branch_commands(
    window: MainWindow, controllers: Controllers
) -> tuple[ItemCommand[Message], ...]:
    talk, versions = controllers.conversation, controllers.versions

    def is_done(message: Message) -> bool:
        return _is_reply(message) and message.status is not MessageStatus.OPEN

    return (
        ItemCommand(
            "message.try_three",
            "Try three more",
            lambda message: versions.try_several(message.id, 3),
            "rotate-ccw",
            shown=is_done,
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.precise",
            "Regenerate, most likely words",
            lambda message: talk.regenerate(message.id, None, 0.0),
            shown=is_done,
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.varied",
            "Regenerate, more varied",
            lambda message: talk.regenerate(message.id, None, 1.0),
            shown=is_done,
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.compare",
            "Compare versions…",
            lambda message: versions.compare(message.id),
            "columns-2",
            shown=lambda message: message.versions > 1,
            minor=True,
            apart=True,
        ),
        ItemCommand(
            "message.answer",
            "Answer this again",
            lambda message: versions.answer(message.id),
            "play",
            shown=lambda message: not _is_reply(message),
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.branch",
            "Branch into a new chat",
            lambda message: versions.branch_off(message.id),
            "git-branch",
            minor=True,
        ),
        ItemCommand(
            "message.insert",
            "Insert a message after this…",
            lambda message: window.dialogs.ask_insert(message.id),
            "plus",
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.remove",
            "Delete from here on",
            lambda message: versions.remove(message.id),
            "trash-2",
            needs_idle=True,
            minor=True,
            apart=True,
        ),
    )


def _copy(message: Message) -> None:
    QGuiApplication.clipboard().setText(message.text)


def _is_reply(message: Message) -> bool:
    return message.role is Role.ASSISTANT


def _has_text(message: Message) -> bool:
    return message.status is not MessageStatus.OPEN and bool(message.text)
