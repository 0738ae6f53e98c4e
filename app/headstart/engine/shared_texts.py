"""Owners of the beginning of a prompt, and what may be kept of it. Engine thread.

The ends of whole documents name the owners of records only: one may be a token off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headstart.core.requests import GenerationRequest, PromptMessage, SharedText
from headstart.engine.prefill import Prefiller
from headstart.engine.prefill_ahead import sure_tokens
from headstart.engine.prompt import PromptEncoder


def share_beginning(
    prefiller: Prefiller,
    encoder: PromptEncoder,
    request: GenerationRequest,
    kept: Sequence[PromptMessage],
    prompt: tuple[str, list[int]],
) -> None:
    """Note who owns the beginning of a prompt, and what may be saved of it: nothing of the
    question, if the owner is a document. `prompt`: as text and tokens."""
    limit = 0
    if request.beginning_only:

        def encode(messages: Sequence[PromptMessage]) -> list[int]:
            return encoder.encode(encoder.render(messages, request.thinking, request.tools))

        limit = max(1, len(sure_tokens(encode, kept[:-1], "")))
    prefiller.share(shared_ends(request.shared, *prompt, prefiller.piece), limit)


def shared_ends(
    texts: Sequence[SharedText],
    rendered: str,
    prompt: Sequence[int],
    piece: Callable[[int], bytes],
) -> tuple[tuple[str, int], ...]:
    """Owners, and the number of tokens of `prompt` (`rendered` as text) up to the end of each
    text; one that the prompt does not have ends the list. `piece`: a token's bytes."""
    if not texts:
        return ()
    wanted: list[tuple[str, int]] = []
    at = 0
    for one in texts:
        begin = rendered.find(one.ending, at)
        if begin < 0:
            break
        at = begin + len(one.ending)
        wanted.append((one.owner, len(rendered[:at].encode("utf-8", "replace"))))
    found: list[tuple[str, int]] = []
    size = 0
    for place, token in enumerate(prompt, 1):
        if len(found) == len(wanted):
            break
        size += len(piece(token))
        while len(found) < len(wanted) and size >= wanted[len(found)][1]:
            found.append((wanted[len(found)][0], place))
    return tuple(found)
