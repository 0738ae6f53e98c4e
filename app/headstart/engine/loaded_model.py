"""A local model with everything that runs it: built completely, or not at all. Engine thread."""

from __future__ import annotations

import contextlib
import functools
import logging
import time
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct, field

from headstart.core.audiences import WINDOW, Audience, private
from headstart.core.chats.values import Role
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Counted, Emit, Notice, NoticeKind
from headstart.core.models.abilities import Ability
from headstart.core.models.fit import Need
from headstart.core.requests import (
    AheadRequest,
    CountRequest,
    GenerationRequest,
    LoadRequest,
    PromptMessage,
)
from headstart.core.running import Doing, noted
from headstart.core.told import told
from headstart.core.tools import NO_TOOLS, Tools
from headstart.engine import template
from headstart.engine.decoder import DecodeAborted, Decoder
from headstart.engine.exactness import Exactness
from headstart.engine.other_template import OtherTemplate, tell
from headstart.engine.prefill import Prefiller, Resident
from headstart.engine.prefill_ahead import prefill_ahead
from headstart.engine.prefix import speeds
from headstart.engine.prompt import PromptEncoder
from headstart.engine.resources import Resources
from headstart.engine.speculation.idle import learn_when_idle
from headstart.engine.speculation.state import SpeculationState
from headstart.engine.stop import StopSignal
from headstart.engine.turn import TurnParts
from headstart.engine.turn_account import PausedTurn
from headstart.engine.vision import Vision
from headstart.engine.weights import Weights

log = logging.getLogger(__name__)

# a chat idle for this long has its tail saved to disk
IDLE_SECONDS = 60.0


