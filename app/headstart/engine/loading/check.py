"""Checks before a load: what a file says, and what was tried here, in a child process the first
time. Engine thread.

llama.cpp ends the process on some files, pairs and cards; whatever can is tried in a child, and the
result is kept with the file (`CheckedModels`) or with the profiles.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import structs

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.models import fit
from headstart.core.models.fit import Pair
from headstart.core.models.heads import HeadFacts
from headstart.core.models.profiles import ProfileKey, ProfileKind, Profiles, recall, remember
from headstart.core.models.ref import ModelRef
from headstart.core.models.tuning import Tuning
from headstart.core.requests import LoadRequest
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends import select
from headstart.engine.backends.checked import Checked
from headstart.engine.resources import CheckedModels, Resources
from headstart.engine.stop import StopSignal

_WORKS = 1
# files that are tried together with a target
Partner: TypeAlias = Literal[ProfileKind.HEAD, ProfileKind.IMAGES]


def shapes(checked: CheckedModels, wanted: LoadRequest) -> Pair:
    """The target's and its draft's shapes, as far as their files say. Raises ModelProblem for a
    target that is gone, or is no model any more: llama.cpp would say so in words of its own."""
    model, draft = wanted.model, wanted.draft
    # a path that cannot be looked at is gone too, where `Path.exists` raises
    if not os.path.exists(model.path):  # noqa: PTH110
        raise ModelProblem("model-gone", path=model.path)
    target = checked.shape(model)
    if draft is None:
        return Pair(target)
    if draft.path == model.path:
        return Pair(target, target.as_own_draft)
    try:
        return Pair(target, checked.shape(draft))
    except ModelProblem:
        # the user hears of it when the draft is opened
        return Pair(target, fit.unknown_shape(draft.size))


def check(
    resources: Resources,
    model: ModelRef,
    engine: EngineSettings,
    progress: Callable[[float], bool],
    stop: StopSignal,
    layers: int | None = None,
) -> Checked:
    """Find the model's missing abilities and its fastest settings on graphics cards: known from
    before, or tried in a child with `layers` on the cards. Raises ModelProblem where it cannot run
    or be opened, DecodeAborted."""
    why = select.cannot_run(model.format, engine.backend)
    if why is not None:
        raise ModelProblem("cannot-run", name=model.name, why=why)
    # without a layer there now, nothing can be measured
    device = select.tuned_for(model, engine) if resources.profiles and layers != 0 else ""
    key = ProfileKey(model.signature, "", device, ProfileKind.TUNING)
    known = resources.checked.lacking(model, engine)
    tuning = recall(resources.profiles, key, Tuning) if device else None
    if known is not None and (not device or tuning is not None):
        return Checked(known, tuning)
    tried = engine if layers is None else structs.replace(engine, gpu_layers=layers)
    found = select.check_unknown(model, tried, stop, progress)
    resources.checked.add(model, engine, found.lacking)
    if device:
        # a figure that could not be measured is not tried again at each start
        remember(resources.profiles, key, found.tuning or Tuning())
    return found


def works_together(
    profiles: Profiles | None,
    model: ModelRef,
    partner: Partner,
    named: str,
    try_out: Callable[[], bool],
) -> bool:
    """True if a model and a file beside it work: tried once, and kept as `named`. A failure may
    have been the moment's fault, and is tried again with each load."""
    key = ProfileKey(model.signature, "", named, partner)
    if recall(profiles, key, int) == _WORKS:
        return True
    works = try_out()
    if works:
        remember(profiles, key, _WORKS)
    return works


def head_of(checked: CheckedModels, draft: ModelRef, target: ModelRef) -> HeadFacts | None:
    """The facts of a draft that is a head of this target; None for a draft model. Raises
    EnvironmentProblem."""
    try:
        return checked.head(draft, target)
    except OSError as error:
        raise EnvironmentProblem("draft-file-gone") from error


def has_own_layers(checked: CheckedModels, model: ModelRef) -> bool:
    """True if its file has layers for drafting that can be run."""
    try:
        return checked.head(model, model) is not None
    except (ModelProblem, OSError):
        # opening it says what is wrong
        return False
