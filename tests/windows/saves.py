"""Saves of a file that another program opens and reads all the time, as an indexer does, and the
last step of downloads; a read-only target is one of them."""

from __future__ import annotations

import json
import os
import random
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from headstart.core import patient
from headstart.core.files import write_whole

SAVES = 200
# opens the file, keeps it open for up to 80 ms, and opens it again after as little as it can
_READER = """
import random, sys, time
path, random_ = sys.argv[1], random.Random(sys.argv[2])
print("reads", flush=True)
while True:
    try:
        with open(path, "rb") as file:
            file.read()
            time.sleep(random_.uniform(0, 0.08))
    except OSError:
        # it is being replaced
        pass
    time.sleep(random_.uniform(0.005, 0.03))
"""


def saved(path: Path, number: int, random_: random.Random) -> bool:
    """True if the file has the new text, whole."""
    data = f"{number} ".encode() * 3_000
    if number % 10 == 7:
        path.chmod(stat.S_IREAD)
    if number % 4 == 3:
        # as a download ends
        part = path.with_suffix(".part")
        part.write_bytes(data)
        patient.replace(part, path)
    else:
        write_whole(path, data)
    time.sleep(random_.uniform(0, 0.02))
    return path.read_bytes() == data


def main() -> int:
    random_, right, problems = random.Random(1), 0, set()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder, "settings – 設定.json")
        write_whole(path, b"first")
        readers = [
            subprocess.Popen(
                [sys.executable, "-c", _READER, str(path), str(seed)],
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONUTF8": "1"},
            )
            for seed in (1, 2)
        ]
        for reader in readers:
            assert reader.stdout is not None
            reader.stdout.readline()
        try:
            for number in range(SAVES):
                try:
                    right += saved(path, number, random_)
                except OSError as error:
                    problems.add(str(error))
        finally:
            for reader in readers:
                reader.kill()
                reader.wait()
        left = sorted(one.name for one in Path(folder).iterdir() if one != path)
    said = f"{right} of {SAVES}" + "".join(f"; {one}" for one in sorted(problems))
    print(json.dumps([right == SAVES and not left, said + (f"; left: {left}" if left else "")]))
    return int(right != SAVES or bool(left))


if __name__ == "__main__":
    sys.exit(main())
