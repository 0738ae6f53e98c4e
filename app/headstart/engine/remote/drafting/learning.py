"""Measures drafting for a server after a reply has ended, while no user waits.

The server is asked to check its own text of that reply: this takes as long as checking a draft, and
unconfirmed text shows that it does not check the prompt that it writes from. The draft continues
from positions in the reply, which shows how far it would have been right.
"""

from __future__ import annotations

import logging
import time

from headstart.core.errors import EnvironmentProblem
from headstart.core.requests import RemoteRequest
from headstart.engine.remote.draft import RemoteDraft
from headstart.engine.remote.drafting.copies import copy_of
from headstart.engine.remote.drafting.gain import BEGINS, ServerGain
from headstart.engine.remote.drafting.scored import ROUNDING, OtherTokens
from headstart.engine.remote.drafting.scorer import Scorer

log = logging.getLogger(__name__)

# shorter replies reveal too little; then pairs of start, as a share of the reply, and tokens to
# check
SHORTEST = 120
_CHECKED = ((0.3, 4), (0.5, 16), (0.7, 4))
# number of confirmed checks that make a server trusted
_ENOUGH = 2
# pairs of start and tokens to draft; the first draft includes the prefill of the chat
_PLACES = ((0.25, 12), (0.45, 4), (0.6, 12), (0.75, 4))
# a draft that yields less than _HOPELESS tokens in a round of _FEW is not worth a request
_FEW, _HOPELESS = 4, 1.3
# a check is too slow if it takes this many times as long as writing the same tokens, and more than
# this many seconds
_FAR_TOO_LONG, _LONG = 3.0, 1.0
# llama-cpp-python takes 30 ms per scored prompt token: chats longer than this many characters are
# not measured
_SLOW_FROM = 1500
# seconds allowed for a check
_PATIENCE = 60.0
# characters between two searches for a copy, and the length of a copy
_STEP, _COPIED = 60, 120


async def learn(
    scorer: Scorer,
    draft: RemoteDraft | None,
    reply: str,
    tokens: int,
    token_seconds: float,
    prompt_tokens: int | None,
) -> None:
    """Measure drafting; never raises for faults of a server or a draft; a cancel ends it.
    `prompt_tokens`: the server's reported prompt length."""
    gain = scorer.gain
    if not scorer.possible or len(reply) < SHORTEST or not tokens or not gain.wants_try():
        return
    size, request = len(reply) / tokens, scorer.request
    gain.characters = gain.characters or size
    length = len(reply) + sum(len(message.text) for message in request.messages)
    if request.model.connection.kind == "llama-cpp-python" and length > _SLOW_FROM:
        # it cannot be stopped, and would delay the next message
        gain.put_off()
        return
    _learn_copies(gain, request, reply, size)
    useful = gain.copy_right.known and gain.copy_right.chance > 0.5
    if draft is None and not useful:
        return
    # the next message cancels this, so earlier results are not measured again
    learned = not gain.trusted and gain.draft_right.known and gain.drafts.known
    if draft is not None and not learned and not await _learn_draft(gain, draft, reply):
        return
    if not useful and gain.draft_right.expected(_FEW) < _HOPELESS:
        # no result of the checks could make drafting pay
        gain.put_off()
        return
    if not await _learn_checks(scorer, reply, size, prompt_tokens, token_seconds):
        return
    plans = (gain.plan(token_seconds, length), gain.plan(token_seconds, length, copy=True))
    if not any(plan is not None and plan.promise >= BEGINS for plan in plans):
        gain.put_off()


def _learn_copies(gain: ServerGain, request: RemoteRequest, reply: str, size: float) -> None:
    if not request.speculation.prompt_lookup:
        return
    texts = [message.text for message in request.messages]
    at = _STEP
    while at < len(reply):
        copy = copy_of(reply[:at], texts, _COPIED)
        if copy:
            same = _alike(copy, reply[at:])
            tried = min(same + 1, len(copy), len(reply) - at)
            gain.copy_right.observe(int(same / size), max(1, int(tried / size)))
        at += _STEP


async def _learn_draft(gain: ServerGain, draft: RemoteDraft, reply: str) -> bool:
    for number, (share, most) in enumerate(_PLACES):
        place = _word(reply, int(share * len(reply)))
        began = time.perf_counter()
        try:
            written = await draft.write(reply[:place], most)
        except EnvironmentProblem as problem:
            # reported when a reply needs the draft
            log.warning("a draft for a server failed: %s", problem.for_log)
            gain.put_off()
            return False
        if not written.tokens:
            continue
        if number:
            gain.drafts.observe(written.tokens, time.perf_counter() - began)
        same = _alike(written.text, reply[place:])
        if same < len(written.text):
            # the first differing word counts as wrong from its start
            same = max(0, written.text.rfind(" ", 0, same + 1))
        right = int(written.tokens * same / max(1, len(written.text)))
        gain.draft_right.observe(right, min(written.tokens, right + 1))
    return gain.draft_right.known


async def _learn_checks(
    scorer: Scorer, reply: str, size: float, prompt_tokens: int | None, token_seconds: float
) -> bool:
    gain, request = scorer.gain, scorer.request
    if prompt_tokens is None and not gain.trusted:
        try:
            prompt_tokens = await scorer.prompt_size()
        except Exception as error:
            log.warning("a server does not say how long a prompt is: %s", type(error).__name__)
    if prompt_tokens is None and request.model.checks_text and not gain.trusted:
        # it cannot be verified that both prompts are the same
        gain.refused = "unable"
        return False
    length = len(reply) + sum(len(message.text) for message in request.messages)
    compared = gain.confirmed > 0
    for share, count in _CHECKED[0 if gain.trusted else gain.confirmed :]:
        place = _word(reply, int(share * len(reply)))
        given = reply[place : place + max(1, int(count * size))].rstrip()
        if not given:
            continue
        began = time.perf_counter()
        try:
            checked = await scorer.check(reply[:place], given, count, _PATIENCE)
        except (OtherTokens, TimeoutError):
            gain.put_off()
            return False
        except Exception as error:
            log.warning("a server does not check text: %s", type(error).__name__)
            gain.refused = "unable"
            return False
        seconds = time.perf_counter() - began
        gain.check_line(length).observe(count, seconds)
        # the last word may be cut; otherwise the server would write the same text again
        confirmed = len(checked.text) + len(_shared(checked.next, given[len(checked.text) :]))
        differs = confirmed < len(given) and checked.behind > ROUNDING
        known = bool(prompt_tokens and checked.before)
        compared = compared or known
        if differs or (known and checked.before != prompt_tokens):
            log.warning("a server checks another prompt than it writes from")
            gain.refused = "other prompt"
            return False
        if seconds > max(_LONG, _FAR_TOO_LONG * (count + 1) * token_seconds):
            # the server is not kept busy without a possible gain
            gain.put_off()
            return False
        gain.confirmed += 1
        if gain.confirmed >= _ENOUGH and (compared or not request.model.checks_text):
            gain.trusted = True
    if not gain.trusted:
        gain.put_off()
    return gain.trusted


def _word(text: str, at: int) -> int:
    """The next position of a blank before a word."""
    found = text.find(" ", at)
    return found if found >= 0 else at


def _alike(left: str, right: str) -> int:
    """Number of equal characters at the beginning."""
    same = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        same += 1
    return same


def _shared(left: str, right: str) -> str:
    return left[: _alike(left, right)]
