"""Ends of shared texts in a prompt: whole documents that stand first. Engine thread.

They name the owners of records only, so an end may be a token off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headstart.core.requests import SharedText


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
