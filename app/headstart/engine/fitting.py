"""Fits a prompt into the context by dropping turns, by the user's rule.

Engine thread; one instance per request. A dropped turn stays dropped, so that the next turn finds
its prefix again.
"""

from __future__ import annotations

from headstart.core.chats.values import Role
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Emit, Notice, NoticeKind
from headstart.core.models.room import prompt_limit
from headstart.core.requests import (
    AheadRequest,
    GenerationRequest,
    PromptMessage,
    WrittenSoFar,
)
from headstart.core.told import told
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.prefill import Resident
from headstart.engine.prompt import PromptEncoder, drop_oldest, droppable_turns

# dropping turns makes room down to this share, so that the next turns find their prefix again
DROP_TO_SHARE = 0.7
_NOTHING = WrittenSoFar()


class Fitting:
    def __init__(
        self,
        encoder: PromptEncoder,
        resident: Resident,
        request: AheadRequest | GenerationRequest,
        size: int,
    ) -> None:
        """`size`: tokens of the model's context."""
        self._encoder = encoder
        encoder.images.show(request.messages)
        self._resident = resident
        self._messages = request.messages
        self._when_full = request.when_full
        self._thinking, self._tools = request.thinking, request.tools
        self._chat_id = request.chat_id
        self._size = size
        # a text without a template
        self._plain = request.plain if isinstance(request, GenerationRequest) else ""
        self._dropped = 0
        # the end of the prompt after the last message's text, and the reply so far
        self.start = "", ""

    def begin_at(self, start: tuple[str, str]) -> None:
        """Go on with a prompt that was rendered before."""
        self.start = start

    @property
    def limit(self) -> int:
        return prompt_limit(self._size)

    @property
    def alone(self) -> int:
        """Tokens of the prompt without any turn that may be dropped."""
        return self._alone_size(droppable_turns(self._messages))

    @property
    def kept(self) -> list[PromptMessage]:
        return drop_oldest(self._messages, self._dropped)

    @property
    def can_drop(self) -> bool:
        """True if the rule allows dropping another turn."""
        return self._when_full != "stop" and self._dropped < droppable_turns(self._messages)

    def fit(self, reply_so_far: WrittenSoFar, emit: Emit) -> tuple[str, list[int]]:
        """The prompt as text and tokens; raises EnvironmentProblem when it cannot fit."""
        messages, limit = self._messages, self.limit
        rendered, tokens = self.encode(reply_so_far)
        if len(tokens) <= limit:
            return rendered, tokens
        if self.drop_as_before():
            rendered, tokens = self.encode(reply_so_far)
            if len(tokens) <= limit:
                self._tell(emit)
                return rendered, tokens
        droppable = droppable_turns(messages)
        if self._when_full == "stop" or droppable == 0:
            raise self._too_long(len(tokens), self._alone(droppable, limit), bool(reply_so_far))
        while self._dropped < droppable and len(tokens) > self._size * DROP_TO_SHARE:
            self._dropped += 1
            rendered, tokens = self.encode(reply_so_far)
        if len(tokens) > limit:
            self._dropped = 0
            raise self._long_prompt() or EnvironmentProblem(
                "last-message-too-long", size=self._size, more=self._more
            )
        self._remember()
        self._tell(emit)
        return rendered, tokens

    def _alone(self, droppable: int, limit: int) -> bool:
        """True if the last message is too long even without those before it."""
        return droppable == 0 or self._alone_size(droppable) > limit

    def _alone_size(self, droppable: int) -> int:
        dropped, self._dropped = self._dropped, droppable
        _, tokens = self.encode()
        self._dropped = dropped
        return len(tokens)

    def encode(self, reply_so_far: WrittenSoFar = _NOTHING) -> tuple[str, list[int]]:
        if self._plain:
            return self._plain, self._encoder.encode(self._plain)
        rendered = self._encoder.render(self.kept, self._thinking, self._tools)
        end, begun = self._encoder.end_of(rendered, self.kept), ""
        if reply_so_far:
            begun = self._beginning(end, reply_so_far)
            rendered += begun
        self.start = end, begun
        return rendered, self._encoder.encode(rendered)

    def _beginning(self, end: str, reply_so_far: WrittenSoFar) -> str:
        """The beginning of the reply, as this model would have written it."""
        encoder = self._encoder
        stream = TextStream(form=encoder.form)
        stream.follow(end)
        pieces = encoder.form.going_on(reply_so_far, stream.reasons)
        return "".join(text if is_mark else encoder.guard(text) for text, is_mark in pieces)

    def drop_as_before(self) -> bool:
        """Drop the turns that an earlier request of this chat dropped, if the chat still begins
        with them."""
        if self._when_full != "drop_oldest":
            return False
        key, resident = None, self._resident
        if self._chat_id:
            key = resident.kept_from.get(self._chat_id) or resident.kept_before(self._chat_id)
        users = [message.key for message in self._messages if message.role is Role.USER]
        remembered = users.index(key) if key and key in users else 0
        if remembered <= self._dropped:
            return False
        self._dropped = remembered
        return True

    def _remember(self) -> None:
        users = [message.key for message in self._messages if message.role is Role.USER]
        if self._chat_id and self._dropped < len(users):
            self._resident.kept_from[self._chat_id] = users[self._dropped]

    def _too_long(self, tokens: int, alone: bool, going_on: bool) -> EnvironmentProblem:
        if going_on:
            return EnvironmentProblem(
                "reply-too-long", tokens=tokens, size=self._size, more=self._more
            )
        if alone and (problem := self._long_prompt()) is not None:
            return problem
        code = "message-too-long" if alone else "chat-too-long"
        return EnvironmentProblem(code, tokens=tokens, size=self._size, more=self._more)

    @property
    def _more(self) -> str:
        """“no” for a model that has its largest context already: nothing impossible is advised."""
        trained = self._encoder.trained
        return "no" if 0 < trained <= self._size else "yes"

    def _long_prompt(self) -> EnvironmentProblem | None:
        """The problem where the system prompt takes the room, not the last message."""
        if not self._messages:
            return None
        first, last = self._messages[0], self._messages[-1]
        if first.role is not Role.SYSTEM or first is last:
            return None
        prompt, asked = (len(self._encoder.encode(one.text)) for one in (first, last))
        if prompt < asked or prompt < self.limit // 2:
            return None
        return EnvironmentProblem(
            "system-prompt-too-long", tokens=prompt, size=self._size, more=self._more
        )

    def _tell(self, emit: Emit) -> None:
        emit(Notice(NoticeKind.CONTEXT_DROPPED, told("context-dropped", dropped=self._dropped)))
