"""Steps of the set-up and of packaging: what is going on, for how long, and what failed.

Standard library only.
"""

from __future__ import annotations

import subprocess
import threading
import time


class Step:
    """Prints a step's name, a sign of life every half minute, and how long it took."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done = threading.Event()
        self._started = time.monotonic()

    def __enter__(self) -> None:
        print(f"  {self._name}", flush=True)
        threading.Thread(target=self._tick, daemon=True).start()

    def _tick(self) -> None:
        while not self._done.wait(30):
            print(f"    ... {time.monotonic() - self._started:.0f} s", flush=True)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._done.set()
        if kind is None:
            print(f"    done in {time.monotonic() - self._started:.0f} s", flush=True)


def run(command: list[str], environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        print("\n".join(done.stdout.splitlines()[-40:]))
        raise SystemExit(
            f"headstart set-up: this failed (see above): {' '.join(command[:8])}\n"
            "Running the same command again goes on where it stopped."
        )
