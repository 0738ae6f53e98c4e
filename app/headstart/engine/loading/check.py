"""Checks before a load: facts from the file, and results of a trial on this computer, run in a
child process the first time. Engine thread.

llama.cpp ends the process on some files, pairs and cards; such a load is first tried in a child,
and the result is kept with the file (`CheckedModels`) or with the profiles.
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
    """The target's and its draft's shapes, as far as their files give them. Raises ModelProblem for
    a target that is missing or no longer a model, before llama.cpp fails with its own message."""
    model, draft = wanted.model, wanted.draft
    # an inaccessible path counts as missing too; `Path.exists` would raise
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
        # the user is told when the draft is opened
        return Pair(target, fit.unknown_shape(draft.size))


def check(
    resources: Resources,
    model: ModelRef,
    engine: EngineSettings,
    progress: Callable[[float], bool],
    stop: StopSignal,
    layers: int | None = None,
) -> Checked:
    """Find the model's missing abilities and its fastest settings on graphics cards: from an
    earlier trial, or tried in a child with `layers` on the cards. Raises ModelProblem if it cannot
    run or be opened, DecodeAborted."""
    why = select.cannot_run(model.format, engine.backend)
    if why is not None:
        raise ModelProblem("cannot-run", name=model.name, why=why)
    # with no layer on the cards now, nothing can be measured
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
        # a failed measurement is not repeated at each start
        remember(resources.profiles, key, found.tuning or Tuning())
    return found


def works_together(
    profiles: Profiles | None,
    model: ModelRef,
    partner: Partner,
    named: str,
    try_out: Callable[[], bool],
) -> bool:
    """True if a model and a file beside it work together: tried once, and kept as `named`. A
    failure may be temporary, so each load tries again."""
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
    """True if the model's file has draft layers that can run."""
    try:
        return checked.head(model, model) is not None
    except (ModelProblem, OSError):
        # opening it reports the problem
        return False
