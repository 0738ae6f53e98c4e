"""Explains why tokens of an earlier prompt were recomputed; pure.

A trace describes a chat's last prompt, with digests in place of its text. It is compared with the
present prompt message by message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import msgspec

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.core.text.shown import shortened
from headstart.core.told import Told, told

# this many tokens at a boundary are not worth reporting
_SLACK = 16
_PREVIEW = 32


class TracedMessage(msgspec.Struct, frozen=True, array_like=True):
    role: str
    key: str
    digest: str


class Trace(msgspec.Struct, frozen=True):
    """A chat's last prompt and reply. `namespace`: the records that its KV state belongs to;
    `tokens`: their number at the end."""

    namespace: str
    model: str
    messages: tuple[TracedMessage, ...]
    tokens: int


class Now(msgspec.Struct, frozen=True):
    """The present prompt: its trace, its reused tokens, and other possible reasons."""

    trace: Trace
    texts: tuple[str, ...]
    reused: int
    # the end of message n in the prompt, in tokens; called only when tokens may have been
    # recomputed
    end_of: Callable[[int], int]
    # length of the common token prefix with the chat's last text; None when unknown
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
    """The reason why the first differing message differs."""
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
    """The reason why the state of unchanged messages is missing."""
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
    """A message as users can find it: its number and its first words."""
    number = sum(item.role != Role.SYSTEM.value for item in now.trace.messages[: index + 1])
    preview = shortened(" ".join(now.texts[index].split()), _PREVIEW)
    return {"number": number, "preview": preview}
