"""A local draft for a server's model: written locally, checked by the server with one request per
draft.

A reply begins as a stream, which measures the time per token. If drafting promises to be faster
(`ServerGain`), the turn leaves the stream for rounds: the draft continues the reply, and the server
confirms the tokens that it would have written itself and adds the next one. When a round no longer
promises a gain, or on any problem, the stream resumes. Only greedy decoding can be checked in this
way. On the session's thread.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from headstart.core.chats.parts import Origin
from headstart.core.chats.values import FinishReason, SpeculationStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import DraftActivity, DraftStage, Emit, Notice, NoticeKind, Speculating
from headstart.core.requests import RemoteRequest
from headstart.core.told import told
from headstart.engine.remote.draft import Draft, RemoteDraft, Take
from headstart.engine.remote.drafting.copies import copy_of, is_this_computer
from headstart.engine.remote.drafting.figures import counted, whole
from headstart.engine.remote.drafting.gain import BEGINS, GOES_ON, STREAMED, RoundPlan, ServerGain
from headstart.engine.remote.drafting.scored import Confirmed, OtherTokens, Unreadable
from headstart.engine.remote.drafting.scorer import Scorer

log = logging.getLogger(__name__)

# characters per token, until measured
CHARACTERS = 4.0
# seconds between two progress events
_TELL_SECONDS = 0.25
# drafting of a reply ends after this many rounds with problems
_TROUBLES = 2
# least number of stream events before the stream is left again
_BETWEEN = 2
# a draft is abandoned after this many times its known time, but not before this many seconds
_SLOW, _SHORTEST = 4.0, 0.5


class ServerDrafting:
    """The rounds of one reply. `draft`: with None, only copies of text are drafted."""

    def __init__(
        self,
        request: RemoteRequest,
        scorer: Scorer,
        draft: RemoteDraft | None,
        emit: Emit,
    ) -> None:
        self._request = request
        self._scorer = scorer
        self._gain: ServerGain = scorer.gain
        self._draft = draft
        self._emit = emit
        self._near = is_this_computer(request.model.connection)
        self._warm: asyncio.Task[Draft] | None = None
        self._ahead: tuple[str, asyncio.Task[Draft]] | None = None
        # of the stream: seconds and tokens in total, and the time of the last one
        self._seconds, self._tokens = 0.0, 0
        self._last_at: float | None = None
        self._resumed_at: float | None = None
        self._began = time.perf_counter()
        self._told_at = 0.0
        self._characters = CHARACTERS
        self._troubles = 0
        # tokens so far
        self._count = 0
        # events since the stream began or resumed
        self._section = 0
        # seconds saved (or lost) by the rounds
        self.gained = 0.0
        # tokens before the reply; None if the server did not report them
        self.prompt_tokens: int | None = None
        self.stats = SpeculationStats()
        waits = self._gain.replies < self._gain.next_try
        self.off = waits or not scorer.possible or bool(self._gain.refused)

    @property
    def token_seconds(self) -> float:
        """The stream's seconds per token; 0 while unknown."""
        return self._seconds / self._tokens if self._tokens >= STREAMED - 1 else 0.0

    @property
    def goes_on_as_text(self) -> bool:
        return self._scorer.goes_on_as_text and self._gain.trusted

    async def open_text(self, reply: str, parameters: dict[str, Any]) -> Any:
        """See `Scorer`."""
        return await self._scorer.open_text(reply, parameters)

    # --- the stream ----------------------------------------------------------------------

    def streamed(self, characters: int) -> None:
        """Note an event with `characters` characters: one token, or several for servers that batch
        them."""
        now = time.perf_counter()
        size = self._gain.characters
        tokens = max(1, round(characters / size)) if size and characters > 3 * size else 1
        self._count += tokens
        self._section += 1
        if self._resumed_at is not None:
            lost = now - self._resumed_at
            self._gain.observe_resume(lost)
            self.gained -= max(0.0, lost - self.token_seconds)
            self._resumed_at = None
        elif self._last_at is not None:
            self._seconds += now - self._last_at
            self._tokens += tokens
        self._last_at = now

    @property
    def may_want(self) -> bool:
        """True if `wants` needs to be called at all."""
        known = not self.off and self._gain.trusted and self.token_seconds > 0
        return known and self._section >= _BETWEEN

    def wants(self, reply: str) -> bool:
        """True if the turn should leave the stream now."""
        copy, plan = self._best(reply)
        if plan is None or plan.promise < BEGINS:
            return False
        if copy:
            return True
        if self._warm is None and self._draft is not None:
            # the draft prefills the chat while the stream continues
            self._warm = asyncio.ensure_future(self._draft.write(reply, 1))
        return self._warm is not None and self._warm.done() and self._is_warm()

    def _is_warm(self) -> bool:
        assert self._warm is not None
        if self._warm.cancelled():
            self.off = True
            return False
        error = self._warm.exception()
        if error is not None:
            self._draft_failed(error)
            return False
        # no tokens: the engine was busy
        self.off = not self._warm.result().tokens
        return not self.off

    @property
    def _allowance(self) -> float:
        """The loss allowed for a round, from this reply's time and from earlier savings."""
        gain, spent = self._gain, time.perf_counter() - self._began
        return self.gained + gain.allowed(spent) + gain.first_loss

    def _best(self, reply: str) -> tuple[str, RoundPlan | None]:
        """The most promising plan, and its copy, "" for the draft."""
        speculation, gain = self._request.speculation, self._gain
        token, fixed = self.token_seconds, 0
        if speculation.depth_mode == "fixed":
            fixed = speculation.depth
        length, allowance = len(reply) + self._length, self._allowance
        best: RoundPlan | None = None
        if self._draft is not None:
            best = gain.plan(token, length, fixed, allowance=allowance)
        if not speculation.prompt_lookup:
            return "", best
        copy = copy_of(reply, self._texts, int(64 * self._characters))
        tokens = int(len(copy) / self._characters)
        if tokens < 2:
            return "", best
        plan = gain.plan(token, length, most=tokens, copy=True, allowance=allowance)
        if plan is None or (best is not None and best.promise >= plan.promise):
            return "", best
        return copy[: max(1, int(plan.depth * self._characters))], plan

    @property
    def _left(self) -> int | None:
        """Tokens that the reply may still have; None without a limit."""
        most = self._request.sampling.max_tokens
        return most - self._count if most else None

    @property
    def _length(self) -> int:
        return sum(len(message.text) for message in self._request.messages)

    @property
    def _texts(self) -> list[str]:
        return [message.text for message in self._request.messages]

    # --- rounds --------------------------------------------------------------------------

    async def rounds(self, reply: str, take: Take) -> FinishReason | None:
        """Run rounds while they pay; None: the stream resumes. `take` shows text."""
        try:
            return await self._rounds(reply, take)
        finally:
            self._cancel_ahead()
            self._resumed_at, self._last_at = time.perf_counter(), None
            self._section = 0

    async def _rounds(self, reply: str, take: Take) -> FinishReason | None:
        while True:
            copy, plan = self._best(reply)
            if plan is None or plan.promise < GOES_ON:
                return None
            if self._left is not None and self._left <= plan.depth + 1:
                # the server's stream ends the reply at its limit
                self.off = True
                return None
            began = time.perf_counter()
            try:
                draft = await self._drafted_in_time(reply, copy, plan)
                # templates may strip blanks from the end of a message
                text = draft.text.rstrip()
                if not text:
                    # the draft has no more text, or no time
                    self.off = True
                    self.gained -= time.perf_counter() - began
                    return None
                checked = await self._check(reply, text, draft)
            except EnvironmentProblem as problem:
                self._draft_failed(problem)
                self.gained -= time.perf_counter() - began
                return None
            if checked is None:
                self.gained -= time.perf_counter() - began
                return None
            count = checked.tokens + bool(checked.next)
            if self._left is not None and count > self._left:
                # the server's tokens are shorter than the draft's
                self.off = True
                self.gained -= time.perf_counter() - began
                return None
            self._count += count
            finish = self._shown(checked, text, draft, take)
            reply += checked.text + checked.next
            seconds = time.perf_counter() - began
            self.gained += count * self.token_seconds - seconds
            self._tell(draft)
            if finish is not None:
                return finish
            if checked.ended:
                return FinishReason.END
            if not checked.next:
                return None

    async def _drafted_in_time(self, reply: str, copy: str, plan: RoundPlan) -> Draft:
        """The next draft, empty if the engine is busy: the server's stream is already closed."""
        known = self._gain.drafts.at(plan.depth) if self._gain.drafts.known else 0.0
        try:
            async with asyncio.timeout(max(_SHORTEST, _SLOW * known)):
                return await self._next_draft(reply, copy, plan)
        except TimeoutError:
            return Draft("", 0)

    async def _next_draft(self, reply: str, copy: str, plan: RoundPlan) -> Draft:
        """The next draft to check; one begun while the server was busy, if it fits."""
        if copy:
            self._cancel_ahead()
            return Draft(copy, plan.depth, Origin.LOOKUP)
        assert self._draft is not None
        ahead, self._ahead = self._ahead, None
        began = time.perf_counter()
        if ahead is not None:
            base, task = ahead
            done = await task if reply.startswith(base) else None
            if done is None:
                _drop(task)
            elif (base + done.text).startswith(reply):
                rest = (base + done.text)[len(reply) :]
                if rest.strip():
                    tokens = max(1, round(done.tokens * len(rest) / max(1, len(done.text))))
                    return Draft(rest, tokens)
        draft = await self._draft.write(reply, plan.depth)
        self._gain.drafts.observe(max(1, draft.tokens), time.perf_counter() - began)
        return draft

    async def _check(self, reply: str, text: str, draft: Draft) -> Confirmed | None:
        """The checked draft; None: the server gave no usable answer, and the stream resumes."""
        began = time.perf_counter()
        if not self._near and self._draft is not None and draft.origin is Origin.DRAFT:
            # if the whole draft is right, the next one is ready
            base = reply + text
            self._ahead = base, asyncio.ensure_future(self._draft.write(base, draft.tokens + 1))
        # in the first round only; another model may have begun the reply
        streamed = "" if self.stats.verified else reply[len(self._request.reply_so_far.text) :]
        try:
            checked = await self._scorer.check(reply, text, draft.tokens, streamed=streamed)
        except OtherTokens:
            # caused by this text; another reply's may be simpler
            self.off = True
            return None
        except Unreadable as problem:
            self._troubled(f"{problem}")
            return None
        except Exception as error:
            # whatever the client raises: the stream will report the problem, if any
            self._troubled(type(error).__name__)
            return None
        if checked.strays:
            # templates may differ for some chats only
            log.warning("a server checks another prompt of this chat than it writes from")
            self.off = True
            self._gain.put_off()
            return None
        seconds = time.perf_counter() - began
        self._gain.check_line(len(reply) + self._length).observe(draft.tokens, seconds)
        self.prompt_tokens = checked.before or self.prompt_tokens
        if checked.tokens:
            self._characters += 0.2 * (len(checked.text) / checked.tokens - self._characters)
            self._gain.characters = self._characters
        return checked

    def _shown(
        self, checked: Confirmed, text: str, draft: Draft, take: Take
    ) -> FinishReason | None:
        copied = draft.origin is Origin.LOOKUP
        tried = checked.tokens + (checked.text != text)
        right = self._gain.copy_right if copied else self._gain.draft_right
        right.observe(checked.tokens, tried)
        self.stats = counted(self.stats, draft.origin, tried, checked.tokens)
        finish = take(checked.text, draft.origin, checked.tokens) if checked.text else None
        if finish is None and checked.next:
            finish = take(checked.next, Origin.TARGET, 1)
        return finish

    def final_stats(self, generated: int) -> SpeculationStats | None:
        """The stats of a reply of `generated` tokens; None if nothing was drafted."""
        return whole(self.stats, generated, self.token_seconds)

    def _tell(self, draft: Draft) -> None:
        now = time.perf_counter()
        if now - self._told_at < _TELL_SECONDS:
            return
        self._told_at = now
        copied = draft.origin is Origin.LOOKUP
        right = self._gain.copy_right if copied else self._gain.draft_right
        activity = DraftActivity(
            DraftStage.LOOKUP if copied else DraftStage.DRAFTING,
            draft.tokens,
            right.chance,
            source=draft.origin,
        )
        tokens = self._count
        stats = self.final_stats(tokens)
        if stats is not None:
            spent = tokens * self.token_seconds - self.gained
            self._emit(Speculating(draft.tokens, draft.origin, tokens, stats, spent, activity))

    # --- trouble -------------------------------------------------------------------------

    def _troubled(self, why: str) -> None:
        log.warning("a server did not check a draft: %s", why)
        self._troubles += 1
        if self._troubles < _TROUBLES:
            return
        self.off = True
        self._gain.refused = "stopped"
        host = self._request.model.host
        self._emit(Notice(NoticeKind.DRAFT, told("server-stopped-checking", host=host)))

    def _draft_failed(self, error: BaseException) -> None:
        self.off = True
        if isinstance(error, EnvironmentProblem):
            problem = error.told
            self._emit(
                Notice(NoticeKind.DRAFT, told("server-draft-failed", problem=problem.message))
            )
            return
        log.error("the draft for a server failed", exc_info=error)

    def _cancel_ahead(self) -> None:
        if self._ahead is not None:
            _drop(self._ahead[1])
            self._ahead = None

    def close(self) -> None:
        """Cancel drafts, and count the ended reply."""
        self._cancel_ahead()
        if self._warm is not None:
            _drop(self._warm)
        seconds = self._count * self.token_seconds
        self._gain.reply_ended(self.stats.verified > 0, self.gained, seconds)


def _drop(task: asyncio.Task[Draft]) -> None:
    """Cancel an unneeded draft."""
    if task.done() and not task.cancelled():
        # retrieved, so that asyncio does not log it
        task.exception()
    task.cancel()
