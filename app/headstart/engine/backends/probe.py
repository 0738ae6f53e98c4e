"""Opens a model file in a child process first: what crashes there does not crash the window.

llama.cpp ends the whole process on some files, and on some models only when their state is copied
or cut. The child does what the program is going to do and says on its standard output what it
begins; what ended it is left off when it is tried again. The parent side runs on the engine thread.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from headstart.core.abilities import LACKS_NOTHING, Ability, Lacking
from headstart.core.errors import ModelProblem
from headstart.core.settings import EngineSettings
from headstart.core.split_files import parts
from headstart.core.text import shortened
from headstart.engine.backends.read_through import read_through
from headstart.engine.decoder import DecodeAborted
from headstart.engine.stop import StopSignal

OPTION = "--probe-model"
# what the child says: that it begins with something, that it cannot do something, that it is done
_TRIES, _LACKS, PASSED = (
    "headstart-probe: tries ",
    "headstart-probe: lacks ",
    "headstart-probe: passed",
)
# large enough for what is tried
_CONTEXT = 512
_LONGEST_SAID = 300


@dataclass(frozen=True, slots=True)
class _Trial:
    """What the child is asked, as JSON on its command line."""

    settings: EngineSettings
    without: tuple[Ability, ...] = ()


def command(path: Path, trial: str) -> list[str]:
    return [sys.executable, "-m", "headstart", OPTION, str(path), trial]


def probe(
    path: Path, engine: EngineSettings, stop: StopSignal, progress: Callable[[float], bool]
) -> Lacking:
    """What the model cannot do with these settings. Raises ModelProblem when the child could not
    use the file at all, DecodeAborted on a cancel.

    `progress` as in `read_through`: the child finds the file in memory.
    """
    read_through(parts(path), lambda fraction: progress(fraction) and not stop.stopped)
    lacking = LACKS_NOTHING
    while True:
        trial = _Trial(engine, tuple(sorted(lacking)))
        code, output = _run(path, msgspec.json.encode(trial).decode(), stop)
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        lacking |= {Ability(name) for name in _after(_LACKS, lines)}
        if PASSED in lines:
            return lacking
        tried = _after(_TRIES, lines)
        if not tried or tried[-1] in lacking:
            said = next((line for line in reversed(lines) if not line.startswith(_TRIES)), "")
            how = f"crashed (signal {-code})" if code < 0 else "failed"
            said = shortened(said.rstrip("."), _LONGEST_SAID) or "It said nothing"
            raise ModelProblem("model-cannot-be-opened", name=path.name, how=how, said=f"{said}.")
        lacking |= {Ability(tried[-1])}


def _run(path: Path, trial: str, stop: StopSignal) -> tuple[int, str]:
    child = subprocess.Popen(
        command(path, trial),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # ggml would start a debugger where there is one
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


def _after(start: str, lines: list[str]) -> list[str]:
    known = {ability.value for ability in Ability}
    names = [line.removeprefix(start).split(":")[0] for line in lines if line.startswith(start)]
    return [name for name in names if name in known]


def child_main(path: Path, asked: str) -> int:
    """The child's side: load, try, report."""
    from headstart.engine.backends import trial
    from headstart.engine.backends.llama_cpp import LlamaCppDecoder

    with contextlib.suppress(BrokenPipeError):
        try:
            wanted = msgspec.json.decode(asked, type=_Trial)
            engine = msgspec.structs.replace(wanted.settings, context_length=_CONTEXT)
            decoder = LlamaCppDecoder(path, engine.as_run)
            trial.read(decoder)
        except Exception as error:
            # what to do about it is said by who asked
            print(getattr(error, "message", error))
            return 1
        for ability, step in trial.steps(decoder, wanted.without):
            print(f"{_TRIES}{ability.value}", flush=True)
            try:
                step()
            except Exception as error:
                print(f"{_LACKS}{ability.value}: {error}", flush=True)
        print(PASSED, flush=True)
    return 0
