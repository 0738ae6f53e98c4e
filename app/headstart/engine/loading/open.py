"""Executes a load plan: opens a target with everything that runs it, and its projector. Engine
thread."""

from __future__ import annotations

import time
from pathlib import Path

from msgspec.structs import replace

from headstart.core.audiences import WINDOW
from headstart.core.chats.replies import NoReplies
from headstart.core.chats.values import Role
from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.events import Emit, Loaded, Loading, Notice, NoticeKind
from headstart.core.models.abilities import Lacking
from headstart.core.models.profiles import ProfileKind
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest, PromptMessage
from headstart.core.running import Doing, noted
from headstart.core.told import about
from headstart.engine import exactness, template
from headstart.engine.backends import select
from headstart.engine.constraints.rules import RuleMaker
from headstart.engine.decoder import DecodeAborted, Decoder
from headstart.engine.exactness import Exactness
from headstart.engine.loaded_model import LoadedModel
from headstart.engine.loading.check import has_own_layers, works_together
from headstart.engine.loading.plan import Computer, LoadPlan, refuse_projector
from headstart.engine.loading.progress import LoadProgress
from headstart.engine.other_template import OtherTemplate
from headstart.engine.prefill import Prefiller, Resident
from headstart.engine.prefix import speeds
from headstart.engine.prefix.fingerprint import fingerprint
from headstart.engine.prefix.kept_decoder import KeptDecoder
from headstart.engine.prefix.prefix_cache import PrefixCache
from headstart.engine.prefix.tracer import TracedModel, Tracer
from headstart.engine.prompt import PromptEncoder
from headstart.engine.resources import Resources
from headstart.engine.speculation.earlier import EarlierByAudience, EarlierChats
from headstart.engine.speculation.state import QUESTION, SpeculationState
from headstart.engine.stop import StopSignal
from headstart.engine.turn import TurnParts
from headstart.engine.vision import Vision
from headstart.engine.weights import Weights


def open_target(
    resources: Resources,
    wanted: LoadRequest,
    plan: LoadPlan,
    lacking: Lacking,
    progress: LoadProgress,
) -> LoadedModel:
    """Open a target without its draft. Raises ModelProblem, DecodeAborted."""
    model, stop = wanted.model, progress.stop
    weights, began = Weights(model), time.perf_counter()
    with stop.patiently(), noted(resources.running, Doing("loading", model.name)):
        own = plan.own_layers and has_own_layers(resources.checked, model)
        decoder = select.open_decoder(model, plan.run, progress, lacking, own_layers=own)
    try:
        loaded = assemble(resources, replace(wanted, draft=None), decoder)
        loaded.need, loaded.weights = plan.need, weights
        if wanted.engine.exact:
            loaded.exactness = _check_exactness(loaded, progress.emit, stop)
            if not loaded.exactness.exact:
                loaded.prefiller.reuse_whole_slices()
    except BaseException:
        decoder.close()
        raise
    seconds = time.perf_counter() - began
    for notice in plan.notices:
        progress.emit(notice)
    efforts = loaded.template.efforts
    progress.emit(Loaded(model, decoder.facts.context_length, seconds, efforts))
    return loaded


def assemble(resources: Resources, wanted: LoadRequest, decoder: Decoder) -> LoadedModel:
    """Build a loaded model around an open decoder."""
    model, facts = wanted.model, decoder.facts
    chosen = template.choose(
        facts.chat_template,
        facts.begin_text,
        facts.end_text,
        frozenset(token.text for token in facts.special_tokens),
    )
    encoder = PromptEncoder(decoder, chosen, resources.decode_image)
    measured = speeds.load(resources.profiles, model.signature, facts.device)

    def make_prefix_cache(which: ModelRef, of: KeptDecoder) -> PrefixCache | None:
        return resources.make_prefix_cache(which, of, measured)

    prefix_cache = make_prefix_cache(model, decoder)
    resident = Resident()
    prefiller = Prefiller(decoder, resident, prefix_cache, measured)
    tracer = None
    if prefix_cache is not None:
        facts_traced = TracedModel(
            prefix_cache.namespace, model.name, prefix_cache.needs_snapshots, chosen.reads_clock
        )
        tracer = Tracer(resources.traces, facts_traced, encoder)
        resident.kept_before = tracer.kept_from
    speculation = SpeculationState(
        model,
        decoder,
        resources.profiles,
        make_prefix_cache if prefix_cache is not None else None,
        EarlierByAudience(lambda audience: _earlier(resources, model, audience)),
    )
    prefiller.draft = speculation
    speculation.sample_prompt = _sample_prompt(encoder)
    rules = RuleMaker(decoder, encoder.marks, encoder.pieces)
    parts = TurnParts(decoder, encoder, prefiller, speculation, rules, tracer, chosen.stop)
    lacking = sorted(facts.lacking)
    vision = Vision()
    other = OtherTemplate(model.name)
    return LoadedModel(
        wanted, resources, parts, chosen, measured, vision, other, Weights(model), untold=lacking
    )


