"""The way from a request to a loaded decoder, as a reader of the code walks it. The numbers only
shrink; docs/architecture.md draws the way.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import headstart
from headstart.core.models.abilities import LACKS_NOTHING
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings.schema import EngineSettings
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile

APP = Path(headstart.__file__).parent
# functions that are entered, each call in the code once, and how often one goes back to go on
# (48 and 28 before loading had a plan)
STOPS, RETURNS = 30, 16


class Walk:
    """Calls of functions of the engine, until the decoder is made; what other rooms do, and
    properties, are answers and no stops."""

    def __init__(self) -> None:
        self.stops: list[str] = []
        self.returns = 0
        self._frames: list[str] = []
        self._seen: set[tuple[str, int, str]] = set()
        self._over = False

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if self._over or not code.co_filename.startswith(str(APP / "engine")):
            return
        name = f"{Path(code.co_filename).relative_to(APP / 'engine')}:{code.co_qualname}"
        if event == "return" and self._frames:
            self._frames.pop()
        elif event == "call":
            caller = self._frames[-1] if self._frames else ""
            back = frame.f_back
            place = (caller, 0 if back is None else back.f_lineno, name)
            if not name.endswith(">") and place not in self._seen and not _is_property(frame):
                self._seen.add(place)
                self.returns += bool(self.stops) and caller != self.stops[-1]
                self.stops.append(name)
            self._frames.append(name)
            self._over = name.endswith("LlamaCppDecoder.__init__")


def _is_property(frame: FrameType) -> bool:
    owner = frame.f_locals.get("self")
    name = frame.f_code.co_name
    return isinstance(getattr(type(owner), name, None), property)


def test_a_reader_comes_from_a_request_to_a_decoder_in_few_steps(
    starter: ModelRef, tmp_path: Path
) -> None:
    checked = CheckedModelsFile(tmp_path / "checked.json")
    checked.add(starter, EngineSettings(), LACKS_NOTHING)
    generator = LocalGenerator(Resources(checked))
    wanted = LoadRequest(starter, EngineSettings())
    # what is imported and looked up once is no part of the way
    generator.preload(wanted, lambda _event: None, StopSignal())
    generator.unload()
    walk, stop = Walk(), StopSignal()
    sys.setprofile(walk)
    try:
        generator.preload(wanted, lambda _event: None, stop)
    finally:
        sys.setprofile(None)
        generator.close()
    assert walk.stops[-1].endswith("LlamaCppDecoder.__init__")
    assert (len(walk.stops), walk.returns) == (STOPS, RETURNS), "\n".join(walk.stops)
