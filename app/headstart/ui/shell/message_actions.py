"""Commands of messages, for the row of buttons and the menu, and the functions they call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from headstart.core.chats.parts import CoveragePart, PassagePart, SearchPart
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.ui.commands import ItemCommand

if TYPE_CHECKING:
    from headstart.ui.controllers.everything import Controllers
    from headstart.ui.shell.main_window import MainWindow

# states of a reply that can be continued
_CUT = (MessageStatus.STOPPED, MessageStatus.INTERRUPTED, MessageStatus.FAILED)


def message_commands(
    window: MainWindow, controllers: Controllers
) -> tuple[ItemCommand[Message], ...]:
    talk = controllers.conversation
    return (
        ItemCommand("message.copy", _copy, "copy", shown=_has_text),
        ItemCommand(
            "message.regenerate",
            lambda message: talk.regenerate(message.id),
            "rotate-ccw",
            shown=lambda message: _is_reply(message) and message.status is not MessageStatus.OPEN,
            needs_idle=True,
        ),
        ItemCommand(
            "message.regenerate_with",
            lambda message: window.sending.regenerate_with(message.id),
            "box",
            shown=lambda message: _is_reply(message) and message.status is not MessageStatus.OPEN,
            needs_idle=True,
        ),
        ItemCommand(
            "message.continue",
            lambda message: talk.continue_reply(message.id),
            "play",
            shown=lambda message: (
                _is_reply(message) and message.status in _CUT and bool(message.parts)
            ),
            needs_idle=True,
            prominent=True,
        ),
        ItemCommand(
            "message.edit",
            lambda message: window.transcript.begin_edit(message.id),
            "pencil",
            shown=lambda message: message.status is not MessageStatus.OPEN,
            needs_idle=True,
        ),
        *_branch_commands(window, controllers),
    )


def _branch_commands(
    window: MainWindow, controllers: Controllers
) -> tuple[ItemCommand[Message], ...]:
    talk, versions = controllers.conversation, controllers.versions

    def is_done(message: Message) -> bool:
        return _is_reply(message) and message.status is not MessageStatus.OPEN

    return (
        ItemCommand(
            "message.try_three",
            lambda message: versions.try_several(message.id, 3),
            "rotate-ccw",
            shown=is_done,
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.precise",
            lambda message: talk.regenerate(message.id, None, 0.0),
            shown=is_done,
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.varied",
            lambda message: talk.regenerate(message.id, None, 1.0),
            shown=is_done,
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.compare",
            lambda message: versions.compare(message.id),
            "columns-2",
            shown=lambda message: message.versions > 1,
            minor=True,
            apart=True,
        ),
        ItemCommand(
            "message.answer",
            lambda message: versions.answer(message.id),
            "play",
            shown=lambda message: not _is_reply(message),
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.search_again",
            lambda message: talk.search_again(message.id),
            "search",
            shown=lambda message: any(
                isinstance(one, PassagePart | CoveragePart | SearchPart) for one in message.parts
            ),
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.branch",
            lambda message: versions.branch_off(message.id),
            "git-branch",
            minor=True,
        ),
        ItemCommand(
            "message.insert",
            lambda message: window.dialogs.ask_insert(message.id),
            "plus",
            needs_idle=True,
            minor=True,
        ),
        ItemCommand(
            "message.remove",
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
