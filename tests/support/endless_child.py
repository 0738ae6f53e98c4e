"""Asks endless servers, in a process of its own, and says how each ended and what it took."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from headstart.core.errors import EnvironmentProblem
from headstart.core.servers import Connection
from headstart.engine.remote.client import list_models
from tests.support.asking import Asking, run
from tests.support.endless_server import BODIES, KINDS, EndlessServer
from tests.support.patience import PATIENCE

# seconds that a server may be silent
TIMEOUT = 5


def asked(server: EndlessServer, kind: str, as_list: bool) -> str:
    """The sentence that it ended with."""
    url = server.url(kind)
    try:
        if as_list:
            connection = Connection("s", "Server", url, "", TIMEOUT, True, "", False)
            return f"{len(run(list_models(connection, None)).models)} models"
        asking = Asking(None)
        try:
            asking.ask(url, timeout=TIMEOUT)
        finally:
            asking.session.close()
    except EnvironmentProblem as problem:
        return problem.message
    return "a reply"


def main() -> None:
    server = EndlessServer(int(sys.argv[1]))
    kind, way = sys.argv[2:]
    # what a first question imports is no answer's
    asked(EndlessServer(1), kind, way == "list")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    said = asked(server, kind, way == "list")
    seconds = time.perf_counter() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    json.dump({"said": said, "seconds": seconds, "megabytes": grown}, sys.stdout)


@dataclass(frozen=True, slots=True)
class Endless:
    """`megabytes`: by how much the memory grew at most."""

    kind: str
    way: str
    said: str
    seconds: float
    megabytes: float


def all_asked(server: EndlessServer) -> Iterator[Endless]:
    """Each kind in each way, one process after the other."""
    for kind, way in ways():
        command = (sys.executable, "-m", "tests.support.endless_child", str(server.port), kind, way)
        try:
            done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
            yield Endless(kind, way, **json.loads(done.stdout))
        except (subprocess.SubprocessError, ValueError) as error:
            yield Endless(kind, way, f"ended: {error}", 180.0, 1e6)


def ways() -> list[tuple[str, str]]:
    """Each kind with how it is asked."""
    return [(kind, "list") for kind in BODIES] + [(kind, "reply") for kind in KINDS]


if __name__ == "__main__":
    main()
