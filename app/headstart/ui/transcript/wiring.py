"""Connects the transcript with the controllers, and opens the views about branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from headstart.core.chats.sections import ReplySections
from headstart.core.chats.tree import TreeNode
from headstart.core.chats.values import BranchPage, Chat, Message, Role
from headstart.ui.commands import Commands
from headstart.ui.controllers.everything import Controllers
from headstart.ui.controllers.reply import ReplyController
from headstart.ui.kit.aloud import is_heard
from headstart.ui.kit.one_window import OneWindow
from headstart.ui.transcript.find_bar import FindBar
from headstart.ui.transcript.view import TranscriptView

if TYPE_CHECKING:
    from headstart.ui.transcript.branch_panel import BranchPanel
    from headstart.ui.transcript.compare_window import CompareWindow
    from headstart.ui.transcript.insert_window import InsertWindow
    from headstart.ui.transcript.spoken import SpokenReply


def connect(
    view: TranscriptView, bar: FindBar, controllers: Controllers, commands: Commands
) -> None:
    branch, reply, talk = controllers.branch, controllers.reply, controllers.conversation

    def show(_chat: Chat, page: BranchPage, same_chat: bool) -> None:
        view.host.citing.set_earlier(page.given)
        view.set_branch(page.messages, same_chat, page.earlier)

    view.host.commands = commands.message
    view.edit_submitted.connect(controllers.versions.submit_edit)
    view.version_requested.connect(talk.show_version)
    view.earlier_requested.connect(branch.show_earlier)
    branch.chat_shown.connect(show)
    branch.earlier_shown.connect(view.show_earlier)
    branch.message_changed.connect(view.set_message)
    reply.reply_shown.connect(view.reply.show)
    view.host.call_answered.connect(reply.answer_call)
    view.host.call_stopped.connect(reply.stop_call)
    view.host.result_opened.connect(controllers.tools.open_result)
    reply.reply_progress.connect(view.show_progress)
    reply.writing_changed.connect(view.set_writing)
    view.host.thumbnails = controllers.pictures.thumbnail
    controllers.pictures.ready.connect(view.host.picture_ready)
    _connect_finding(view, bar, controllers)


def connect_spoken(
    view: TranscriptView, reply: ReplyController, wanted: Callable[[], bool]
) -> None:
    """Have replies read to who hears the window, if `wanted`."""

    def found(message_id: str) -> Message | None:
        item = view.column.find(message_id)
        return None if item is None else item.message

    readers: list[SpokenReply] = []

    def reader() -> SpokenReply | None:
        # made for who hears the window; the start does without
        if not readers and is_heard():
            from headstart.ui.transcript.spoken import SpokenReply

            readers.append(SpokenReply(view, wanted, found))
        return readers[0] if readers else None

    def grow(message_id: str, sections: ReplySections) -> None:
        if (one := reader()) is not None:
            one.grow(message_id, sections)

    def set_writing(writing: bool) -> None:
        if (one := reader()) is not None:
            one.set_writing(writing)

    reply.reply_shown.connect(grow)
    reply.writing_changed.connect(set_writing)


def _connect_finding(view: TranscriptView, bar: FindBar, controllers: Controllers) -> None:
    branch, finding = controllers.branch, controllers.finding
    # the match to go to once its message is loaded
    wanted: list[tuple[str, int]] = []

    def go(message_id: str, number: int, shown: bool) -> None:
        if not (shown and view.reaching.go_to(message_id, number)):
            wanted[:] = [(message_id, number)]
            branch.open_at(controllers.open.id, message_id)

    def on_reached(message_id: str) -> None:
        if view.reaching.read_on(message_id):
            return
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


class BranchDialogs(QObject):
    """Views beside or over the open chat: its branches, a comparison of versions, and the window to
    insert a message; each made on first use. `panel_wanted` asks to show the panel of branches."""

    panel_wanted = Signal(QWidget)
    panel_closed = Signal()
    comparing: OneWindow[CompareWindow] = OneWindow()
    inserting: OneWindow[InsertWindow] = OneWindow()

    def __init__(self, parent: QWidget, controllers: Controllers) -> None:
        super().__init__(parent)
        self._parent = parent
        self._controllers = controllers
        self.panel: BranchPanel | None = None
        controllers.versions.mapped.connect(self._show_map)
        controllers.versions.compared.connect(self._show_versions)
        controllers.branch.shown.connect(lambda _same: self._follow())
        controllers.branch.message_shown.connect(self._follow)

    def open_branches(self, place: QWidget) -> None:
        """Show the branches in `place`, beside the chat."""
        if self.panel is None:
            from headstart.ui.transcript.branch_panel import BranchPanel

            panel = self.panel = BranchPanel(place)
            panel.hide()
            panel.chosen.connect(self._open)
            panel.closed.connect(self.panel_closed)
            panel.compare_wanted.connect(self._controllers.versions.compare)
            panel.chat_wanted.connect(self._controllers.versions.branch_off)
        self.panel_wanted.emit(self.panel)
        self._follow()

    def ask_insert(self, after: str) -> None:
        from headstart.ui.transcript.insert_window import InsertWindow

        window = self.inserting = InsertWindow(self._parent)
        insert = self._controllers.versions.insert
        window.submitted.connect(lambda role, text: insert(after, Role(role), text))
        window.open()

    def _follow(self) -> None:
        """Update the panel: another chat may be open, or its messages may have changed."""
        if self.panel is not None and not self.panel.isHidden():
            if self._controllers.open.stored:
                self._controllers.versions.map()
            else:
                self.panel.set_nodes(())

    def _show_map(self, nodes: list[TreeNode]) -> None:
        if self.panel is not None:
            self.panel.set_nodes(nodes)

    def _show_versions(self, versions: list[Message], shown: str) -> None:
        from headstart.ui.transcript.compare_window import CompareWindow

        if len(versions) < 2:
            return
        window = self.comparing = CompareWindow(versions, shown, self._parent)
        window.chosen.connect(self._open)
        window.open()

    def _open(self, message_id: str) -> None:
        self._controllers.branch.open_at(self._controllers.open.id, message_id)