class LoadedModel(Struct):
    """A loaded model. `wanted` is the request that loaded it; later requests load and change its
    draft."""

    wanted: LoadRequest
    resources: Resources
    parts: TurnParts
    template: template.ChatTemplate
    speeds: speeds.PrefixSpeeds
    vision: Vision
    other: OtherTemplate
    weights: Weights
    draft_weights: Weights | None = None
    # approximate memory, in bytes, with its draft
    need: Need = field(default_factory=Need)
    exactness: Exactness | None = None  # where the settings ask for it
    # missing abilities that the user has not yet been told about
    untold: Sequence[Ability] = ()
    # true once a forward has run
    warm: bool = False
    # the last request's audience, and the number of deleted chats that are forgotten
    audience: str = WINDOW.name
    gone: int = 0

    @property
    def decoder(self) -> Decoder:
        return self.parts.decoder

    @property
    def encoder(self) -> PromptEncoder:
        return self.parts.encoder

    @property
    def prefiller(self) -> Prefiller:
        return self.parts.prefiller

    @property
    def resident(self) -> Resident:
        """Tokens in the context."""
        return self.parts.prefiller.resident

    @property
    def speculation(self) -> SpeculationState:
        return self.parts.speculation

    @property
    def changed(self) -> bool:
        """True if a file of the model or its draft was written or replaced since it was loaded."""
        draft = self.draft_weights
        return self.weights.changed or (draft is not None and draft.changed)

    @property
    def written_over(self) -> bool:
        draft = self.draft_weights
        return self.weights.written_over or (draft is not None and draft.written_over)

    def fits(self, wanted: LoadRequest) -> bool:
        """True if this is the wanted model with the same settings."""
        return (self.wanted.model, self.wanted.engine) == (wanted.model, wanted.engine)

    # --- requests ------------------------------------------------------------------------

    def write(
        self,
        request: GenerationRequest,
        emit: Emit,
        stop: StopSignal,
        paused: PausedTurn | None = None,
    ) -> None:
        """Run one turn, from where it paused. Raises EnvironmentProblem and GaveWay."""
        name = self.wanted.model.name
        tell(name, self.template, emit)
        for ability in self.untold:
            emit(Notice(NoticeKind.MODEL, told(f"model-lacks-{ability.value}", name=name)))
        self.untold = ()
        store, running = self.resources.store, self.resources.running
        try:
            if store is not None:
                store.begin_reply(request.owner)
                if request.served:
                    # a long prompt's state is written while it is computed: the program may be
                    # ended right after the first answer
                    store.go_on_writing()
            self._enter(request.audience)
            if self.parts.tracer is not None:
                self.parts.tracer.reply_tokens.load(request.chat_id)
            with noted(running, Doing("reading", name)):
                began = functools.partial(self._prompt_read, Doing("writing", name))
                self.other.run(self.parts, request, emit, stop, began, paused)
        except template.TemplateError as error:
            raise EnvironmentProblem(
                "template-refuses", name=name, error=error, quotes=True
            ) from error
        finally:
            if store is not None:
                store.end_reply()

    def _prompt_read(self, doing: Doing) -> None:
        self.resources.running.begin(doing)
        if self.resources.store is not None:
            self.resources.store.pause_writing()

    def prefill_ahead(self, request: AheadRequest, emit: Emit, stop: StopSignal) -> None:
        """Prefill the certain part of a chat's next prompt."""
        if request.chat_id in self.other:
            return
        prefiller = self.prefiller
        self._enter(request.audience)
        self.speculation.earlier_for(request)
        if self.parts.tracer is not None:
            self.parts.tracer.reply_tokens.load(request.chat_id)
        if prefiller.resident.chat_id != request.chat_id and not (
            # no user is waiting: the previous chat is saved completely first
            prefiller.save(stop) and prefiller.save_tail(stop)
        ):
            return
        try:
            with self.aborting(stop), noted(self.resources.running, self._doing):
                size = self.decoder.facts.context_length
                tokens = prefill_ahead(request, self.encoder, prefiller, size, emit, stop)
                if tokens:
                    self.speculation.prefill_ahead(request, tokens, stop)
        except template.TemplateError as error:
            # the request itself will report it
            log.info("nothing is prefilled ahead: %s", error)
            self.other.add(request.chat_id, error)

    def count(self, request: CountRequest) -> Counted:
        """Tokens of texts, those that sets of tools add to a prompt, and those of a whole one.
        Raises EnvironmentProblem for a prompt that the template refuses."""
        encoder = self.encoder
        asked = [PromptMessage(Role.USER, "a", "")]

        def length(tools: Tools) -> int:
            with contextlib.suppress(template.TemplateError):
                return len(encoder.encode(encoder.render(asked, tools=tools)))
            return 0

        plain = length(NO_TOOLS)
        return Counted(
            tuple(encoder.count(text, keep=False) for text in request.texts),
            tuple(max(0, length(tools) - plain) for tools in request.tools),
            0 if request.prompt is None else self._length(request.prompt),
        )

    def _length(self, prompt: GenerationRequest) -> int:
        self._enter(prompt.audience)
        encoder = self.encoder
        encoder.images.show(prompt.messages)
        try:
            rendered = encoder.render(prompt.messages, prompt.thinking, prompt.tools)
        except template.TemplateError as error:
            name = self.wanted.model.name
            raise EnvironmentProblem(
                "template-refuses", name=name, error=error, quotes=True
            ) from error
        return len(encoder.encode(rendered))

    def exactly(self, request: GenerationRequest, emit: Emit) -> GenerationRequest:
        """The request without drafts, if it must be exact and drafts could change a word."""
        if self.exactness is None or self.exactness.exact:
            return request
        emit(
            Notice(
                NoticeKind.EXACT,
                told("not-exact", name=self.wanted.model.name, gap=self.exactness.gap),
            )
        )
        off = msgspec.structs.replace(request.speculation, enabled=False)
        load = msgspec.structs.replace(request.load, draft=None)
        return msgspec.structs.replace(request, speculation=off, load=load)

    # --- audiences -----------------------------------------------------------------------

    def _enter(self, audience: Audience) -> None:
        """Look up texts and images for this audience: others' leave no trace in its answers."""
        self._forget_gone()
        if self.audience not in audience.sees:
            self.decoder.forget_images()
        self.audience = audience.name
        self.encoder.texts.enter(audience)

    def _forget_gone(self) -> None:
        """Forget the text of chats that were deleted since the last look."""
        if self.resources.store is None:
            return
        controls = self.resources.store.controls
        if controls.number_gone == self.gone:
            return
        gone = controls.gone_since(self.gone)
        self.gone = controls.number_gone
        names = {private(one).name for one in gone}
        resident, speculation = self.resident, self.speculation
        if resident.chat_id in gone or resident.audience in names:
            self.prefiller.forget()
            speculation.forget_text()
        speculation.forget_chats(gone)
        for one in gone:
            self.encoder.texts.forget(private(one).name)
            self.resources.traces.forget(one)
        # texts are not told apart by chat
        self.encoder.texts.forget(WINDOW.name)
        self.decoder.forget_images()

    # --- idle work -----------------------------------------------------------------------

    def save_when_idle(self, stop: StopSignal) -> float | None:
        """Save prefilled state; returns the seconds until more can be saved, None: nothing is
        left."""
        prefiller, resident = self.prefiller, self.resident
        self._forget_gone()
        if prefiller.prefix_cache is None or self.changed:
            return None
        if resident.unsaved:
            if not prefiller.save(stop):
                return 0.0
            model, device = self.wanted.model.signature, self.decoder.facts.device
            speeds.save(self.resources.profiles, model, device, self.speeds)
        if not resident.tail_unsaved:
            return None
        wait = resident.idle_since + IDLE_SECONDS - time.monotonic()
        if wait > 0:
            return wait
        return None if prefiller.save_tail(stop) else 0.0

    def warm_up(self, stop: StopSignal) -> None:
        """Run one forward, so that the first question need not wait for pages and GPU kernels to
        load."""
        if self.warm or self.resident.tokens:
            return
        self.warm = True
        with self.aborting(stop), noted(self.resources.running, self._doing):
            self.decoder.forward([0], [0])

    def learn(self, emit: Emit, stop: StopSignal) -> bool:
        """Learn from past replies how to speed up the next; True: new state waits to be saved."""
        speculation, resident, has_prefilled = self.speculation, self.resident, False
        speculation.complete_index()
        if speculation.earlier is not None:
            for _ in speculation.earlier.build(self.decoder.encode):
                if stop.stopped:
                    return False
        if speculation.draft is None:
            return False
        try:
            with self.aborting(stop), noted(self.resources.running, self._doing):
                has_prefilled = learn_when_idle(speculation, resident, emit, stop)
        finally:
            # an aborted forward may have left part of its tokens
            del resident.tokens[self.decoder.truncate(len(resident.tokens)) :]
        if has_prefilled:
            # the draft's state is saved beside the target's
            resident.unsaved = resident.tail_unsaved = True
        return has_prefilled

    def close_chat(self, stop: StopSignal) -> None:
        """Save all state of the resident chat until `stop`; none if the weights have changed
        meanwhile."""
        if not self.changed:
            self.prefiller.save_tail(stop)

    def close(self) -> None:
        self.speculation.close()
        self.decoder.close()

    @contextlib.contextmanager
    def aborting(self, stop: StopSignal) -> Iterator[None]:
        """Let a stop abort a forward of the work inside; the resident tokens match the KV state
        afterwards."""

        def abort() -> None:
            self.decoder.abort()
            self.speculation.abort()

        stop.set_abort(abort)
        try:
            yield
        except DecodeAborted:
            pass
        finally:
            stop.set_abort(None)
            self.decoder.clear_abort()
            self.speculation.clear_abort()
            self.prefiller.synchronize()

    @property
    def _doing(self) -> Doing:
        return Doing("reading", self.wanted.model.name)
