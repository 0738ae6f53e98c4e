"""Turns of chats on which the model's own template uses too much time or memory."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from headstart.core.events import Emit, Notice, NoticeKind
from headstart.core.requests import GenerationRequest
from headstart.core.told import Told, about, told
from headstart.engine import template
from headstart.engine.stop import StopSignal
from headstart.engine.turn import Turn, TurnParts
from headstart.engine.turn_account import PausedTurn


class OtherTemplate:
    """Knows those chats of one loaded model, and renders their turns with a plain template."""

    def __init__(self, name: str) -> None:
        self._name = name
        # chat id -> the reason why its template was stopped
        self._chats: dict[str | None, Told] = {}

    def __contains__(self, chat_id: str | None) -> bool:
        return chat_id in self._chats

    def add(self, chat_id: str | None, error: template.TemplateError) -> bool:
        """Add the chat if its template was stopped for its costs; True if so."""
        if error.too_much:
            self._chats[chat_id] = told("template-broken", error=error)
        return error.too_much

    def run(
        self,
        parts: TurnParts,
        request: GenerationRequest,
        emit: Emit,
        stop: StopSignal,
        begin: Callable[[], None],
        paused: PausedTurn | None = None,
    ) -> None:
        """Run one turn, with the model's own template where possible. Raises TemplateError."""
        if request.chat_id not in self:
            try:
                Turn(parts, request, emit, stop, paused).run(begin)
            except template.TemplateError as error:
                if not self.add(request.chat_id, error):
                    raise
            else:
                return
        why, encoder = self._chats[request.chat_id], parts.encoder
        other = template.fallback(why, encoder.control.values())
        tell(self._name, other, emit)
        with encoder.instead(other):
            shown = msgspec.structs.replace(parts, template_stop=other.stop)
            Turn(shown, request, emit, stop, paused).run(begin)


def tell(name: str, used: template.ChatTemplate, emit: Emit) -> None:
    """Tell the user which template replaces the model's own, and why."""
    if used.fallback is not None:
        said = about("template-fallback", used.fallback, name=name, form=used.fallback_name)
        emit(Notice(NoticeKind.TEMPLATE, said))
