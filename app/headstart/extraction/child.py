"""The child process that reads one file: a request in a line of JSON and the file's bytes arrive on
standard input, lines of JSON are returned. The command line never names the file: other users could
read the name, or it could be taken for an option.

Memory and processor time are limited, and no file can be written (but on Windows, which has no such
limit). A file that ends the process costs only itself, never the program.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import told
from headstart.extraction.windows_job import limit_this_process

OPTION = "--read-file"
# bytes of address space, and seconds of processor time
MEMORY, SECONDS = 3 << 30, 110
_DEPTH = 5_000


def request(name: str, encoding: str) -> bytes:
    """The line before a file's bytes."""
    return json.dumps({"name": name, "encoding": encoding}).encode() + b"\n"


def main() -> int:
    """Read the file on standard input."""
    # keep output printed by libraries out of the answers
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    limit()

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
        # a bug of ours or a library's: report an unreadable file, log the kind
        say(problem=told("attachment-crashed", name=name).stored, log=type(error).__name__)
    return 0


def limit() -> None:
    """Bound memory and processor time, and forbid writing files, which Windows cannot."""
    sys.setrecursionlimit(_DEPTH)
    limit_this_process(MEMORY, SECONDS)
    if sys.platform != "win32":
        import resource

        for kind, most in (
            (resource.RLIMIT_AS, MEMORY),
            (resource.RLIMIT_CPU, SECONDS),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            hard = resource.getrlimit(kind)[1]
            soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
            try:
                resource.setrlimit(kind, (soft, hard))
            except (OSError, ValueError):
                # macOS does not limit address space
                continue
