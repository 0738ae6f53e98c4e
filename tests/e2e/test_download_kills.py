"""A program that is killed while it downloads goes on where it was, whatever moment that was."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.hub_server import HubServer, Repo

MODEL = random.Random(3).randbytes(24 << 20)
REPO = "maker/model-GGUF"


@pytest.mark.parametrize(
    "rounds", [3, pytest.param(40, marks=pytest.mark.proof)], ids=["sampled", "all"]
)
def test_kills_cost_no_byte_that_had_arrived(tmp_path: Path, rounds: int) -> None:
    hub = HubServer({REPO: Repo({"model-Q4_K_M.gguf": MODEL})})
    rng = random.Random(rounds)
    try:
        for number in range(rounds):
            folder = tmp_path / str(number)
            command = [
                sys.executable, "-m", "tests.support.download_child", hub.endpoint, str(folder),
                REPO,
            ]  # fmt: skip
            hub.rate, hub.sent = 20e6, 0
            for _ in range(2):
                child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                assert child.stdout is not None
                child.stdout.readline()
                time.sleep(rng.uniform(0.0, 0.5))
                child.kill()
                child.communicate()
            hub.rate = 0
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
            path = Path(done.stdout.splitlines()[-1].split()[-1])
            assert path.read_bytes() == MODEL
            # what was in the network's buffers at the two kills is fetched again
            assert hub.sent <= len(MODEL) + (16 << 20)
            assert not list(folder.rglob("*.incomplete"))
    finally:
        hub.close()
