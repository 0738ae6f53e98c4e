"""llama-server as the peer: slots saved to files, and restored by a new start."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests.benchmarks.answering import check_llama_server
from tests.benchmarks.peers import peer

_START_SECONDS = 120


class Server:
    """One start of llama-server with one slot, prompt cache on and a folder for slots."""

    def __init__(self, model: Path, folder: Path, context: int = 8192) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._log = (folder / "server.log").open("ab")
        self._process = subprocess.Popen(
            [
                str(peer("llama-server")),
                *("-m", str(model), "-c", str(context), "-np", "1", "-fa", "on"),
                *("--host", "127.0.0.1", "--port", str(self._port), "--slots"),
                *("--slot-save-path", str(folder), "-t", "2"),
            ],
            stdout=self._log,
            stderr=self._log,
        )
        self._wait()
        check_llama_server(self._port, model)

    def complete(self, prompt: str, count: int = 1) -> tuple[float, dict[str, Any]]:
        """Seconds until the answer to a prompt, and the answer."""
        began = time.perf_counter()
        answer = self._post(
            "/completion",
            {
                "prompt": prompt,
                "n_predict": count,
                "cache_prompt": True,
                "id_slot": 0,
                "temperature": 0,
            },
        )
        return time.perf_counter() - began, answer

    def save(self, name: str) -> None:
        self._post("/slots/0?action=save", {"filename": name})

    def restore(self, name: str) -> float:
        began = time.perf_counter()
        self._post("/slots/0?action=restore", {"filename": name})
        return time.perf_counter() - began

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._log.close()

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=600) as answer:
            result: dict[str, Any] = json.load(answer)
        return result

    def _wait(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            if self._process.poll() is not None:
                raise SystemExit("llama-server ended while it started; see server.log")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("llama-server did not start")
