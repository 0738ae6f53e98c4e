"""Opens a model file in a child process first: what crashes there does not crash the window.

llama.cpp ends the whole process on some damaged files. The child loads the file, decodes one
token and says so on its standard output. The parent side runs on the engine thread.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from headstart.core.errors import ModelProblem
from headstart.core.split_files import parts
from headstart.engine.backends.read_through import read_through
from headstart.engine.decoder import DecodeAborted
from headstart.engine.stop import StopSignal

PASSED = "headstart-probe: passed"
OPTION = "--probe-model"


def probe(path: Path, stop: StopSignal, progress: Callable[[float], bool]) -> None:
    """Raises ModelProblem when the child could not use the file, DecodeAborted on a cancel.

    `progress` as in `read_through`: the child finds the file in memory.
    """
    read_through(parts(path), lambda fraction: progress(fraction) and not stop.stopped)
    child = subprocess.Popen(
        [sys.executable, "-m", "headstart", OPTION, str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    stop.set_abort(child.kill)
    try:
        output, _ = child.communicate()
    finally:
        stop.set_abort(None)
    if stop.stopped:
        raise DecodeAborted
    if PASSED in output:
        return
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    said = lines[-1] if lines else "It said nothing."
    how = f"crashed (signal {-child.returncode})" if child.returncode < 0 else "failed"
    raise ModelProblem("model-cannot-be-opened", name=path.name, how=how, said=said)


def child_main(path: Path) -> int:
    """The child's side: load, decode one token, report."""
    from headstart.core.settings import EngineSettings
    from headstart.engine.backends.llama_cpp import LlamaCppDecoder

    try:
        decoder = LlamaCppDecoder(path, EngineSettings(context_length=256))
        decoder.forward([0], [0])
        decoder.argmax(0)
    except Exception as error:
        # what to do about it is said by who asked
        print(getattr(error, "message", error))
        return 1
    with contextlib.suppress(BrokenPipeError):
        print(PASSED, flush=True)
    return 0
