"""`headstart serve`: the server for other programs without a window, for this home.

The same settings, models and computed prompts as the window's; one program at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence

from msgspec.structs import replace

from headstart.beginning import lock_home, start_logging
from headstart.core import open_files, reentry
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import keep_private, private_folder, remove_partials, typed_path
from headstart.core.rgb import Rgb
from headstart.core.serving.line import ServedLine
from headstart.core.settings.schema import Settings, SettingsError, changed
from headstart.home import Home
from headstart.parts import Parts, open_parts

# the environment variable with the key, for computers without a keychain
KEY = "HEADSTART_SERVER_KEY"
_LOOK_SECONDS = 0.25
# most seconds at the end for unfinished writes of prefixes: nobody looks at a window that closes
WRITE_SECONDS = 30.0


def main(arguments: Sequence[str]) -> int:
    """`arguments` begin with the command; returns the exit code."""
    options = _parse(arguments)
    reentry.enter_folder()
    home = Home(options.home) if options.home else Home.default()
    keep_private()
    open_files.raise_limit()
    try:
        private_folder(home.path, home.names)
        lock = lock_home(home)
        try:
            remove_partials(home.path)
            start_logging(home, options.debug)
            return asyncio.run(_serve(home, options))
        finally:
            lock.release()
    except (EnvironmentProblem, SettingsError) as problem:
        print(f"headstart: {problem}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"headstart: {home.path}: {error.strerror or error}", file=sys.stderr)
        return 1


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="headstart serve",
        description="Serve other programs with the models of this computer, without a window.",
        epilog=f"The key is in the keychain, or in the environment variable {KEY}.",
    )
    parser.add_argument("command", choices=["serve"], help=argparse.SUPPRESS)
    parser.add_argument(
        "--home", type=typed_path, metavar="DIR", help="the folder with the settings"
    )
    parser.add_argument("--port", type=int, help="the port, in place of the one in the settings")
    parser.add_argument(
        "--model",
        type=_Named,
        metavar="MODEL",
        help="the model that answers: a GGUF file, an MLX folder, or the name of an installed one",
    )
    parser.add_argument(
        "--network", action="store_true", help="answer other computers of the network too"
    )
    parser.add_argument("--show-key", action="store_true", help="print the key too")
    parser.add_argument("--debug", action="store_true", help="log to the terminal too")
    given = list(arguments)
    # --home may stand before the command
    given.insert(0, given.pop(given.index("serve")))
    return parser.parse_args(given)


class _Named:
    """A model as the user wrote it, and the path that this means in the folder of the start."""

    def __init__(self, text: str) -> None:
        self.text, self.path = text, typed_path(text)


def _pixels(data: bytes) -> Rgb | None:
    """An image's pixels; Qt decodes it, and is imported with the first one."""
    from headstart.ui.kit.pictures import pixels

    return pixels(data)


async def _serve(home: Home, options: argparse.Namespace) -> int:
    def change(settings: Settings) -> Settings:
        server = replace(settings.server, on=True, network=settings.server.network)
        if options.port is not None:
            server = changed(server, port=options.port)
        if options.network:
            server = replace(server, network=True)
        return changed(settings, server=server)

    parts = open_parts(home, _pixels, change=change)
    asked = asyncio.Event()
    on_signals(asyncio.get_running_loop(), asked)
    try:
        await parts.storage.ready()
        if parts.died is not None:
            parts.running.end()
        for one in parts.services.beginnings.held:
            print(f"headstart: {one.told.text}", file=sys.stderr, flush=True)
        serving = parts.services.serving
        if options.model is not None:
            await serving.use_model(options.model.text, options.model.path)
        problem = (await serving.look()).problem
        if problem is not None:
            raise EnvironmentProblem.of(problem)
        if os.environ.get(KEY):
            serving.use_key(os.environ[KEY])
        await serving.open()
        if serving.state.problem is not None:
            raise EnvironmentProblem.of(serving.state.problem)
        await _tell(parts, options.show_key)
        await _print_requests(parts, asked)
        return 0
    finally:
        await parts.close(WRITE_SECONDS)


def on_signals(loop: asyncio.AbstractEventLoop, asked: asyncio.Event) -> None:
    """Set `asked` when the system or Ctrl+C asks the program to end."""
    # of Windows the last: Ctrl+Break, and what ends programs of another console
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is None:
            continue
        try:
            loop.add_signal_handler(number, asked.set)
        except NotImplementedError:
            # Windows' loops have none; Python's own handler runs on this thread and may wake it
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(asked.set))


async def _tell(parts: Parts, with_key: bool) -> None:
    serving = parts.services.serving
    state = serving.state
    print(f"listening at {state.address}", flush=True)
    if state.far:
        print(f"for other computers: {state.far}", flush=True)
    key = await serving.key()
    print(f"key: {key if with_key else f'{key[:3]}…{key[-4:]} (--show-key)'}", flush=True)
    for model in await serving.models():
        print(f"model: {model.id}, {model.context:,} tokens", flush=True)


async def _print_requests(parts: Parts, asked: asyncio.Event) -> None:
    """Print a line for each request that ends, until the program is asked to end."""
    log, told = parts.services.serving.log, set[int]()
    while True:
        for line in reversed(log.lines):
            if not line.under_way and line.number not in told:
                told.add(line.number)
                print(_words(line), flush=True)
        if asked.is_set():
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asked.wait(), _LOOK_SECONDS)


def _words(line: ServedLine) -> str:
    said = [line.program, line.model, line.state.value]
    if line.prompt:
        said.append(f"{line.prompt:,} tokens, {line.reused:,} reused")
    if line.first_seconds is not None:
        said.append(f"first token {line.first_seconds:.2f} s")
    if line.speed is not None:
        said.append(f"{line.speed:.0f} tokens/s")
    if line.why is not None:
        said.append(line.why.text)
    return "  ".join(said)
