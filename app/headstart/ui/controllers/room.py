"""The room for the open chat's next message: told before it is sent. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from headstart.chat.answering.room import Rooms
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import BranchChanged, ChatChanged, ModelState, NextPromptSize
from headstart.core.chats.attachments import about_tokens_of, wide_in
from headstart.core.chats.parts import OtherPart
from headstart.core.chats.unsent import Unsent
from headstart.core.events import PromptSize
from headstart.core.models.room import Room, Ways
from headstart.ui.controllers.chat import ChatController
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat

# tokens of a message below which no model is asked for its context
_LEAST = 300
# characters of a text that are looked at for an estimate
_SAMPLE = 50_000


class Misfit(Struct, frozen=True):
    """A message that does not fit, and what makes room for it."""

    room: Room
    ways: Ways


class RoomController(QObject):
    changed = Signal(object)  # Misfit, or None

    def __init__(
        self,
        rooms: Rooms,
        open_chat: OpenChat,
        chat: ChatController,
        tasks: Tasks,
        broadcast: Broadcast,
    ) -> None:
        super().__init__()
        self._rooms = rooms
        self._open = open_chat
        self._chat = chat
        self._tasks = tasks
        # what is known of the open chat: the room, about how many tokens of it the unsent message
        # has, and the message that was counted, if any
        self._known: tuple[Room, int, Unsent | None] | None = None
        self._serial = 0
        self._misfit: Misfit | None = None
        # the room for which ways are known, or looked for
        self._asked: Room | None = None
        broadcast.on(NextPromptSize, self._on_size)
        broadcast.on(BranchChanged, lambda change: self._forget(change.chat_id))
        broadcast.on(ChatChanged, lambda change: self._forget(change.chat_id))
        broadcast.on(ModelState, self._on_model)
        open_chat.opened.connect(lambda: self._forget(self._open.id))
        open_chat.changed.connect(lambda: self._forget(self._open.id))
        open_chat.sent.connect(self.look)

    @property
    def refuses(self) -> bool:
        """True if the model has counted the open chat's unsent message, and it does not fit."""
        known = self._known
        return (
            self._misfit is not None
            and self._misfit.room.sure
            and known is not None
            and known[2] == self._unsent
        )

    def look(self) -> None:
        """Judge the unsent message as it is now."""
        unsent = self._unsent
        about = _about(unsent)
        if not unsent or (self._known is None and about < _LEAST):
            self._show(None)
        elif self._known is None:
            self._tasks.spawn(self._estimate(self._serial, self._open.id))
        else:
            room, had, counted = self._known
            sure = counted == unsent
            self._show(replace(room, sure=True) if sure else room.grown(about - had))

    def use_context(self, context: int) -> None:
        self._tasks.spawn(self._rooms.use_context(self._open.id, context))

    def drop_earlier(self) -> None:
        """Leave the chat's oldest turns out from now on."""
        options = self._open.chat.options
        self._chat.set_options(self._open.id, replace(options, when_full="drop_oldest"))

    @property
    def _unsent(self) -> Unsent:
        return self._open.unsent_in(self._open.id)

    def _show(self, room: Room | None) -> None:
        before, self._misfit = self._misfit, None
        if room is not None and not room.fits:
            ways = before.ways if before is not None else Ways()
            self._misfit = Misfit(room, ways)
            # a few more words change nothing: the folders of models are not looked through for each
            if self._asked is None or not _is_alike(self._asked, room):
                self._asked = room
                self._tasks.spawn(self._find_ways(self._open.id, room))
        else:
            self._asked = None
        if self._misfit != before:
            self.changed.emit(self._misfit)

    async def _estimate(self, serial: int, chat_id: str) -> None:
        room = await self._rooms.estimate(chat_id)
        if serial == self._serial and room is not None and self._known is None:
            self._known = room, 0, None
            self.look()

    async def _find_ways(self, chat_id: str, room: Room) -> None:
        ways = await self._rooms.ways(chat_id, room)
        now = self._misfit
        if chat_id == self._open.id and self._asked == room and now is not None:
            self._misfit = Misfit(now.room, ways)
            self.changed.emit(self._misfit)

    def _forget(self, chat_id: str) -> None:
        if chat_id == self._open.id:
            self._known, self._serial, self._asked = None, self._serial + 1, None
            self.look()

    def _on_model(self, change: ModelState) -> None:
        if change.problem or change.fraction >= 1:
            self._forget(self._open.id)

    def _on_size(self, change: NextPromptSize) -> None:
        if change.chat_id == self._open.id:
            self._serial += 1
            counted = change.unsent
            had = 0 if counted is None else _about(counted)
            self._known = _room(change.size), had, counted
            self.look()


def _is_alike(one: Room, other: Room) -> bool:
    """True if the same ways make room."""
    kinds = {(room.limit, room.drops, room.alone > room.limit) for room in (one, other)}
    return len(kinds) == 1 and abs(one.needed - other.needed) < 0.05 * one.needed


def _room(size: PromptSize) -> Room:
    return Room(size.tokens, size.alone, size.limit, size.size, size.drops)


def _about(unsent: Unsent) -> int:
    return _tokens(unsent.text) + sum(map(_tokens, _texts(unsent.parts)))


def _texts(parts: Sequence[OtherPart]) -> list[str]:
    return [part.text for part in parts]


def _tokens(text: str) -> int:
    """About how many tokens a text has, from a sample of it: this is the main thread."""
    step = max(1, len(text) // _SAMPLE)
    return about_tokens_of(len(text), min(len(text), step * wide_in(text[::step])))
