"""Prefills ahead of a request the tokens that precede any next message of a chat. Engine thread.

Certain tokens are found by rendering two messages with the same beginning and different endings:
the common prefix of both prompts does not depend on the user's next words, whatever the template
does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from headstart.core.chats.values import Role
from headstart.core.events import Emit, PrefilledAhead, PromptSize
from headstart.core.requests import AheadRequest, PromptImage, PromptMessage
from headstart.engine.decoder import ContextFull, DecodeAborted
from headstart.engine.fitting import Fitting
from headstart.engine.prefill import Prefiller
from headstart.engine.prompt import PromptEncoder, common_prefix
from headstart.engine.stop import StopSignal

# two different continuations of any text
_ONE, _OTHER = " a", "\nb"


def settled(typed: str) -> str:
    """`typed` without its last word, which may still grow."""
    end = len(typed.rstrip())
    if end < len(typed):
        return typed[:end]
    while end and not typed[end - 1].isspace():
        end -= 1
    return typed[:end].rstrip()


def sure_tokens(
    encode: Callable[[Sequence[PromptMessage]], list[int]],
    messages: Sequence[PromptMessage],
    typed: str,
    images: tuple[PromptImage, ...] = (),
) -> list[int]:
    """The tokens of every prompt that has these messages and then one that has `images` and begins
    with `typed`."""
    prompts = [encode(_asked(messages, (typed + more).lstrip(), images)) for more in (_ONE, _OTHER)]
    return prompts[0][: common_prefix(prompts[0], prompts[1])]


def _asked(
    messages: Sequence[PromptMessage], text: str, images: tuple[PromptImage, ...]
) -> list[PromptMessage]:
    """The messages with a question; two in a row are sent as one, see `chat.requests`."""
    last = messages[-1] if messages and messages[-1].role is Role.USER else None
    if last is None:
        return [*messages, PromptMessage(Role.USER, text, "", "", images)]
    joined = f"{last.text}\n\n{text}"
    return [*messages[:-1], PromptMessage(Role.USER, joined, "", "", (*last.images, *images))]


def _size(
    request: AheadRequest, encoder: PromptEncoder, prefiller: Prefiller, size: int
) -> PromptSize:
    """Size of the next prompt with all typed text and no turn dropped."""
    messages = _asked(request.messages, request.typed, request.images)
    asked = msgspec.structs.replace(request, messages=tuple(messages))
    fitting = Fitting(encoder, prefiller.resident, asked, size)
    encoder.images.show(messages)
    tokens = encoder.encode(encoder.render(messages, request.thinking, request.tools))
    seen = {image.label: encoder.images.count(image) for image in request.images}
    attached = tuple(encoder.count(text) + seen.get(text, 0) for text in request.attached)
    drops = request.when_full != "stop"
    # more words may be typed before they are counted: by this rule they need no room of the chat's
    alone = fitting.alone if drops or len(tokens) > fitting.limit else len(tokens)
    return PromptSize(len(tokens), fitting.limit, size, attached, alone, drops)


def prefill_ahead(
    request: AheadRequest,
    encoder: PromptEncoder,
    prefiller: Prefiller,
    size: int,
    emit: Emit,
    stop: StopSignal,
) -> list[int]:
    """Prefill the certain part of the next prompt; returns its tokens. Raises DecodeAborted."""

    def encode(messages: Sequence[PromptMessage]) -> list[int]:
        changed = msgspec.structs.replace(request, messages=tuple(messages))
        fitting = Fitting(encoder, prefiller.resident, changed, size)
        fitting.drop_as_before()
        tokens = fitting.encode()[1]
        # a prompt that does not fit is left to the user's rule, at the request
        return tokens if len(tokens) <= fitting.limit else []

    emit(_size(request, encoder, prefiller, size))
    if not request.prefills:
        return []
    asked = request.messages, request.thinking, request.load.projector, request.tools
    if prefiller.history is None or prefiller.history[0] != asked:
        # computed once, not for each typed word
        prefiller.history = (asked, sure_tokens(encode, request.messages, ""))
    history = prefiller.history[1]
    typed = settled(request.typed)
    tokens = sure_tokens(encode, request.messages, typed, request.images) if typed else history
    if not tokens:
        return []
    prefiller.enter(request.chat_id, request.retention, request.audience)
    resident = prefiller.resident.tokens
    if common_prefix(resident, tokens) < len(tokens):
        if stop.stopped:
            raise DecodeAborted
        prefiller.reuse(tokens, stop)
        if request.restores_only:
            emit(PrefilledAhead(common_prefix(prefiller.resident.tokens, tokens), 0))
            return []
        try:
            prefiller.prefill(tokens, emit, stop, ahead=True, positions=[len(history)])
        except ContextFull:
            return []
    emit(PrefilledAhead(len(tokens), max(0, len(tokens) - len(history))))
    return tokens