def _earlier(resources: Resources, model: ModelRef, audience: str) -> EarlierChats:
    """The earlier chats of an audience; replies on disk are the window's."""
    if audience == WINDOW.name:
        return EarlierChats(model, resources.profiles, resources.replies, resources.forgets)
    return EarlierChats(model, resources.profiles, NoReplies(), resources.forgets, audience)


def open_projector(
    loaded: LoadedModel, wanted: LoadRequest, computer: Computer, emit: Emit, stop: StopSignal
) -> None:
    """Open the request's projector unless it is open. On failure a notice gives the reason, and
    prompts contain only the names of images."""
    projector, vision = wanted.projector, loaded.vision
    if projector is None or vision.opened:
        return
    why = vision.failed.get(projector)
    if why is None:
        doing = Doing("loading", projector.name)
        try:
            with stop.patiently(), noted(loaded.resources.running, doing):
                _open_projector(loaded, projector, wanted, computer, stop)
        except DecodeAborted:
            return
        except EnvironmentProblem as problem:
            why = vision.failed[projector] = problem.told
        else:
            # images are prefilled from now on
            vision.opened, loaded.prefiller.history = True, None
            return
    emit(Notice(NoticeKind.IMAGES, about("images-not-seen-because", why, model=wanted.model.name)))


def _open_projector(
    loaded: LoadedModel,
    projector: Path,
    wanted: LoadRequest,
    computer: Computer,
    stop: StopSignal,
) -> None:
    model, engine = wanted.model, wanted.engine
    try:
        named, size = fingerprint(projector), projector.stat().st_size
        works = works_together(
            loaded.resources.profiles,
            model,
            ProfileKind.IMAGES,
            f"{named.hex()}, {engine.as_run.flash_attention}",
            lambda: select.check_images(model, projector, engine, stop),
        )
    except OSError as error:
        reason = error.strerror or error
        raise ModelProblem("projector-gone", name=projector.name, error=reason) from error
    if not works:
        raise ModelProblem("projector-does-not-fit", name=projector.name)
    refused = refuse_projector(model, size, computer)
    if refused is not None:
        raise refused.problem
    select.open_images(loaded.decoder, projector, named, engine)


def _check_exactness(loaded: LoadedModel, emit: Emit, stop: StopSignal) -> Exactness:
    """Test whether the model is exact, once; the result is kept. Raises DecodeAborted."""
    decoder, profiles = loaded.decoder, loaded.resources.profiles
    model, device = loaded.wanted.model, f"{decoder.facts.device}, {decoder.facts.state}"
    known = exactness.recall_exactness(profiles, model.signature, device)
    if known is None:
        emit(Loading(model, 0.99))
        try:
            with stop.aborting(decoder.abort):
                known = exactness.check(decoder, stop)
        finally:
            decoder.clear_abort()
        exactness.remember_exactness(profiles, model.signature, device, known)
    return known


def _sample_prompt(encoder: PromptEncoder) -> list[int]:
    """A sample question in this model's template, or as plain text where the template refuses
    it."""
    messages = [PromptMessage(Role.USER, QUESTION, "")]
    try:
        return encoder.encode(encoder.render(messages))
    except template.TemplateError:
        return encoder.encode(QUESTION)
