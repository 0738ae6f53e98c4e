"""Model files that were opened here safely before; a small JSON file in the home.

A file is identified by content and modification time, whatever its location and name; missing
abilities belong to the settings that it was tried with. The starter model comes with the set-up and
needs no check. Used on the engine thread.
"""

from __future__ import annotations

import contextlib
import json
import logging
from pathlib import Path

from headstart.core.files import write_whole
from headstart.core.models.abilities import LACKS_NOTHING, Lacking, from_names
from headstart.core.models.fit import ModelShape, unknown_shape
from headstart.core.models.heads import HeadFacts, HeadKind
from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import parts
from headstart.core.settings.schema import EngineSettings
from headstart.hub.content import content_of
from headstart.hub.heads import own_layers, read_head
from headstart.hub.library import starter_model
from headstart.hub.shapes import read_shape

log = logging.getLogger(__name__)


class CheckedModelsFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def lacking(self, model: ModelRef, engine: EngineSettings) -> Lacking | None:
        """Abilities that the model was found to lack; None if it was not tried with these
        settings."""
        starter = starter_model()
        if starter is not None and starter.path == model.path:
            return LACKS_NOTHING
        listed = self._load()
        known = listed.get(_name(model)) or listed.get(model.key)
        if isinstance(known, list):
            # an entry of earlier versions, by path
            return LACKS_NOTHING if known == _signature(model) else None
        if not isinstance(known, dict) or known.get("file") != _signature(model):
            return None
        by_settings = known.get("lacking")
        names = by_settings.get(_settings(engine)) if isinstance(by_settings, dict) else None
        return None if names is None else from_names(names)

    def add(
        self, model: ModelRef, engine: EngineSettings, lacking: Lacking = LACKS_NOTHING
    ) -> None:
        known = self._load()
        name, signature = _name(model), _signature(model)
        before = known.get(name) or known.get(model.key)
        same = isinstance(before, dict) and before.get("file") == signature
        found = before.get("lacking") if same and isinstance(before, dict) else None
        by_settings = dict(found) if isinstance(found, dict) else {}
        by_settings[_settings(engine)] = sorted(lacking)
        known.pop(model.key, None)
        known[name] = {"file": signature, "lacking": by_settings}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps(known, indent=1).encode(), wait=False)
        except OSError as error:
            log.warning("the list of checked models could not be written: %s", error)

    def shape(self, model: ModelRef) -> ModelShape:
        """The numbers that decide the model's memory; raises ModelProblem."""
        try:
            return read_shape(model)
        except OSError:
            # opening it reports the error
            return unknown_shape(model.size)

    def head(self, draft: ModelRef, target: ModelRef) -> HeadFacts | None:
        """Facts of the draft's file if it is a head; facts of the target's own layers if it drafts
        with them. Raises ModelProblem, OSError."""
        if draft.path != target.path:
            return read_head(draft)
        own = own_layers(target)
        return HeadFacts(HeadKind.OWN, 0, 0, own.architecture) if own.usable else None

    def _load(self) -> dict[str, object]:
        with contextlib.suppress(OSError, ValueError):
            known = json.loads(self._path.read_text(encoding="utf-8"))
            if isinstance(known, dict):
                return known
        return {}


def _settings(engine: EngineSettings) -> str:
    """Settings that change llama.cpp's work with a model."""
    run = engine.as_run
    attention = "flash" if run.flash else "plain"
    return f"{run.kv_type}, {attention}, {run.gpu_layers}"


def _name(model: ModelRef) -> str:
    """Its content digest, which only samples the file; damage elsewhere changes the time as
    well."""
    return content_of(model.path)


def _signature(model: ModelRef) -> list[int]:
    # of a folder: adding or removing any file changes it
    states = [part.stat() for part in parts(model.path)]
    return [sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)]
