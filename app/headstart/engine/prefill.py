"""Makes the live sequence hold a prompt: resident tokens stay, saved state is restored, the rest is
prefilled. Engine thread; used by turns and by prefilling ahead.

`Resident.tokens` always equals the tokens in the KV state.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct, field

from headstart.core.audiences import WINDOW, Audience
from headstart.core.events import Emit, Prefilling
from headstart.core.retention import Retention, owner_of
from headstart.engine import image_tokens
from headstart.engine.decoder import DecodeAborted, Decoder
from headstart.engine.prefix.prefix_cache import PrefixCache
from headstart.engine.prefix.restoring import Restored
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.engine.prompt import common_prefix
from headstart.engine.speculation.hidden_rows import HiddenRows
from headstart.engine.stop import StopSignal

# seconds that a request waits for saving the state that it is about to overwrite
KEEP_SECONDS = 0.015
# shorter slices say little about the time that a token takes
_MEASURED_SLICE = 64
# prefilling ahead is cut off by requests: slices of about this long lose little then
_AHEAD_SECONDS = 0.3


class DraftPrefix(Protocol):
    """Tokens that the draft has processed, kept beside the target's; see `SpeculationState`."""

    # the target's hidden states that a head drafts from
    rows: HiddenRows | None

    def save_prefix(self, chat_id: str | None, owner: str | None, tail: bool) -> Iterator[None]: ...

    def enter(self, audience: Audience, chat_id: str | None) -> None: ...


class Entered(Struct, frozen=True):
    """A chat, what may be kept of it, and the audience that may reuse that."""

    chat_id: str | None
    retention: Retention
    audience: str = WINDOW.name


class Resident(Struct):
    """Tokens of the decoder's live sequence, and their chat."""

    tokens: list[int] = field(default_factory=list)
    # chat id -> key of the oldest user message still kept; and the same from earlier runs of the
    # app
    kept_from: dict[str, str] = field(default_factory=dict)
    kept_before: Callable[[str], str | None] = lambda _chat_id: None
    chat_id: str | None = None
    retention: Retention = Retention.MEMORY
    # who may reuse them
    audience: str = WINDOW.name
    # since the last reply: tokens restored, and tokens prefilled ahead of a request
    restored: Restored = field(default_factory=Restored)
    ahead: int = 0
    # tokens from the beginning that may be saved; 0: all
    limit: int = 0
    # tokens from the beginning that were prefilled in whole slices; see `Prefiller.whole_slices`
    in_slices: int = 0
    # whether chunks, or the tail, are still to be saved, and the time of the last change
    unsaved: bool = False
    tail_unsaved: bool = False
    idle_since: float = 0.0

    @property
    def owner(self) -> str | None:
        """The chat that may have this on disk."""
        return owner_of(self.chat_id, self.retention)

    def belongs(self, entered: Entered) -> None:
        """Make the tokens those of this chat."""
        self.chat_id, self.retention = entered.chat_id, entered.retention
        self.audience = entered.audience

    def save_only(self, limit: int) -> None:
        """Have so many tokens from the beginning saved; 0: all."""
        self.limit = limit

    def touched(self) -> None:
        self.unsaved = self.tail_unsaved = True
        self.idle_since = time.monotonic()


