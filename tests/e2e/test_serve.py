"""`headstart serve` as a process: without a window, on the same home, one at a time."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headstart import serve
from tests.support.patience import PATIENCE
from tests.support.program import Plain, free_port

KEY = "hs-for-tests"


def hears_keys() -> bool:
    """True where a key of a console reaches other programs in it, which it does not on wine."""
    return sys.platform != "win32" or not hasattr(ctypes.windll.ntdll, "wine_get_version")


def ask_to_end(process: subprocess.Popen[str]) -> None:
    """As Ctrl+C does, or on Windows Ctrl+Break."""
    if sys.platform == "win32":
        process.send_signal(signal.CTRL_BREAK_EVENT)
    else:
        process.send_signal(signal.SIGTERM)


@contextmanager
def serving(home: Path, *more: str) -> Iterator[tuple[Plain, subprocess.Popen[str]]]:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    environment |= {"HEADSTART_SERVER_KEY": KEY, "PYTHONUNBUFFERED": "1"}
    port = free_port()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "headstart",
            "--home",
            str(home),
            "serve",
            "--port",
            str(port),
            *more,
        ],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        # Ctrl+Break reaches a group of its own only
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"listening at http://127.0.0.1:{port}/v1\n"
        yield Plain(port, KEY), process
    finally:
        process.kill()
        process.wait(PATIENCE)
        assert process.stdout is not None
        process.stdout.close()


def test_a_server_without_a_window(tmp_path: Path) -> None:
    home = tmp_path / "home"
    body = {"messages": [{"role": "user", "content": "Hello. " * 300}], "max_tokens": 3}
    for number in range(2):
        with serving(home) as (program, process):
            status, found = program.post("/v1/chat/completions", body)
            assert status == 200
            reused = found["usage"]["prompt_tokens_details"]["cached_tokens"]
            assert (reused > 500) == bool(number)
            status, found = program.post("/v1/messages", body)
            assert status == 200
            assert found["content"][0]["text"]
            other = subprocess.run(
                [sys.executable, "-m", "headstart", "serve", "--home", str(home)],
                capture_output=True, text=True, timeout=PATIENCE, check=False,
            )  # fmt: skip
            assert other.returncode == 1
            assert "open" in other.stderr
            if not hears_keys():
                continue
            ask_to_end(process)
            assert process.stdout is not None
            said = process.stdout.read()
            assert process.wait(PATIENCE) == 0, said
            assert "key: hs-…ests" in said
            assert "done" in said
            assert KEY not in said
    log = (home / "logs" / "headstart.log").read_text(encoding="utf-8")
    assert "Hello." not in log


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with serving(tmp_path / "one") as (program, _):
        other = subprocess.run(
            [
                sys.executable, "-m", "headstart", "serve", "--home", str(tmp_path / "two"),
                "--port", str(program.port),
            ],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert other.returncode == 1
        assert f"cannot open on port {program.port}" in other.stderr.replace(",", "")


def test_a_program_that_is_killed_after_its_first_answer_keeps_the_prompt(tmp_path: Path) -> None:
    home = tmp_path / "home"
    body = {"messages": [{"role": "user", "content": "Hello. " * 700}], "max_tokens": 2}
    with serving(home) as (program, process):
        status, found = program.post("/v1/chat/completions", body)
        assert status == 200
        total = found["usage"]["prompt_tokens"]
        process.kill()
    with serving(home) as (program, process):
        status, found = program.post("/v1/chat/completions", body)
        assert status == 200
        # what was written while the prompt was computed: all but the last slices
        assert found["usage"]["prompt_tokens_details"]["cached_tokens"] > total // 2


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to this process ends it there")
def test_a_loop_that_knows_no_signals_is_woken_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As Windows' loops are."""

    def refuse(*_: object) -> None:
        raise NotImplementedError

    async def wait() -> None:
        loop, asked = asyncio.get_running_loop(), asyncio.Event()
        monkeypatch.setattr(loop, "add_signal_handler", refuse)
        serve.on_signals(loop, asked)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(asked.wait(), PATIENCE)

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    before = {name: signal.getsignal(getattr(signal, name)) for name in names}
    try:
        asyncio.run(wait())
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
