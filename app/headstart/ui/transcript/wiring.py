"""Connects the transcript with the controllers."""

from __future__ import annotations

from headstart.core.values import BranchPage, Chat
from headstart.ui.commands import Commands
from headstart.ui.controllers.everything import Controllers
from headstart.ui.transcript.find_bar import FindBar
from headstart.ui.transcript.view import TranscriptView


def connect(
    view: TranscriptView, bar: FindBar, controllers: Controllers, commands: Commands
) -> None:
    branch, reply, talk = controllers.branch, controllers.reply, controllers.conversation

    def show(_chat: Chat, page: BranchPage, same_chat: bool) -> None:
        view.set_branch(page.messages, same_chat, page.earlier)

    view.host.commands = commands.message
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
    _connect_finding(view, bar, controllers)


def _connect_finding(view: TranscriptView, bar: FindBar, controllers: Controllers) -> None:
    branch, finding = controllers.branch, controllers.finding
    # a place that is reached once its messages are here
    wanted: list[tuple[str, int]] = []

    def go(message_id: str, number: int, shown: bool) -> None:
        if not (shown and view.reaching.go_to(message_id, number)):
            wanted[:] = [(message_id, number)]
            branch.open_at(controllers.open.id, message_id)

    def on_reached(message_id: str) -> None:
        number = next((place for one, place in wanted if one == message_id), -1)
        wanted.clear()
        view.reaching.go_to(message_id, number)
        if number < 0:
            bar.reach(message_id)

    def look(query: str, everywhere: bool) -> None:
        view.reaching.look_for(query)
        finding.find_here(query, everywhere)

    bar.looked_for.connect(look)
    bar.chosen.connect(go)
    bar.closed.connect(view.setFocus)
    finding.found_here.connect(bar.set_found)
    finding.changed_here.connect(bar.look_again)
    branch.reached.connect(on_reached)
    controllers.open.opened.connect(bar.leave)
