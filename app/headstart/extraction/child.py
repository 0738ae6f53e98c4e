"""The child process that reads one file: what is wanted, in a line of JSON, and the file's bytes on
standard input; lines of JSON back. Nothing of a file stands on the command line, where other users
can read it, and where a name could be taken for an option.

What it may use is limited: memory, processor time, no file is written. A file that ends it costs
that file, never the program.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import told

OPTION = "--read-file"
# bytes of address space, and seconds of processor time
_MEMORY, _SECONDS = 3 << 30, 110
_DEPTH = 5_000


def request(name: str, encoding: str) -> bytes:
    """The line that comes before a file's bytes."""
    return json.dumps({"name": name, "encoding": encoding}).encode() + b"\n"


def main() -> int:
    """Read the file on standard input."""
    # prints of libraries go elsewhere
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _limit()

    def say(**what: Any) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    asked = json.loads(sys.stdin.buffer.readline())
    name, encoding = str(asked["name"]), str(asked["encoding"])
    data = sys.stdin.buffer.read()
    try:
        from headstart.extraction.reading import read

        found = read(data, name, lambda done, total: say(done=done, total=total), encoding)
        say(
            media_type=found.media_type,
            unit=found.unit.value,
            pages=found.pages,
            encoding=found.encoding,
        )
    except EnvironmentProblem as problem:
        say(problem=problem.told.stored)
    except MemoryError:
        say(problem=told("attachment-too-large", name=name).stored)
    except Exception as error:
        # ours, or a library's: the file is told as one that cannot be read, the kind is logged
        say(problem=told("attachment-crashed", name=name).stored, log=type(error).__name__)
    return 0


def _limit() -> None:
    sys.setrecursionlimit(_DEPTH)
    if sys.platform != "win32":
        import resource

        for kind, most in (
            (resource.RLIMIT_AS, _MEMORY),
            (resource.RLIMIT_CPU, _SECONDS),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            hard = resource.getrlimit(kind)[1]
            soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
            try:
                resource.setrlimit(kind, (soft, hard))
            except (OSError, ValueError):
                # macOS takes no limit on address space
                continue
