"""The Debian package as people use it: installed, opened from the menu, chatted with, removed.

Needs root, a screen in memory and the package that `make package` made; part of `make proof`.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.patience import PATIENCE, wait_for
from tests.support.screen import Screen, missing_tools, screen

ROOT = Path(__file__).resolve().parents[2]
DESKTOP = "/usr/share/applications/headstart.desktop"
CONVERSATION = ROOT / "tests/fixtures/conversations/version-1.headstart.json"

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(shutil.which("dpkg") is None, reason="needs Debian"),
    # has the menu know which program opens a kind of file
    pytest.mark.skipif(
        shutil.which("update-desktop-database") is None, reason="needs desktop-file-utils"
    ),
    pytest.mark.skipif(bool(missing_tools()), reason=f"needs {', '.join(missing_tools())}"),
]


@pytest.fixture(scope="module")
def package() -> Path:
    found = sorted((ROOT / "build" / "package").glob("headstart_*.deb"))
    if not found:
        subprocess.run(["make", "package"], cwd=ROOT, check=True)
        found = sorted((ROOT / "build" / "package").glob("headstart_*.deb"))
    return found[-1]


@pytest.fixture(scope="module")
def installed(package: Path) -> Iterator[None]:
    subprocess.run(["dpkg", "-i", str(package)], check=True, capture_output=True)
    yield
    subprocess.run(["dpkg", "-r", "headstart"], check=False, capture_output=True)


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Screen]:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    own = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(runtime), "PYTHON_KEYRING_BACKEND": ""}
    hidden = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "PYTHONPATH", "VIRTUAL_ENV", "HF_HUB_CACHE")
    base = {key: value for key, value in os.environ.items() if key not in hidden}
    with screen({**base, **own}) as shown:
        yield shown


def _processes() -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["exe"])
        if str(process.info["exe"] or "").startswith("/usr/lib/headstart/")
    ]


def _replies(home: Path) -> list[str]:
    """The texts of replies that are whole, as they are on the disk."""
    database = home / ".local/share/Headstart/headstart.db"
    if not database.exists():
        return []
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        rows = connection.execute(
            "select parts.text from parts join messages on messages.id = parts.message_id "
            "where messages.role = 'assistant' and messages.status = 'complete'"
        ).fetchall()
    connection.close()
    return [text for (text,) in rows]


def _titles(home: Path) -> list[str]:
    database = home / ".local/share/Headstart/headstart.db"
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        rows = connection.execute("select title from chats").fetchall()
    connection.close()
    return [title for (title,) in rows]


def _open_from_the_menu(desktop: Screen) -> str:
    desktop.begin("gio", "launch", DESKTOP)
    wait_for(lambda: desktop.windows("Headstart$"))
    (window, *_) = desktop.windows("Headstart$")
    desktop.to_front(window)
    time.sleep(1)
    return window


def _quit(desktop: Screen) -> None:
    desktop.press("ctrl+q")
    wait_for(lambda: not _processes())


def test_it_is_opened_chatted_with_quit_and_removed(
    installed: None, desktop: Screen, tmp_path: Path
) -> None:
    _open_from_the_menu(desktop)
    desktop.write("Name three colours of the sea.")
    desktop.press("Return")
    wait_for(lambda: _replies(tmp_path))
    reply = _replies(tmp_path)
    assert reply[0].strip()
    # a second start raises the window that is there, with a new chat in it, and goes
    again = subprocess.run(
        ["headstart", "--new-chat"], env=desktop.environment, timeout=PATIENCE, check=False
    )
    assert again.returncode == 0
    assert len(desktop.windows("Headstart$")) == 1
    desktop.write("And three of the sky.")
    desktop.press("Return")
    wait_for(lambda: len(_replies(tmp_path)) == 2)
    assert len(_titles(tmp_path)) == 2
    _quit(desktop)

    # a file of its own kind belongs to it, by a double click too
    kind = desktop.do("gio", "info", "-a", "standard::content-type", str(CONVERSATION))
    assert "application/x-headstart-conversation+json" in kind
    chosen = desktop.do("gio", "mime", "application/x-headstart-conversation+json")
    assert "headstart.desktop" in chosen
    desktop.begin("gio", "open", str(CONVERSATION))
    wait_for(lambda: desktop.windows("Headstart$"))
    (window, *_) = desktop.windows("Headstart$")
    desktop.to_front(window)

    def imported() -> bool:
        # the sheet is a part of the window: its button has the keyboard once it has looked
        desktop.press("Return")
        time.sleep(2)
        return len(_titles(tmp_path)) > 2

    wait_for(imported)
    # what came is opened
    desktop.press("Return")
    time.sleep(2)
    _quit(desktop)

    kept, replies = _titles(tmp_path), _replies(tmp_path)
    assert len(kept) == 3
    subprocess.run(["dpkg", "-r", "headstart"], check=True, capture_output=True)
    assert not Path("/usr/lib/headstart").exists()
    assert not Path(DESKTOP).exists()
    assert _titles(tmp_path) == kept
    assert _replies(tmp_path) == replies
