"""What all loaded models share: what is known of files, kept prefixes, profiles. Engine thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from msgspec import MsgspecError, Struct, field, json, structs

from headstart.core.abilities import Ability, Lacking
from headstart.core.errors import ModelProblem
from headstart.core.fit import ModelShape
from headstart.core.heads import HeadFacts
from headstart.core.model_ref import ModelRef
from headstart.core.prefixes import Traces
from headstart.core.profiles import ProfileKey, Profiles
from headstart.core.replies import EarlierReplies, NoReplies
from headstart.core.rgb import DecodeImage, no_images
from headstart.core.running import NotNoted, Running
from headstart.core.settings import EngineSettings
from headstart.core.tuning import Tuning
from headstart.engine.backends import select
from headstart.engine.backends.checked import Checked
from headstart.engine.prefix import fingerprint, keys, speeds
from headstart.engine.prefix.kept_decoder import KeptDecoder
from headstart.engine.prefix.prefix_cache import PrefixCache
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.prefix.tracer import TraceMemory
from headstart.engine.stop import StopSignal

log = logging.getLogger(__name__)

# the part of a profile's key that a draft's name has elsewhere
_TUNING = "(tuning)"


class CheckedModels(Protocol):
    """Remembers which files were opened without harm; see `backends.probe`."""

    def lacking(self, model: ModelRef, engine: EngineSettings) -> Lacking | None: ...

    def add(self, model: ModelRef, engine: EngineSettings, lacking: Lacking) -> None: ...

    def shape(self, model: ModelRef) -> ModelShape:
        """What decides the memory that it takes; raises ModelProblem, OSError."""
        ...

    def head(self, draft: ModelRef, target: ModelRef) -> HeadFacts | None:
        """What the draft's file says of itself as a head; the layers of the target's own file where
        both are the same. None for a model. Raises ModelProblem, OSError."""
        ...


class Resources(Struct, frozen=True):
    """What all loaded models share."""

    checked: CheckedModels
    profiles: Profiles | None = None
    store: PrefixStore | None = None
    traces: TraceMemory = field(default_factory=lambda: TraceMemory(None))
    running: Running = field(default_factory=NotNoted)
    decode_image: DecodeImage = no_images
    # what models wrote in earlier chats
    replies: EarlierReplies = field(default_factory=NoReplies)

    @classmethod
    def of(
        cls,
        checked: CheckedModels,
        profiles: Profiles | None,
        store: PrefixStore | None,
        traces: Traces | None,
        running: Running | None,
    ) -> Resources:
        return cls(checked, profiles, store, TraceMemory(traces), running or NotNoted())

    def forgets(self) -> int:
        """How often words of chats had to go since the start; see `PrefixStore.forgets`."""
        return 0 if self.store is None else self.store.forgets

    def check(
        self,
        model: ModelRef,
        engine: EngineSettings,
        progress: Callable[[float], bool],
        stop: StopSignal,
        layers: int | None = None,
    ) -> Checked:
        """What the model cannot do, and what is fastest on graphics cards, tried in a child process
        where that is not known, with `layers` on the cards. Raises ModelProblem where it cannot
        run, or be opened."""
        why = select.cannot_run(model.format, engine.backend)
        if why is not None:
            raise ModelProblem("cannot-run", name=model.name, why=why)
        lacking = self.checked.lacking(model, engine)
        # without layers there now, nothing can be measured
        device = select.tuned_for(model, engine) if self.profiles and layers != 0 else ""
        tuning = self._tuning(model, device)
        if lacking is not None and (not device or tuning is not None):
            return Checked(lacking, tuning)
        tried = engine if layers is None else structs.replace(engine, gpu_layers=layers)
        found = select.check_unknown(model, tried, stop, progress)
        self.checked.add(model, engine, found.lacking)
        if self.profiles is not None and device:
            # what could not be measured is not tried again at each start
            kept = found.tuning or Tuning()
            self.profiles.save(ProfileKey(model.signature, _TUNING, device), json.encode(kept))
        return found

    def _tuning(self, model: ModelRef, device: str) -> Tuning | None:
        if not device or self.profiles is None:
            return None
        data = self.profiles.load(ProfileKey(model.signature, _TUNING, device))
        if data is None:
            return None
        try:
            return json.decode(data, type=Tuning)
        except MsgspecError:
            return None

    def make_prefix_cache(
        self, model: ModelRef, decoder: KeptDecoder, measured: speeds.PrefixSpeeds
    ) -> PrefixCache | None:
        """What keeps a decoder's prefixes; None without a store, for a file that is gone, and for a
        model that they cannot be kept of."""
        if self.store is None or Ability.PREFIXES in decoder.facts.lacking:
            return None
        try:
            weights = fingerprint.fingerprint(model.path)
        except OSError as error:
            log.warning("prefixes of %s are not kept: %s", model.name, error)
            return None
        self.store.wait_until_ready()
        namespace = keys.namespace(weights, decoder.facts.state, decoder.facts.chunk)
        return PrefixCache(decoder, self.store, namespace, measured)
