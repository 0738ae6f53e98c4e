"""Positions of a prompt at which a model that cannot be cut keeps a snapshot. Engine thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headstart.core.chats.values import Role
from headstart.core.requests import GenerationRequest, PromptMessage
from headstart.engine.prefill import Prefiller
from headstart.engine.prefill_ahead import sure_tokens
from headstart.engine.prompt import PromptEncoder, common_prefix

# fewer shared tokens are not worth a snapshot
_LEAST_SHARED = 256


def snapshot_positions(
    prefiller: Prefiller,
    encoder: PromptEncoder,
    request: GenerationRequest,
    kept: Sequence[PromptMessage],
    prompt: Sequence[int],
    others: Iterable[Sequence[int]] = (),
) -> list[int]:
    """Positions at which an edit of the last question, or another reply to it, would begin. For a
    program's request also the end of its instructions, and the longest beginning that it shares
    with one of `others`, the prompts of other chats: a new session begins with it. Empty where no
    snapshots are needed."""
    prefix_cache = prefiller.prefix_cache
    if prefix_cache is None or not prefix_cache.needs_snapshots:
        return []
    total = len(prompt)

    def encode(messages: Sequence[PromptMessage]) -> list[int]:
        return encoder.encode(encoder.render(messages, request.thinking, request.tools))

    users = [index for index, message in enumerate(kept) if message.role is Role.USER]
    found = [] if request.beginning_only else [total]
    if users:
        found.append(len(sure_tokens(encode, kept[: users[-1]], "")))
    if request.served and users:
        if users[0] != users[-1]:
            found.append(len(sure_tokens(encode, kept[: users[0]], "")))
        shared = max((common_prefix(one, prompt) for one in others), default=0)
        if shared >= _LEAST_SHARED:
            found.append(shared)
    return sorted(set(found))