class Prefiller:
    """Prefills prompts into one decoder. Without a prefix cache only resident tokens are reused."""

    def __init__(
        self,
        decoder: Decoder,
        resident: Resident,
        prefix_cache: PrefixCache | None,
        speeds: PrefixSpeeds,
    ) -> None:
        self._decoder = decoder
        self.resident = resident
        self.prefix_cache = prefix_cache
        self._speeds = speeds
        # the chat of the next tokens, what may be kept of it, and who may reuse that
        self._entered = Entered(None, Retention.NOTHING)
        # the chat last prefilled ahead, and the tokens that precede any next message
        self.history: tuple[object, list[int]] | None = None
        # reuse only tokens prefilled in whole slices, as a fresh prefill would compute them: the
        # text depends on it where a model computes a token differently in a batch than alone
        self.whole_slices = False
        # the draft beside it: its processed tokens are saved and closed with the same chat
        self.draft: DraftPrefix | None = None

    def reuse_whole_slices(self) -> None:
        """Reuse and save only whole slices; call before anything is prefilled."""
        self.whole_slices = True
        if self.prefix_cache is not None:
            self.prefix_cache.keep_whole_slices()

    def enter(self, chat_id: str | None, retention: Retention, audience: Audience = WINDOW) -> None:
        """Switch to this chat; the previous one is closed and its tail saved to disk.

        Until `reuse` has cut the resident tokens, they belong to no chat: the text of a private
        chat must not be saved under the next one's name. Those of an audience that this one may
        not read are dropped at once.
        """
        resident = self.resident
        self._entered = Entered(chat_id, retention, audience.name)
        if (resident.chat_id, resident.audience) != (chat_id, audience.name):
            if self.prefix_cache is not None and (resident.unsaved or resident.tail_unsaved):
                # under the name and retention of the chat that it was prefilled for
                save = self.save if resident.owner is None else self.save_tail
                save(StopSignal(KEEP_SECONDS))
            resident.unsaved = resident.tail_unsaved = False
            if resident.audience not in audience.sees:
                self.forget()
            if self.prefix_cache is not None:
                self.prefix_cache.enter(audience, chat_id)
                if chat_id is not None:
                    self.prefix_cache.expect(chat_id)
            if self.draft is not None:
                self.draft.enter(audience, chat_id)
            resident.restored, resident.ahead, resident.limit = Restored(), 0, 0
            resident.chat_id, resident.retention = None, Retention.NOTHING
        else:
            resident.retention = retention

    def forget(self) -> None:
        """Drop the resident tokens, unsaved."""
        resident = self.resident
        del resident.tokens[self._decoder.truncate(0) :]
        resident.in_slices = 0
        resident.unsaved = resident.tail_unsaved = False
        resident.chat_id, resident.retention = None, Retention.NOTHING
        self.history = None

    def piece(self, token: int) -> bytes:
        """The bytes of a token's text."""
        return self._decoder.piece(token)

    def share(self, ends: tuple[tuple[str, int], ...], limit: int) -> None:
        """Note the owners of the beginning of this chat's prompt, and the tokens up to their ends;
        `limit`: tokens that may be saved, 0 for all."""
        self.resident.save_only(limit)
        if self.prefix_cache is not None:
            self.prefix_cache.share(ends)

    def reuse(self, prompt: Sequence[int], stop: StopSignal) -> int:
        """Cut and restore, so that the sequence holds the longest available prefix of `prompt`."""
        resident, prefix_cache = self.resident, self.prefix_cache
        tokens = resident.tokens
        if self.draft is not None and self.draft.rows is not None:
            self.draft.rows.cut(common_prefix(tokens, prompt))
        if prefix_cache is None:
            self._cut_to_slices(prompt)
            left = self._decoder.truncate(common_prefix(tokens, prompt))
            del tokens[left:]
            resident.belongs(self._entered)
            return len(tokens)
        if resident.unsaved and common_prefix(tokens, prompt) < len(tokens):
            self.save(StopSignal(KEEP_SECONDS))
        self._cut_to_slices(prompt)
        persist = owner_of(self._entered.chat_id, self._entered.retention) is not None
        came = prefix_cache.restore(tokens, prompt, stop, persist)
        # the restored state was saved in whole slices
        resident.in_slices = len(tokens)
        self._cut_to_slices(prompt)
        self._cut_whole(prompt)
        self._cut_for_rows()
        resident.belongs(self._entered)
        before = resident.restored
        resident.restored = Restored(
            before.from_memory + came.from_memory, before.from_disk + came.from_disk
        )
        return len(tokens)

    def _cut_to_slices(self, prompt: Sequence[int]) -> None:
        """Drop tokens that were not prefilled in whole slices, where that matters."""
        if not self.whole_slices:
            return
        resident, size = self.resident, self._decoder.facts.batch
        common = common_prefix(resident.tokens, prompt)
        kept = min(common, resident.in_slices) // size * size
        if kept < len(resident.tokens):
            # a state that cannot be cut exactly would fall back to an arbitrary checkpoint
            left = self._decoder.truncate(kept if self._decoder.facts.rollback == "exact" else 0)
            del resident.tokens[left:]
        resident.in_slices = len(resident.tokens)

    def _cut_for_rows(self) -> None:
        """A head needs the hidden state of the token before the first one new to it. A restored
        prefix lacks it, so its last token is decoded again with the next ones, which costs nothing.
        Models that cannot be cut get it from the head's own records."""
        tokens, rows = self.resident.tokens, None if self.draft is None else self.draft.rows
        last = len(tokens) - 1
        if rows is None or last < 0 or rows.has(last, last + 1):
            return
        if self._decoder.facts.rollback == "exact" and tokens[last] >= 0:
            del tokens[self._decoder.truncate(last) :]

    def _cut_whole(self, prompt: Sequence[int]) -> None:
        """Drop the restored part of an incomplete image."""
        tokens = self.resident.tokens
        length = image_tokens.whole(prompt, len(tokens))
        if length < len(tokens):
            del tokens[self._decoder.truncate(length) :]

    def prefill(
        self,
        prompt: Sequence[int],
        emit: Emit,
        stop: StopSignal,
        *,
        ahead: bool = False,
        positions: Sequence[int] = (),
        keeps: bool = False,
    ) -> None:
        """Prefill the missing part of `prompt`; its last row's logits are ready, unless `ahead`.

        `positions`: snapshot positions for a model that cannot be cut exactly. `keeps`: each slice
        is saved as it is computed, so that the work can give way at once. Raises DecodeAborted,
        ContextFull, EnvironmentProblem.
        """
        tokens, total = self.resident.tokens, len(prompt)
        reused = at = len(tokens)
        self.resident.in_slices = min(self.resident.in_slices, at)
        marks = self._marks(positions, total)
        slice_ = self._slice(ahead)
        while at < total:
            if stop.stopped:
                raise DecodeAborted
            # slices end at multiples of their size, so that their borders do not depend on the
            # resident tokens
            end = min(total, (at // slice_ + 1) * slice_, *[mark for mark in marks if mark > at])
            # an image is a forward of its own
            image = prompt[at] < 0
            end = (
                image_tokens.end_of_run(prompt, at)
                if image
                else image_tokens.first_image(prompt, at, end)
            )
            if image:
                emit(Prefilling(at, total, reused, image=True))
            began = time.perf_counter()
            outputs = [end - at - 1] if end == total and not ahead else []
            with stop.patiently() if image else contextlib.nullcontext():
                self._decoder.forward(prompt[at:end], outputs)
            if self.draft is not None and self.draft.rows is not None and not image:
                self.draft.rows.saw(self._decoder, at, range(end - at))
            if at == self.resident.in_slices and end - at == slice_:
                self.resident.in_slices = end
            tokens.extend(prompt[at:end])
            self.resident.touched()
            if end - at >= min(_MEASURED_SLICE, slice_) and not image:
                self._speeds.observe_prefill(end - at, time.perf_counter() - began)
            at = end
            if at in marks and self.prefix_cache is not None:
                self.prefix_cache.mark(tokens)
            if keeps and self.prefix_cache is not None and not self.prefix_cache.needs_snapshots:
                self.save(stop)
            emit(Prefilling(at, total, reused))
        if ahead:
            self.resident.ahead += total - reused

    def synchronize(self) -> None:
        """Match the token list to the KV state, which may be shorter after an abort."""
        tokens = self.resident.tokens
        del tokens[self._decoder.n_past() :]
        if len(tokens) != self._decoder.n_past():
            # more cells than tokens: an aborted slice left some behind
            kept = self._decoder.truncate(len(tokens))
            del tokens[kept:]

    def _marks(self, positions: Sequence[int], total: int) -> set[int]:
        if self.prefix_cache is None or not self.prefix_cache.needs_snapshots:
            return set()
        if self.whole_slices:
            size = self._decoder.facts.batch
            return {total // size * size}
        return {position for position in positions if 0 < position <= total}

    def _slice(self, ahead: bool) -> int:
        size = self._decoder.facts.batch
        if ahead and not self.whole_slices:
            while size > 32 and size * self._speeds.token_seconds > _AHEAD_SECONDS:
                size //= 2
        return size

    def save(self, stop: StopSignal) -> bool:
        """Save the KV state: whole chunks, and the tail in memory. False when stopped before the
        end; `stop` is checked after each short piece of work."""
        return not self.resident.unsaved or self._save(stop, tail=False)

    def save_tail(self, stop: StopSignal) -> bool:
        """As `save`, with the tail on disk too."""
        return not self.resident.tail_unsaved or self._save(stop, tail=True)

    def _save(self, stop: StopSignal, tail: bool) -> bool:
        prefix_cache, resident = self.prefix_cache, self.resident
        if prefix_cache is None:
            return True
        if resident.retention is Retention.NOTHING:
            resident.unsaved = resident.tail_unsaved = False
            return True
        owner = resident.owner
        tokens: Sequence[int] = resident.tokens
        if self.whole_slices:
            tokens = tokens[: resident.in_slices]
        limited = resident.limit > 0
        if limited:
            tokens = tokens[: resident.limit]
        if tail and owner is not None:
            work = prefix_cache.save_tail(tokens, owner, marks=not limited)
        else:
            work = prefix_cache.save(tokens, owner, marks=not limited)
        for _ in work:
            if stop.stopped:
                return False
        if self.draft is not None and not limited:
            for _ in self.draft.save_prefix(resident.chat_id, owner, tail):
                if stop.stopped:
                    return False
        resident.unsaved = False
        if tail or owner is None:
            resident.tail_unsaved = False
        return True
