"""Opens a model file in a child process first, so that a crash does not close the window.

llama.cpp ends the whole process on some files, and on some models only when their state is copied
or cut. The child does what the app is going to do, and announces each step on its standard output;
a step that ended it is omitted in the next try. The parent side runs on the engine thread.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from headstart.core import reentry
from headstart.core.errors import ModelProblem
from headstart.core.models import tuning
from headstart.core.models.abilities import LACKS_NOTHING, Ability
from headstart.core.models.heads import HeadKind
from headstart.core.models.split_files import parts
from headstart.core.models.tuning import Timing, Tuning
from headstart.core.settings.schema import EngineSettings
from headstart.core.text.shown import shortened
from headstart.engine.backends.checked import Checked
from headstart.engine.backends.trial.read_through import read_through
from headstart.engine.decoder import DecodeAborted
from headstart.engine.stop import StopSignal

OPTION = "--probe-model"
# lines of the child: a step begins, an ability is missing, the trial is done, a timing
_TRIES, _LACKS, PASSED, _TOOK = (
    "headstart-probe: tries ",
    "headstart-probe: lacks ",
    "headstart-probe: passed",
    "headstart-probe: took ",
)
# seconds of a batch above which a card is too slow to be measured while the user waits
LONGEST_BATCH = 0.4
# large enough for the trials
_CONTEXT, _CONTEXT_WITH_IMAGE = 512, 4096
_LONGEST_SAID = 300


class _Trial(Struct, frozen=True):
    """The child's task, as JSON on its command line."""

    settings: EngineSettings
    without: tuple[Ability, ...] = ()
    # batches and attention are measured unless a batch takes longer than this, in seconds; 0: never
    longest_batch: float = 0.0
    # the projector to try images with, and nothing else
    projector: str = ""
    # the head to try with the model, and nothing else: its kind, and its file
    kind: HeadKind | None = None
    head: str = ""


def command(path: Path, trial: str) -> list[str]:
    return reentry.command(OPTION, str(path), trial)


def probe(
    path: Path,
    engine: EngineSettings,
    stop: StopSignal,
    progress: Callable[[float], bool],
    measured: bool = False,
    plain: bool = False,
) -> Checked:
    """The model's missing abilities with these settings; `measured`: with its fastest settings on
    the graphics cards; `plain`: automatic attention is plain on these. Raises ModelProblem if the
    child could not use the file at all, DecodeAborted on a cancel.

    `progress` as in `read_through`, which puts the file in memory for the child.
    """
    read_through(parts(path), lambda fraction: progress(fraction) and not stop.stopped)
    longest = LONGEST_BATCH if measured else 0.0
    attention = engine.as_run.flash_attention
    if plain and attention == "auto":
        return _probe_plain(path, engine, stop, longest)
    try:
        return _probe(path, engine, stop, longest)
    except ModelProblem as problem:
        if attention == "off" or not (measured or attention == "on"):
            raise
        # some cards fail at flash attention
        try:
            found = _probe_plain(path, engine, stop, longest)
        except ModelProblem:
            raise problem from None
        if attention == "on":
            raise ModelProblem("fails-at-flash-attention", name=path.name) from None
        return found


def probe_images(path: Path, projector: Path, engine: EngineSettings, stop: StopSignal) -> bool:
    """True if the model processes images with this projector. Raises DecodeAborted on a cancel."""
    # the model's weights may already fill the card
    settings = msgspec.structs.replace(engine, gpu_layers=0)
    trial = _Trial(settings, projector=str(projector))
    _, output = _run(path, msgspec.json.encode(trial).decode(), stop)
    return PASSED in (line.strip() for line in output.splitlines())


def probe_head(
    path: Path, head: Path, kind: HeadKind, engine: EngineSettings, stop: StopSignal
) -> bool:
    """True if the head at `head` drafts for the model. Raises DecodeAborted on a cancel."""
    settings = msgspec.structs.replace(engine, gpu_layers=0)
    trial = _Trial(settings, kind=kind, head=str(head))
    _, output = _run(path, msgspec.json.encode(trial).decode(), stop)
    return PASSED in (line.strip() for line in output.splitlines())


def _probe_plain(path: Path, engine: EngineSettings, stop: StopSignal, longest: float) -> Checked:
    """Probe without flash attention, and turn it off for the model."""
    without = msgspec.structs.replace(engine, flash_attention="off", exact=False)
    found = _probe(path, without, stop, longest)
    batch = found.tuning.batch if found.tuning is not None else tuning.BATCHES[0]
    return Checked(found.lacking, Tuning(batch, flash=False))


