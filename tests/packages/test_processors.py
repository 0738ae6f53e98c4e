"""The package on processors that this computer does not have: emulated ones, and chosen libraries.

Needs qemu-user and the package that `make package` made; part of `make proof`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from headstart.extraction.child import OPTION, request
from tests.support.documents import docx, pdf
from tests.support.patience import PATIENCE

PACKAGE = Path(__file__).resolve().parents[2] / "build" / "package" / "dist" / "headstart"
PROGRAM = PACKAGE / "headstart"
PROBE = json.dumps({"settings": {"context_length": 512, "threads": 1}})

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(sys.platform != "linux", reason="a package for Linux"),
    pytest.mark.skipif(not PROGRAM.exists(), reason="needs `make package`"),
]


def _starter() -> str:
    (found,) = (PACKAGE / "_internal/headstart/resources/models").glob("*.gguf")
    return str(found)


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="needs qemu-user")
@pytest.mark.parametrize("processor", ["Nehalem", "SandyBridge", "Haswell"])
def test_it_computes_on_an_older_processor(processor: str) -> None:
    """Without AVX, without AVX2, and with it but without AVX-512."""
    # what PyInstaller's program sets before it starts itself again, outside the emulator
    internal = {
        "LD_LIBRARY_PATH": f"{PACKAGE}/_internal",
        "_PYI_ARCHIVE_FILE": str(PROGRAM),
        "_PYI_APPLICATION_HOME_DIR": f"{PACKAGE}/_internal",
        "_PYI_PARENT_PROCESS_LEVEL": "-1",
        # OpenBLAS takes the emulator's processors for later ones
        "OPENBLAS_CORETYPE": "Nehalem",
    }
    given = [part for name, value in internal.items() for part in ("-E", f"{name}={value}")]
    done = subprocess.run(
        [
            "qemu-x86_64",
            *given,
            "-cpu",
            processor,
            str(PROGRAM),
            "--probe-model",
            _starter(),
            PROBE,
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "headstart-probe: passed" in done.stdout, (done.returncode, done.stderr[-2000:])


@pytest.mark.parametrize("variant", ["x64", "sse42", "sandybridge", "haswell", "nonsense", ""])
def test_a_chosen_library_computes(variant: str) -> None:
    environment = {**os.environ, "HEADSTART_CPU": variant}
    done = subprocess.run(
        [str(PROGRAM), "--probe-model", _starter(), PROBE],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "headstart-probe: passed" in done.stdout, (done.returncode, done.stderr[-2000:])


def test_documents_are_read_in_a_child_of_the_package(qapp: QApplication) -> None:
    text = "The harbour freezes in January."
    documents = {
        "a.pdf": pdf([text]),
        "b.docx": docx([text]),
        "c.html": f"<p>{text}</p>".encode(),
        "d.csv": f"month,words\n1,{text}\n".encode(),
        "e.txt": text.encode("utf-16"),
    }
    for name, data in documents.items():
        done = subprocess.run(
            [str(PROGRAM), OPTION],
            input=request(name, "") + data,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert b"harbour" in done.stdout, (name, done.stderr[-2000:])


def test_chats_go_out_and_come_in_without_a_window(tmp_path: Path) -> None:
    fixture = Path(__file__).resolve().parents[1] / "fixtures/conversations"
    (conversation,) = fixture.glob("*.headstart.json")
    home = ["--home", str(tmp_path / "home")]
    done = subprocess.run(
        [str(PROGRAM), *home, "import", str(conversation)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    done = subprocess.run(
        [str(PROGRAM), *home, "export", "--out", str(out), "--format", "markdown"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
