"""Opening what drafts for a loaded model: a smaller model, a head, or layers of its own file.
Engine thread.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.heads import HeadFacts, HeadKind
from headstart.core.model_ref import ModelRef
from headstart.core.profiles import ProfileKey
from headstart.core.requests import LoadRequest
from headstart.core.settings import EngineSettings
from headstart.engine import room
from headstart.engine.backends import select
from headstart.engine.decoder import Decoder
from headstart.engine.memory import memory
from headstart.engine.prefix.fingerprint import fingerprint
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal

# the part of a profile's key that a draft's name has elsewhere
_HEAD = "(head)"
_WORKS = b"1"


class DraftOpening(Struct, frozen=True):
    """For the target of `wanted`, which `decoder` runs."""

    resources: Resources
    wanted: LoadRequest
    decoder: Decoder
    stop: StopSignal

    def open(
        self, draft: ModelRef, settings: EngineSettings, progress: Callable[[float], bool]
    ) -> Decoder:
        """Raises EnvironmentProblem, DecodeAborted."""
        head = self._head(draft)
        settings = self._fitted(draft, settings)
        if head is not None:
            return self._open_head(draft, head, settings, progress)
        if draft.path == self.wanted.model.path:
            raise EnvironmentProblem("no-own-layers")
        checked = self.resources.check(draft, settings, progress, self.stop)
        run = checked.applied(settings).as_run
        return select.open_decoder(draft, run, progress, checked.lacking, clamp=True)

    def empties(self, draft: ModelRef | None) -> bool:
        """Whether the target holds nothing any more once it is open: who shares the target's memory
        makes it new."""
        try:
            head = None if draft is None else self._head(draft)
        except EnvironmentProblem:
            return False
        return head is not None and head.kind is HeadKind.ASSISTANT

    def _head(self, draft: ModelRef) -> HeadFacts | None:
        try:
            return self.resources.checked.head(draft, self.wanted.model)
        except OSError as error:
            raise EnvironmentProblem("draft-file-gone") from error

    def _fitted(self, draft: ModelRef, settings: EngineSettings) -> EngineSettings:
        """On the graphics card where there is room for all of it. Raises ModelProblem where there
        is no memory for it."""
        context = self.decoder.facts.context_length
        wanted = LoadRequest(self.wanted.model, self.wanted.engine, draft)
        shape = room.shapes(self.resources.checked.shape, wanted).draft
        assert shape is not None
        cards = select.card_memory(draft.format, settings)
        if cards is None:
            room.check_draft(shape, self.wanted, memory(), context)
        elif settings.gpu_layers < 0:
            layers = room.draft_layers(shape, context, settings, cards)
            return msgspec.structs.replace(settings, gpu_layers=layers)
        return settings

    def _open_head(
        self,
        draft: ModelRef,
        head: HeadFacts,
        settings: EngineSettings,
        progress: Callable[[float], bool],
    ) -> Decoder:
        facts = self.decoder.facts
        fits = head.width in (0, facts.width)
        if not fits or head.vocabulary not in (0, facts.vocabulary_size):
            raise ModelProblem("head-for-another-model", name=draft.name)
        if "plain attention" in facts.state:
            # as the target really runs, whatever was wished for
            settings = msgspec.structs.replace(settings, flash_attention="off")
        run, opened = settings.as_run, None
        if head.kind is HeadKind.MEDUSA:
            # ends no process, and says what is wrong with it; the trial is what its target gives
            opened = select.open_head(draft, head.kind, run, self.decoder, progress)
        if not self._works(draft, head.kind, run):
            if opened is not None:
                opened.close()
            raise ModelProblem("head-does-not-work", name=draft.name)
        return opened or select.open_head(draft, head.kind, run, self.decoder, progress)

    def _works(self, draft: ModelRef, kind: HeadKind, engine: EngineSettings) -> bool:
        """Whether the pair works: found out once, and kept with the profiles. That it does not may
        have been the moment's fault, and is found out with each load."""
        target, profiles = self.wanted.model, self.resources.profiles
        state = self.decoder.facts.state
        pair = f"{fingerprint(draft.path).hex()}, {kind.value}, {engine.flash_attention}, {state}"
        key = ProfileKey(target.signature, _HEAD, pair)
        if profiles is not None and profiles.load(key) == _WORKS:
            return True
        works = select.check_head(target, draft, kind, engine, self.stop)
        if works and profiles is not None:
            profiles.save(key, _WORKS)
        return works


def drafts_itself(resources: Resources, model: ModelRef) -> bool:
    """Whether its file has layers for drafting that can be run."""
    try:
        return resources.checked.head(model, model) is not None
    except (ModelProblem, OSError):
        # what is wrong with it is said when it is opened
        return False