def _probe(path: Path, engine: EngineSettings, stop: StopSignal, longest: float) -> Checked:
    lacking = LACKS_NOTHING
    while True:
        trial = _Trial(engine, tuple(sorted(lacking)), longest)
        code, output = _run(path, msgspec.json.encode(trial).decode(), stop)
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        lacking |= {Ability(name) for name in _after(_LACKS, lines)}
        if PASSED in lines:
            return Checked(lacking, tuning.choose(_timings(lines)))
        tried = _after(_TRIES, lines)
        if not tried or tried[-1] in lacking:
            said = next((line for line in reversed(lines) if not line.startswith(_TRIES)), "")
            said = shortened(said.rstrip("."), _LONGEST_SAID)
            said = f" {said}." if said else ""
            crashed = crash_of(code)
            if crashed:
                raise ModelProblem("model-crashes", name=path.name, signal=crashed, said=said)
            raise ModelProblem("model-does-not-open", name=path.name, said=said)
        lacking |= {Ability(tried[-1])}


def crash_of(code: int, windows: bool = sys.platform == "win32") -> str:
    """The signal, or Windows' status, of a child that native code ended; "" for any other end."""
    if not windows:
        return str(-code) if code < 0 else ""
    # 3: abort(); statuses from here on are exceptions that nothing handled
    status = code & 0xFFFFFFFF
    if status == 3:
        return "3"
    return f"0x{status:08X}" if status >= 0xC0000000 else ""


def _run(path: Path, trial: str, stop: StopSignal) -> tuple[int, str]:
    child = subprocess.Popen(
        command(path.absolute(), trial),
        cwd=reentry.FOLDER,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # ggml would start an installed debugger
        env={**os.environ, "GGML_NO_BACKTRACE": "1"},
    )
    stop.set_abort(child.kill)
    try:
        output, _ = child.communicate()
    finally:
        stop.set_abort(None)
    if stop.stopped:
        raise DecodeAborted
    return child.returncode, output


def _timings(lines: list[str]) -> list[Timing]:
    found = []
    for line in lines:
        if line.startswith(_TOOK):
            with contextlib.suppress(msgspec.MsgspecError):
                found.append(msgspec.json.decode(line.removeprefix(_TOOK), type=Timing))
    return found


def _after(start: str, lines: list[str]) -> list[str]:
    known = {ability.value for ability in Ability}
    names = [line.removeprefix(start).split(":")[0] for line in lines if line.startswith(start)]
    return [name for name in names if name in known]


def child_main(path: Path, asked: str) -> int:
    """The child's side: load, try, report."""
    from headstart.engine.backends.llama_cpp import tuning as llama_tuning
    from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
    from headstart.engine.backends.trial import steps as trial

    with contextlib.suppress(BrokenPipeError):
        try:
            wanted = msgspec.json.decode(asked, type=_Trial)
            context = _CONTEXT_WITH_IMAGE if wanted.projector else _CONTEXT
            engine = msgspec.structs.replace(wanted.settings, context_length=context)
            if wanted.kind is not None:
                _try_head(path, wanted.kind, Path(wanted.head), engine.as_run)
                print(PASSED, flush=True)
                return 0
            decoder = LlamaCppDecoder(path, engine.as_run)
            if wanted.projector:
                decoder.open_images(Path(wanted.projector))
                trial.see(decoder)
                print(PASSED, flush=True)
                return 0
            trial.read(decoder)
        except Exception as error:
            # the caller adds a remedy
            print(getattr(error, "message", error))
            return 1
        for ability, step in trial.steps(decoder, wanted.without):
            print(f"{_TRIES}{ability.value}", flush=True)
            try:
                step()
            except Exception as error:
                print(f"{_LACKS}{ability.value}: {error}", flush=True)
        print(PASSED, flush=True)
        if wanted.longest_batch:
            for timing in llama_tuning.timings(decoder.llama, engine, wanted.longest_batch):
                print(f"{_TOOK}{msgspec.json.encode(timing).decode()}", flush=True)
    return 0


def _try_head(path: Path, kind: HeadKind, head: Path, engine: EngineSettings) -> None:
    """Try a head in the child; raises whatever keeps the two from working together."""
    from headstart.engine.backends.heads.llama_heads import open_llama_head
    from headstart.engine.backends.heads.numpy_medusa import MedusaHead
    from headstart.engine.backends.llama_cpp.context import Made
    from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
    from headstart.engine.backends.trial import steps as trial

    target = LlamaCppDecoder(path, engine, made=Made(layers=kind is HeadKind.OWN))
    if kind is HeadKind.MEDUSA:
        trial.draft(target, MedusaHead(head, target))
    else:
        trial.draft(target, open_llama_head(head, kind, engine, target))
