"""The vision of a loaded model: its projector, opened once an image needs it. Engine thread.

A projector takes memory and time, and some pairs of a model and a projector end the process: each
pair is tried in a child process first.
"""

from __future__ import annotations

from pathlib import Path

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.events import Emit, Notice
from headstart.core.profiles import ProfileKey
from headstart.core.requests import LoadRequest
from headstart.core.running import Doing, noted
from headstart.core.told import Told, about
from headstart.engine import room
from headstart.engine.backends import select
from headstart.engine.decoder import DecodeAborted, Decoder
from headstart.engine.memory import memory
from headstart.engine.prefix.fingerprint import fingerprint
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal

# the part of a profile's key that a draft's name has elsewhere
_IMAGES = "(images)"
_WORKS = b"1"


class Vision:
    def __init__(self, decoder: Decoder, resources: Resources) -> None:
        self._decoder = decoder
        self._resources = resources
        self._opened = False
        # projectors that are of no use here, and why
        self._failed: dict[Path, Told] = {}

    def open(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> bool:
        """Open the projector of the request, if it has one that is not open; True: images are
        prefilled from now on. Where that fails, a notice gives the reason, and prompts have the
        names of images only."""
        projector = wanted.projector
        if projector is None or self._opened:
            return False
        why = self._failed.get(projector)
        if why is None:
            try:
                doing = Doing("loading", projector.name)
                with stop.patiently(), noted(self._resources.running, doing):
                    self._open(projector, wanted, stop)
                self._opened = True
                return True
            except DecodeAborted:
                return False
            except EnvironmentProblem as problem:
                why = self._failed[projector] = problem.told
        emit(Notice("images", about("images-not-seen-because", why, model=wanted.model.name)))
        return False

    def _open(self, projector: Path, wanted: LoadRequest, stop: StopSignal) -> None:
        try:
            named = fingerprint(projector)
            if not self._works(projector, named, wanted, stop):
                raise ModelProblem("projector-does-not-fit", name=projector.name)
            room.check_projector(projector, wanted.model, memory())
        except OSError as error:
            reason = error.strerror or error
            raise ModelProblem("projector-gone", name=projector.name, error=reason) from error
        select.open_images(self._decoder, projector, named, wanted.engine)

    def _works(self, projector: Path, named: bytes, wanted: LoadRequest, stop: StopSignal) -> bool:
        """Whether the pair works: found out once, and kept with the profiles. That it does not may
        have been the moment's fault, and is found out with each load."""
        model, engine, profiles = wanted.model, wanted.engine, self._resources.profiles
        pair = f"{named.hex()}, {engine.as_run.flash_attention}"
        key = ProfileKey(model.signature, _IMAGES, pair)
        if profiles is not None and profiles.load(key) == _WORKS:
            return True
        works = select.check_images(model, projector, engine, stop)
        if works and profiles is not None:
            profiles.save(key, _WORKS)
        return works
