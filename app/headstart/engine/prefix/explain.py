"""Why tokens were recomputed although a chat had been worked on before; pure.

A trace says what a chat's last prompt was made of, with digests instead of words. It is compared
with the present one message by message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import msgspec

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.core.text.shown import shortened
from headstart.core.told import Told, told

# so few tokens at a seam are nobody's concern
_SLACK = 16
_PREVIEW = 32


class TracedMessage(msgspec.Struct, frozen=True, array_like=True):
    role: str
    key: str
    digest: str


class Trace(msgspec.Struct, frozen=True):
    """`namespace` is what its KV state was good for; `tokens` how many there were in the end."""

    namespace: str
    model: str
    messages: tuple[TracedMessage, ...]
    tokens: int


class Now(msgspec.Struct, frozen=True):
    """The present prompt: its trace, how much was reused, and what else may be a reason."""

    trace: Trace
    texts: tuple[str, ...]
    reused: int
    # where message n ends in the prompt, in tokens; asked for only when something was recomputed
    end_of: Callable[[int], int]
    # how much of the chat's last text is the same, token by token; None when it is not known
    same_tokens: int | None
    kept_on_disk: bool = True
    cannot_cut: bool = False
    reads_clock: bool = False
    dropped: bool = False


def traced(messages: Sequence[PromptMessage]) -> tuple[TracedMessage, ...]:
    return tuple(
        TracedMessage(message.role.value, message.key, digest(_content(message)))
        for message in messages
    )


def _content(message: PromptMessage) -> str:
    return "\0".join([message.text, *(image.digest for image in message.images)])


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def explain(before: Trace | None, now: Now) -> tuple[int, Told | None]:
    """Number of recomputed tokens, and the reason; (0, None) when none were."""
    if before is None:
        return 0, None
    mine, other = now.trace.messages, before.messages
    same = 0
    while same < min(len(mine), len(other)) and _equal(mine[same], other[same]):
        same += 1
    if same == len(other) and now.reused >= before.tokens - _SLACK:
        return 0, None
    lost = max(0, now.end_of(same - 1) - now.reused) if same else 0
    if lost > _SLACK:
        return lost, _why_lost(before, now, same)
    known = {(item.role, item.digest) for item in other[same:]}
    again = sum(
        max(0, now.end_of(index) - max(now.end_of(index - 1) if index else 0, now.reused))
        for index in range(same, len(mine))
        if (mine[index].role, mine[index].digest) in known
    )
    if again <= _SLACK:
        return 0, None
    return again, _why_changed(before, now, same)


def _equal(one: TracedMessage, other: TracedMessage) -> bool:
    return (one.role, one.digest) == (other.role, other.digest)


def _why_changed(before: Trace, now: Now, index: int) -> Told:
    """The first message that differs, and what happened to it."""
    mine, other = now.trace.messages, before.messages
    roles = {trace[index].role if index < len(trace) else "" for trace in (mine, other)}
    if Role.SYSTEM.value in roles:
        return told("system-changed")
    first = next((item for item in other if item.role != Role.SYSTEM.value), None)
    if now.dropped and first is not None and not any(_equal(first, item) for item in mine):
        return told("turns-dropped")
    if index >= len(now.texts):
        return told("some-message-changed")
    return told("message-changed", **_named(now, index))


def _why_lost(before: Trace, now: Now, same: int) -> Told:
    """The messages are the same; what was computed of them is not there."""
    if before.model != now.trace.model:
        return told("other-model", model=before.model)
    if before.namespace != now.trace.namespace:
        return told("other-settings")
    if now.same_tokens is not None and now.same_tokens < now.end_of(same - 1) - _SLACK:
        index = next(
            (index for index in range(same) if now.end_of(index) > now.same_tokens), same - 1
        )
        cause = "clock" if now.reads_clock else "template"
        if now.trace.messages[index].role == Role.SYSTEM.value:
            return told(f"{cause}-in-system")
        return told(f"{cause}-in-message", **_named(now, index))
    if now.cannot_cut:
        return told("cannot-cut")
    return told("evicted" if now.kept_on_disk else "not-on-disk")


def _named(now: Now, index: int) -> dict[str, str | int]:
    """A message as people find it: its number, and how it begins."""
    number = sum(item.role != Role.SYSTEM.value for item in now.trace.messages[: index + 1])
    preview = shortened(" ".join(now.texts[index].split()), _PREVIEW)
    return {"number": number, "preview": preview}
