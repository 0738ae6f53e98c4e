"""The hub in a process of its own, for benchmarks: `python -m tests.benchmarks.hub_process`.

Takes one JSON object a line on its standard input and answers each with one: what to serve, how
fast, which faults come next, and how much was sent.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import Any

from tests.support.gguf_files import make_gguf
from tests.support.hub_server import Fault, HubServer, Repo

_BLOCK = 1 << 20


class HubProcess:
    """The other side: starts it, and asks it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.hub_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.endpoint = str(self.ask()["endpoint"])

    def ask(self, **what: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def blob(size: int, seed: int) -> bytes:
    """Bytes that no page of the disk has twice, quickly."""
    block = random.Random(seed).randbytes(_BLOCK)
    whole = bytearray()
    for number in range(-(-size // _BLOCK)):
        whole += number.to_bytes(8, "little") + block[8:]
    return bytes(whole[:size])


def main() -> None:
    hub = HubServer({})
    for line in sys.stdin:
        what = json.loads(line)
        for repo, files in what.get("files", {}).items():
            made = {path: blob(size, seed) for path, (size, seed) in files.items()}
            hub.repos[repo] = Repo(made)
        for number in range(what.get("models", 0)):
            gguf = {"total": (1 + number % 9) * 10**9, "architecture": "llama"}
            repo = f"maker{number % 7}/Model{number % 40}-{1 + number % 9}B-v{number}-GGUF"
            says = {"gguf": gguf, "likes": number, "downloads": 17 * number}
            hub.repos[repo] = Repo({f"m{number}-Q4_K_M.gguf": make_gguf(seed=number)}, says)
        if "faults" in what:
            hub.faults = [Fault(*fault) if fault else None for fault in what["faults"]]
        hub.rate = what.get("rate", hub.rate)
        if what.get("reset"):
            hub.sent = 0
        print(json.dumps({"endpoint": hub.endpoint, "sent": hub.sent}), flush=True)


if __name__ == "__main__":
    main()
