"""Learning about drafts for a server once a reply is whole, while nobody waits.

The server is asked to check words that it has just written itself: that takes as long as checking a
draft, and what it does not confirm of them shows that it does not read the prompt that it wrote
from. The draft goes on from places in the reply; how far it would have been right is seen here.
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

# shorter replies tell too little; how much is checked, and from where, in shares of the reply
SHORTEST = 120
_CHECKED = ((0.3, 4), (0.5, 16), (0.7, 4))
# so many of them that it confirms are enough to believe that it reads what it wrote
_ENOUGH = 2
# and from where how many tokens are drafted; the first time the draft has the chat to read
_PLACES = ((0.25, 12), (0.45, 4), (0.6, 12), (0.75, 4))
# a draft that brings so little in a round of so many tokens is not worth a request
_FEW, _HOPELESS = 4, 1.3
# a check that takes so many times as long as writing the same, and more than so many seconds
_FAR_TOO_LONG, _LONG = 3.0, 1.0
# llama-cpp-python takes 30 ms for each token of a prompt that it scores: of longer chats nothing is
# learned
_SLOW_FROM = 1500
# seconds that a check may take here
_PATIENCE = 60.0
# between places where a copy is looked for
_STEP, _COPIED = 60, 120


async def learn(
    scorer: Scorer,
    draft: RemoteDraft | None,
    reply: str,
    tokens: int,
    token_seconds: float,
    prompt_tokens: int | None,
) -> None:
    """Never raises for what a server or a draft does; a cancel ends it. `prompt_tokens`: what the
    server read before it wrote, if it said so."""
    gain = scorer.gain
    if not scorer.possible or len(reply) < SHORTEST or not tokens or not gain.wants_try():
        return
    size, request = len(reply) / tokens, scorer.request
    gain.characters = gain.characters or size
    length = len(reply) + sum(len(message.text) for message in request.messages)
    if request.model.connection.kind == "llama-cpp-python" and length > _SLOW_FROM:
        # it cannot be told to stop, and would keep the next message waiting
        gain.put_off()
        return
    _learn_copies(gain, request, reply, size)
    useful = gain.copy_right.known and gain.copy_right.chance > 0.5
    if draft is None and not useful:
        return
    # the next message ends this: what was learned before is not asked for again
    learned = not gain.trusted and gain.draft_right.known and gain.drafts.known
    if draft is not None and not learned and not await _learn_draft(gain, draft, reply):
        return
    if not useful and gain.draft_right.expected(_FEW) < _HOPELESS:
        # nothing that the server could say would make it pay
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
            # told when a reply needs it
            log.warning("a draft for a server failed: %s", problem.for_log)
            gain.put_off()
            return False
        if not written.tokens:
            continue
        if number:
            gain.drafts.observe(written.tokens, time.perf_counter() - began)
        same = _alike(written.text, reply[place:])
        if same < len(written.text):
            # the word that differs was wrong from its beginning
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
        # whether it reads the same prompt cannot be seen
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
        # the last word may be cut; short of that, it would write the same again
        confirmed = len(checked.text) + len(_shared(checked.next, given[len(checked.text) :]))
        differs = confirmed < len(given) and checked.behind > ROUNDING
        known = bool(prompt_tokens and checked.before)
        compared = compared or known
        if differs or (known and checked.before != prompt_tokens):
            log.warning("a server checks another prompt than it writes from")
            gain.refused = "other prompt"
            return False
        if seconds > max(_LONG, _FAR_TOO_LONG * (count + 1) * token_seconds):
            # the server is not kept busy for what cannot pay
            gain.put_off()
            return False
        gain.confirmed += 1
        if gain.confirmed >= _ENOUGH and (compared or not request.model.checks_text):
            gain.trusted = True
    if not gain.trusted:
        gain.put_off()
    return gain.trusted


def _word(text: str, at: int) -> int:
    """The next place where a word begins with its blank."""
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
