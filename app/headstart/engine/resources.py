"""Resources shared by all loaded models: facts of files, saved prefixes, profiles. Engine
thread."""

from __future__ import annotations

import logging
from typing import Protocol

from msgspec import Struct, field

from headstart.core.chats.replies import EarlierReplies, NoReplies
from headstart.core.models.abilities import Ability, Lacking
from headstart.core.models.fit import ModelShape
from headstart.core.models.heads import HeadFacts
from headstart.core.models.profiles import Profiles
from headstart.core.models.ref import ModelRef
from headstart.core.rgb import DecodeImage, no_images
from headstart.core.running import NotNoted, Running
from headstart.core.settings.schema import EngineSettings
from headstart.engine.prefix import fingerprint, keys, speeds
from headstart.engine.prefix.kept_decoder import KeptDecoder
from headstart.engine.prefix.prefix_cache import PrefixCache
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.prefix.tracer import TraceMemory

log = logging.getLogger(__name__)


class CheckedModels(Protocol):
    """Remembers the files that opened safely; see `backends.trial.probe`."""

    def lacking(self, model: ModelRef, engine: EngineSettings) -> Lacking | None: ...

    def add(self, model: ModelRef, engine: EngineSettings, lacking: Lacking) -> None: ...

    def shape(self, model: ModelRef) -> ModelShape:
        """The numbers that decide the model's memory; raises ModelProblem."""
        ...

    def head(self, draft: ModelRef, target: ModelRef) -> HeadFacts | None:
        """The facts of a draft that is a head, from its file, or those of the target's own layers
        where both are one file. None for a full model. Raises ModelProblem, OSError."""
        ...


class Resources(Struct, frozen=True):
    """Resources shared by all loaded models."""

    checked: CheckedModels
    profiles: Profiles | None = None
    store: PrefixStore | None = None
    traces: TraceMemory = field(default_factory=lambda: TraceMemory(None))
    running: Running = field(default_factory=NotNoted)
    decode_image: DecodeImage = no_images
    # the replies in earlier chats
    replies: EarlierReplies = field(default_factory=NoReplies)

    def forgets(self) -> int:
        """Number of times that text of chats was forgotten since the start; see
        `PrefixControls`."""
        return 0 if self.store is None else self.store.controls.forgets

    def make_prefix_cache(
        self, model: ModelRef, decoder: KeptDecoder, measured: speeds.PrefixSpeeds
    ) -> PrefixCache | None:
        """The prefix cache of a decoder; None without a store, for a missing file, and for a model
        whose state cannot be saved."""
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
