"""The state of speculation while a target is loaded: the draft, the profiles, the lookup index.

Engine thread; part of the loaded model. A draft that cannot be loaded is reported once, and replies
are written without it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

import msgspec
from msgspec import Struct

from headstart.core.audiences import WINDOW, Audience
from headstart.core.chats.parts import Origin
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    DraftActivity,
    DraftStage,
    Emit,
    Loading,
    Notice,
    NoticeKind,
    SpeedCurve,
)
from headstart.core.log_safety import kind_of
from headstart.core.models.abilities import Ability
from headstart.core.models.profiles import ProfileKey, Profiles, remember
from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import parts
from headstart.core.requests import AheadRequest, GenerationRequest
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.core.told import Told, about, told
from headstart.engine.decoder import DecodeAborted, Decoder
from headstart.engine.prefix.fingerprint import fingerprint
from headstart.engine.speculation import profile
from headstart.engine.speculation.compatibility import VocabularyMatch
from headstart.engine.speculation.costs import Costs
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.depth.worth import KNOWN_TESTS
from headstart.engine.speculation.draft_making import MakePrefixCache, make_draft
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.earlier import EarlierByAudience, EarlierChats
from headstart.engine.speculation.hidden_rows import HiddenRows
from headstart.engine.speculation.letting_go import LetGo
from headstart.engine.speculation.loop import Speculator
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from headstart.engine.speculation.prompt_lookup import PromptLookup
from headstart.engine.speculation.sources import Drawing, Sources
from headstart.engine.speculation.speed_curve import speed_curve
from headstart.engine.stop import StopSignal

log = logging.getLogger(__name__)

# forwards that measure a new draft's first costs
_LOADED_STEPS, _LOADED_ROWS = 2, 32
# the target replies to it to calibrate an unknown pair
QUESTION = "How can I sleep better? Give me some practical advice."

OpenDraft = Callable[[ModelRef, EngineSettings, Callable[[float], bool]], Decoder]


class WrittenReply(Struct, frozen=True):
    """The last reply, for scoring a draft on it: the whole text's tokens, the start of the reply,
    and its sampling."""

    tokens: tuple[int, ...]
    start: int
    sampling: Sampling
    seed: int
    chat_id: str | None
    # whether processing it may leave traces on disk
    persist: bool


class SpeculationState:
    """The speculation state of one target: made and closed with it."""

    def __init__(
        self,
        model: ModelRef,
        target: Decoder,
        profiles: Profiles | None,
        make_prefix_cache: MakePrefixCache | None = None,
        earlier: EarlierByAudience | None = None,
    ) -> None:
        self._make_prefix_cache = make_prefix_cache
        self._model = model
        self._target = target
        facts = target.facts
        # tokens that the target takes back without a checkpoint; None: any number
        self._undo = None if facts.rollback == "exact" else facts.undo
        self._profiles = profiles
        self._key = partial(ProfileKey, model.signature, device=facts.device)
        self.target_profile = profile.load(profiles, self._key(draft=""), TargetProfile)
        self._lookup = PromptLookup()
        self.earlier = earlier
        self._depth: Depth | None = None
        self._draft: DraftModel | None = None
        self._draft_ref: ModelRef | None = None
        # the target's hidden states, if the draft is a head
        self.rows: HiddenRows | None = None
        self._pair: PairProfile | None = None
        # the chat whose text the draft holds; empty: none
        self.draft_chat: tuple[str | None, ...] = ()
        # the chat of the present text, and who may reuse what is computed for it
        self._entered: tuple[Audience, str | None] = (WINDOW, None)
        # a short question in the chat template, on which pairs are tried first. Text outside a chat
        # says little: drafts with 0.99 right tokens in replies had 0.5 in it
        self.sample_prompt: list[int] = target.encode(QUESTION)
        self._failed: set[str] = set()
        self.let_go = LetGo()
        self._emit: Emit | None = None
        # the present reply's request, its growing text, its start and its seed
        self._writing: tuple[GenerationRequest, list[int], int, int] | None = None
        self.last_reply: WrittenReply | None = None
        self.match: VocabularyMatch | None = None
        # whether doubtful costs have been timed again since the last reply
        self.timed_again = False

    def target_costs(self) -> Costs:
        """The costs of the target's present pace."""
        self.target_profile.use(self._target.pace)
        return self.target_profile.costs

    @property
    def pair(self) -> PairProfile | None:
        return self._pair

    @property
    def draft(self) -> DraftModel | None:
        return self._draft

    @property
    def depth(self) -> Depth | None:
        return self._depth

    @property
    def target(self) -> Decoder:
        return self._target

    def free_draft(self) -> None:
        """Mark the draft's held text as no chat's, before it processes another text."""
        self.draft_chat = ()

    def load_draft(
        self,
        wanted: ModelRef | None,
        engine: EngineSettings,
        open_draft: OpenDraft,
        emit: Emit,
        stop: StopSignal,
    ) -> None:
        """Load the wanted draft; None keeps the loaded one, unused.

        Raises DecodeAborted on a cancel; every other problem is a notice, emitted once.
        """
        if wanted is None or wanted == self._draft_ref:
            return
        self._unload_draft()
        if wanted.key in self._failed or wanted in self.let_go:
            return
        try:
            self._load(wanted, engine, open_draft, emit, stop)
            return
        except DecodeAborted:
            raise
        except EnvironmentProblem as problem:
            reason = problem.told
        except Exception as problem:
            # a draft that breaks must not end the reply
            log.warning("the draft failed: %s", problem, exc_info=problem)
            reason = told("draft-failed", kind=kind_of(problem))
        self._unload_draft()
        self._fail(wanted, reason, emit)

    def _load(
        self,
        wanted: ModelRef,
        engine: EngineSettings,
        open_draft: OpenDraft,
        emit: Emit,
        stop: StopSignal,
    ) -> None:
        if wanted.path != self._model.path:
            try:
                found = sum(part.stat().st_size for part in parts(wanted.path))
            except OSError as error:
                raise EnvironmentProblem("draft-file-gone") from error
            # for a folder only its weights count
            if (found if wanted.format == "gguf" else wanted.size) >= self._model.size:
                raise EnvironmentProblem("draft-not-smaller")
        emit(Loading(wanted, 0.0, draft=True))

        decoder = open_draft(wanted, engine, lambda _fraction: not stop.stopped)
        try:
            # a head's saved state is valid for one target only
            named = fingerprint(self._model.path).hex() if decoder.facts.wants else ""
            make_cache = self._make_prefix_cache
            draft, self.match = make_draft(self._target, named, wanted, decoder, make_cache)
        except OSError as error:
            decoder.close()
            raise EnvironmentProblem("draft-file-gone") from error
        except BaseException:
            decoder.close()
            raise
        if wanted.path == self._model.path:
            draft.origin = Origin.OWN_LAYERS
        draft.enter(*self._entered)
        self._draft, self._draft_ref, self.rows = draft, wanted, draft.rows
        emit(Loading(wanted, 1.0, draft=True))
        self._pair = profile.load(self._profiles, self._key(draft=wanted.signature), PairProfile)
        self._pair.at_once = decoder.facts.at_once
        if not self._pair.costs.known:
            # file sizes say little: a dense draft of a sparse target costs more than its share.
            # Twice, because the first pass loads the weights into memory
            for _ in range(2):
                self._draft.time_steps(self._pair.costs, _LOADED_STEPS, _LOADED_ROWS)

    def _fail(self, wanted: ModelRef, reason: Told, emit: Emit) -> None:
        log.warning("the draft %s cannot be used: %s", wanted.name, reason.text)
        self._failed.add(wanted.key)
        said = about("draft-unusable", reason, draft=wanted.name, model=self._model.name)
        emit(Notice(NoticeKind.DRAFT, said))

    def begin(
        self,
        request: GenerationRequest,
        tokens: list[int],
        drawing: Drawing,
        emit: Emit,
        stop: StopSignal,
    ) -> Speculator:
        """The loop for one reply after the text `tokens`, which the loop extends."""
        wanted = request.speculation
        if Ability.CUTTING in self._target.facts.lacking:
            # a wrong draft token could not be removed
            wanted = msgspec.structs.replace(wanted, enabled=False)
        named = request.load.draft
        follows = wanted.enabled and named is not None and named == self._draft_ref
        draft = self._draft if follows else None
        pair = self._pair if draft is not None else None
        if self._depth is None:
            self._depth = Depth(self.target_profile, pair, wanted, self._undo)
        paces = self._target.pace, None if draft is None else draft.decoder.pace
        self._depth.begin(pair, wanted, paces)
        self._writing, self._emit = (request, tokens, len(tokens), drawing.seed), emit
        lookup = self._lookup if wanted.enabled and wanted.prompt_lookup else None
        if lookup is not None:
            began = self._target.seconds()
            # a long new text is indexed as far as the budget allows; the rest when idle
            lookup.sync(tokens, self._depth.budget.allowance() / 2)
            self._depth.budget.spend(self._target.seconds() - began, drafting=False)
        if draft is not None:
            draft.persist = request.owner is not None

        def begin_draft(text: Sequence[int]) -> None:
            assert draft is not None
            self.free_draft()
            draft.begin(text, request.sampling, drawing.seed, stop, drawing.rules)
            self.draft_chat = (request.chat_id,)

        def on_draft_failed(reason: str) -> None:
            failed = self._draft_ref
            self._unload_draft()
            if failed is not None:
                self._fail(failed, told("draft-failed", kind=reason), emit)

        earlier = self.earlier_for(request)
        if earlier is not None:
            earlier.begin()
        if draft is not None:
            draft.second_stage.recycling = None if earlier is None else earlier.recycling
        forced = drawing.rules.forced if wanted.enabled and drawing.rules is not None else None
        sources = Sources(wanted, lookup, draft, on_draft_failed, begin_draft, earlier, forced)
        return Speculator(self._target, tokens, drawing.sampler, self._depth, sources)

    def end(self) -> None:
        """End the reply, and keep what was learned."""
        if self._depth is not None:
            self._depth.end()
        if self._draft is not None:
            self._draft.end()
        if self._writing is not None:
            request, tokens, start, seed = self._writing
            self._writing = None
            self.timed_again = False
            earlier = self.earlier_for(request)
            if earlier is not None:
                earlier.wrote(tokens[start:])
            chat_id, persist = request.chat_id, request.owner is not None
            self.last_reply = WrittenReply(
                tuple(tokens), start, request.sampling, seed, chat_id, persist
            )
        self.save()
        ref, depth = self._draft_ref, self._depth
        # unloading layers of the model's own file would free no memory
        if ref is None or depth is None or ref.path == self._model.path or self._emit is None:
            return
        if self.let_go.is_due(ref, depth, self._target.n_past()):
            self._unload_draft()
            said = told("draft-let-go", draft=ref.name, model=self._model.name)
            self._emit(Notice(NoticeKind.DRAFT, said))

    def complete_index(self) -> None:
        """Index the remaining part of the last text (some 4 µs per token)."""
        if not self._lookup.whole:
            self._lookup.sync(list(self._lookup.tokens))

    def follow_paces(self) -> Depth:
        """Update the depth choice for the loaded draft at the present paces; requires a draft."""
        assert self._draft is not None
        if self._depth is None:
            self._depth = Depth(self.target_profile, self._pair, Speculation(), self._undo)
        self._depth.costs.pair = self._pair
        self._depth.follow(self._target.pace, self._draft.decoder.pace)
        return self._depth

    def activity(self) -> DraftActivity:
        """The next activity of the loaded draft, as far as known."""
        pair, context = self._pair, self._target.n_past()
        if pair is None or self._depth is None or pair.margins.all_verified < KNOWN_TESTS:
            return DraftActivity(DraftStage.LEARNING)
        facts = (pair.margins.mean, self._depth.worth.needed(context))
        if self._depth.worth.known_to_lose(context):
            return DraftActivity(DraftStage.NOT_PAYING, 0, *facts)
        return DraftActivity(DraftStage.READY, 0, *facts)

    def prefill_ahead(self, request: AheadRequest, tokens: Sequence[int], stop: StopSignal) -> None:
        """Prefill the text into the draft too, if it is loaded. Raises DecodeAborted."""
        draft = request.load.draft
        if self._draft is None or draft is None or self._draft_ref != draft or self._pair is None:
            return
        self.free_draft()
        self._draft.begin(tokens, Sampling(temperature=0), 0, stop)
        self._draft.persist = request.owner is not None
        try:
            if not self._draft.ready:
                # a head without the target's states
                return
            self.draft_chat = (request.chat_id,)
            self._draft.restore()
            self._draft.prefill(self._pair.costs)
        finally:
            self._draft.end()

    def save_prefix(self, chat_id: str | None, owner: str | None, tail: bool) -> Iterator[None]:
        """Save the KV state of the draft, in short pieces of work; see `PrefixCache.save`."""
        # state of another chat is not saved under this one's name and retention
        if self._draft is not None and self.draft_chat == (chat_id,):
            yield from self._draft.save(owner, tail)

    def enter(self, audience: Audience, chat_id: str | None) -> None:
        """Follow text of this chat next. What is left of a text that its audience may not read goes
        first: a draft of it, or its index, would tell."""
        if self._entered[0].name not in audience.sees:
            self.forget_text()
        self._entered = audience, chat_id
        if self._draft is not None:
            self._draft.enter(audience, chat_id)

    def forget_text(self) -> None:
        """Drop all that is left of the last text."""
        self._lookup = PromptLookup()
        self.last_reply = None
        self.free_draft()
        if self._draft is not None:
            self._draft.forget_text()

    def forget_chats(self, gone: Collection[str]) -> None:
        """Drop what is left of the last text, if it is of one of these chats."""
        last = self.last_reply
        if any(one in gone for one in self.draft_chat) or (
            last is not None and last.chat_id in gone
        ):
            self.forget_text()

    def earlier_for(self, request: GenerationRequest | AheadRequest) -> EarlierChats | None:
        """The earlier chats that a request drafts from: of its own audience. Private chats neither
        give nor take text."""
        wanted = request.speculation
        if self.earlier is None or request.owner is None:
            return None
        if not wanted.enabled or not wanted.earlier_chats:
            return None
        return self.earlier.of(request.audience)

    def save(self) -> None:
        remember(self._profiles, self._key(draft=""), self.target_profile)
        if self._pair is not None and self._draft_ref is not None:
            remember(self._profiles, self._key(draft=self._draft_ref.signature), self._pair)

    def curve(self, context: int, done: int = 1, total: int = 1) -> SpeedCurve | None:
        """Tokens per second by depth, from the measurements so far; None without any."""
        costs, pair = self.target_profile.costs, self._pair
        if pair is None or not costs.known or not pair.costs.known:
            return None
        return speed_curve(costs, pair, context, done, total)

    def abort(self) -> None:
        """From any thread: stop a forward of the draft."""
        draft = self._draft
        if draft is not None:
            draft.decoder.abort()

    def clear_abort(self) -> None:
        if self._draft is not None:
            self._draft.decoder.clear_abort()

    def close(self) -> None:
        if self.earlier is not None:
            self.earlier.keep()
        self._unload_draft()

    def _unload_draft(self) -> None:
        if self._draft is not None:
            self._draft.close()
            self._target.states.keep(())
        self._draft = self._draft_ref = self._pair = self.match = self.rows = None
        self.draft_chat = ()
        self.last_reply = None
