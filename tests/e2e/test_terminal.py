"""Import and export from a terminal, alone and beside an open window."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import zipfile
from pathlib import Path

from headstart.home import Home
from headstart.terminal import PARTLY
from tests.conftest import OpenApp, until
from tests.support import conversation_files as files
from tests.support.driver import ask, use_sampling
from tests.support.patience import PATIENCE


def headstart(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headstart", *map(str, arguments)]
    # names of files may be no text
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False
    )


def test_what_comes_in_goes_out(home: Home, tmp_path: Path) -> None:
    source = tmp_path / "conversations.json"
    source.write_bytes(files.dumps([files.chatgpt()]))
    dry = headstart("--home", home.path, "import", "--dry-run", source)
    assert dry.returncode == 0, dry.stderr
    assert "1 new chat would come in" in dry.stdout
    assert "A vector, please" in dry.stdout
    first = headstart("import", "--home", home.path, source)
    assert first.returncode == 0, first.stderr
    assert "1 new chat, 0 with new messages" in first.stdout
    again = headstart("--home", home.path, "import", source)
    assert "0 new chats, 0 with new messages, 0 from the trash, 1 here already" in again.stdout
    out = headstart("--home", home.path, "export", "--format", "markdown", "--out", tmp_path / "md")
    assert out.returncode == 0, out.stderr
    assert files.FENCE in (tmp_path / "md" / "A vector, please.md").read_text(encoding="utf-8")
    pdf = tmp_path / "one.pdf"
    out = headstart(
        f"--home={home.path}",
        "export",
        "--format",
        "pdf",
        "--out",
        pdf,
        "--chat",
        "A vector, please",
    )
    assert out.returncode == 0, out.stderr
    assert pdf.read_bytes().startswith(b"%PDF")
    out = headstart(
        "--home", home.path, "export", "--format", "headstart", "--out", tmp_path / "a.zip"
    )
    assert zipfile.ZipFile(tmp_path / "a.zip").namelist() == [
        "chats/A vector, please.headstart.json"
    ]


def test_what_does_not_come_in_is_told(home: Home, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("nothing")
    result = headstart("--home", home.path, "import", tmp_path / "x.txt", tmp_path / "none.json")
    assert result.returncode == 1
    assert "x.txt holds no conversations" in result.stderr
    assert "none.json cannot be read" in result.stderr
    (tmp_path / "sound.json").write_bytes(files.FILES["claude"]())
    result = headstart("--home", home.path, "import", tmp_path / "x.txt", tmp_path / "sound.json")
    assert result.returncode == PARTLY
    assert "x.txt holds no conversations" in result.stderr
    result = headstart("--home", home.path, "export", "--out", tmp_path, "--chat", "Nobody")
    assert (result.returncode, result.stdout) == (1, "")
    assert headstart("--home", home.path, "export").returncode == 2


async def test_beside_an_open_window(running: OpenApp, tmp_path: Path) -> None:
    source = tmp_path / "conversations.json"
    source.write_bytes(files.dumps([files.chatgpt()]))
    async with running() as app:
        use_sampling(app)
        await ask(app, "Hello")
        app.controllers.chat_list.watch()
        await app.services.chat_list.elsewhere.look()
        arguments = ("--home", app.home.path, "import", source)
        result = await asyncio.to_thread(headstart, *arguments)
        assert result.returncode == 0, result.stderr
        model = app.window.sidebar.model

        def titles() -> list[str]:
            return [str(model.index(row).data()) for row in range(model.rowCount())]

        await until(lambda: "A vector, please" in titles())
        # and the window goes on
        await ask(app, "Still there?")
        out = tmp_path / "out"
        result = await asyncio.to_thread(headstart, "--home", app.home.path, "export", "--out", out)
        assert result.returncode == 0, result.stderr
        assert len(list(out.iterdir())) == 2
