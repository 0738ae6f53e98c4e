"""Connects the transcript with the controllers."""

from __future__ import annotations

from headstart.core.values import BranchPage, Chat
from headstart.ui.commands import Commands
from headstart.ui.controllers.everything import Controllers
from headstart.ui.transcript.view import TranscriptView


def connect(view: TranscriptView, controllers: Controllers, commands: Commands) -> None:
    branch, reply, talk = controllers.branch, controllers.reply, controllers.conversation

    def show(_chat: Chat, page: BranchPage, same_chat: bool) -> None:
        view.set_branch(page.messages, same_chat, page.earlier)

    view.commands = commands.message
    view.edit_submitted.connect(talk.edit)
    view.version_requested.connect(talk.show_version)
    view.earlier_requested.connect(branch.show_earlier)
    branch.chat_shown.connect(show)
    branch.earlier_shown.connect(view.show_earlier)
    branch.message_changed.connect(view.set_message)
    reply.reply_origins.connect(view.reply.show_origins)
    reply.reply_text.connect(view.reply.show)
    reply.reply_progress.connect(view.show_progress)
    reply.writing_changed.connect(view.set_writing)
