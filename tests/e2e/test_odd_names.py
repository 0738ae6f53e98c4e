"""Names of files that are no UTF-8: named where it matters, and nothing else is lost for them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from headstart.chat.attaching import Reading
from headstart.core.errors import ModelProblem
from headstart.hub.library import open_model
from tests.conftest import OpenApp
from tests.e2e.test_terminal import headstart
from tests.support import conversation_files as files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")


def odd(folder: Path, ending: str) -> Path:
    return folder / os.fsdecode(b"caf\xe9" + ending.encode())


async def test_such_a_file_is_attached(running: OpenApp, tmp_path: Path) -> None:
    path = odd(tmp_path, ".txt")
    path.write_text("words in it")
    async with running() as app:
        attaching = app.services.attaching
        part = await attaching.file(app.controllers.open.id, path, Reading(), lambda _: None)
        assert (part.name, part.text) == ("café.txt", "words in it")


def test_such_a_model_is_named(tmp_path: Path) -> None:
    path = odd(tmp_path, ".gguf")
    path.write_bytes(b"GGUF")
    with pytest.raises(ModelProblem, match="is not in UTF-8"):
        open_model(path)


def test_such_files_come_in_and_chats_go_out_beside_them(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", odd(tmp_path, "")
    folder.mkdir()
    chat = files.dumps(files.lmstudio())
    odd(folder, ".conversation.json").write_bytes(chat)
    (folder / "other.conversation.json").write_bytes(files.dumps(files.lmstudio() | {"name": "B"}))
    odd(folder, ".md").write_text("## User\n\nHello\n")
    result = headstart("--home", home, "import", folder)
    assert "3 new chats" in result.stdout, result.stderr
    assert "internal" not in result.stderr.lower()
    out = odd(tmp_path, "-out")
    assert headstart("--home", home, "export", "--out", out).returncode == 0
    assert len(list(out.iterdir())) == 3
