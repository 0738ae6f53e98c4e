"""Which model files were opened here before without harm; a small JSON file in the home.

A file counts as the same while its path, size and modification time are. The starter model
comes with the set-up and needs no check. Used on the engine thread.
"""

from __future__ import annotations

import contextlib
import json
import logging
from pathlib import Path

from headstart.core.files import write_whole
from headstart.core.model_ref import ModelRef
from headstart.core.split_files import parts
from headstart.hub.library import starter_model

log = logging.getLogger(__name__)


class CheckedModels:
    def __init__(self, path: Path) -> None:
        self._path = path

    def is_checked(self, model: ModelRef) -> bool:
        starter = starter_model()
        if starter is not None and starter.path == model.path:
            return True
        return self._load().get(model.key) == _signature(model)

    def add(self, model: ModelRef) -> None:
        known = self._load()
        known[model.key] = _signature(model)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps(known, indent=1).encode(), wait=False)
        except OSError as error:
            log.warning("the list of checked models could not be written: %s", error)

    def _load(self) -> dict[str, list[int]]:
        with contextlib.suppress(OSError, ValueError):
            known = json.loads(self._path.read_text(encoding="utf-8"))
            if isinstance(known, dict):
                return known
        return {}


def _signature(model: ModelRef) -> list[int]:
    # of a folder: any file that comes or goes changes it
    states = [part.stat() for part in parts(model.path)]
    return [sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)]
