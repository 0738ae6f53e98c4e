"""What comes in over the program's borders: the folder it is started in, names and devices, files
that change under it, answers and templates without an end; and what must not stay behind.

Each runs in a process of its own, or with a limit on its time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.exchange.material import open_material
from headstart.extraction.process import Reading
from headstart.hub.cards import read_card
from headstart.hub.gguf import read_header
from headstart.hub.library import open_model, starter_model
from headstart.hub.shapes import read_shape
from headstart.storage.rescue import owed
from headstart.storage.rescue.owed import Owed
from tests.faults.outcome import Outcome, Row
from tests.support.changing_child import HOW
from tests.support.endless_child import all_asked
from tests.support.endless_server import endless_server
from tests.support.heavy_templates import all_tried
from tests.support.mutated_headers import mutated, sound
from tests.support.planted import of_the_interpreter, plant, ran
from tests.support.purging import kill_at, prepare, start_again, words_left

Tell = Callable[[str], None]
HEADERS = 2_000
# seconds that anything here may take
SECONDS = 20.0
ENDLESS_MB, TEMPLATE_MB, TEMPLATE_SECONDS = 64, 200, 2.0
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "conversations"


# --- the folder that a start is made in ---------------------------------------------------


def current_folder(count: int, tell: Tell) -> Row:
    """Modules are planted in the folder that somebody stands in, that files come from, or that is
    the home; a start does something there."""
    row, rng = Row(), random.Random(5)
    (saved,) = FIXTURES.glob("*.headstart.json")
    for number in range(count):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, rng.choice(("planted", "-planted", "pla nted", "été")))
            folder.mkdir()
            python = [sys.executable, "-P", "-m", "headstart"]
            plain = number % 4 == 3
            if plain:
                # without -P the interpreter itself imports some modules
                python.remove("-P")
            plant(folder, of_the_interpreter() if plain else ())
            shutil.copy(saved, folder / "-chat.headstart.json")
            (folder / "-notes.txt").write_text("The harbour freezes.")
            home = rng.choice(("home", str(folder), str(Path(place, "elsewhere"))))
            folder.chmod(0o700)
            command = rng.choice(
                (
                    ["--version"],
                    ["--home", home, "import", "--", "-chat.headstart.json"],
                    ["--home", home, "export", "--out", "out"],
                    ["--home", home, "export", "--out", "out", "--format", "pdf"],
                )
            )
            variables = rng.choice(({}, {"PYTHONPATH": ":/nowhere"}, {"HOME": str(folder)}))
            if "PYTHONPATH" in variables:
                # without a way to the program this one is for the isolated start
                python = [sys.executable, "-I", "-m", "headstart"]
            environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
            # only what is meant for the start
            environment.pop("PYTHONPATH", None)
            environment |= variables
            done = subprocess.run(
                [*python, *command], cwd=folder, env=environment, capture_output=True, timeout=120
            )
            imported = ran(folder)
            why = f"ran {imported}" if imported else ""
            if not why and done.returncode:
                why = f"{command}: {done.returncode} {done.stderr[-200:]!r}"
            row.add(Outcome(not why, 0, 0, why), tell)
    return row


# --- what was deleted ---------------------------------------------------------------------


def deleted(count: int, tell: Tell) -> Row:
    """Kills while a chat of 4,000 words is deleted for good; afterwards every byte is read."""
    row, rng = Row(), random.Random(23)
    for _ in range(count):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            words, _kept = prepare(folder, rng.randrange(1 << 30))
            kill_at(folder, rng.uniform(0, 0.12))
            begun = owed.load(folder / "headstart.db") != Owed()
            gone = asyncio.run(start_again(folder))
            left = sum(words_left(folder, words).values()) if gone else 0
            why = f"{left} words left" if left else ""
            if not gone and begun:
                why = "what had begun was not finished"
            row.add(Outcome(not why, 0, 0, why), tell)
    return row


# --- answers and templates ----------------------------------------------------------------


def endless(_count: int, tell: Tell) -> Row:
    row = Row()
    with endless_server() as server:
        for one in all_asked(server):
            told = one.said.startswith("127.0.0.1")
            good = told and one.megabytes <= ENDLESS_MB
            row.add(Outcome(good, 0, 0, "" if good else str(one)), tell)
    return row


def heavy(_count: int, tell: Tell) -> Row:
    row = Row()
    for one in all_tried():
        refused = bool(one.outcome) and not one.outcome.startswith("ended")
        good = refused and one.megabytes <= TEMPLATE_MB and one.seconds <= TEMPLATE_SECONDS
        row.add(Outcome(good, 0, 0, "" if good else str(one)), tell)
    return row


# --- names and devices --------------------------------------------------------------------

_NAMES = (
    "-notes{}", "--help{}", "a\nb{}", "a\tb{}", " a {}", "a\u202eb{}", "a'b\"c{}", "$(touch x){}",
    "a;b|c&d{}", "%s%n{}", "caf\udce9{}", "\u0301{}", "\U0001f30a{}", ".{}", "..a{}", "~{}",
    "a" * 240 + "{}", "con{}", "*{}", "file:{}", "#{}", "a\\b{}",
)  # fmt: skip


def _devices(folder: Path) -> Iterator[Path]:
    pipe, loop, dangling = folder / "pipe", folder / "loop", folder / "dangling"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    dangling.symlink_to(folder / "nowhere")
    listening = socket.socket(socket.AF_UNIX)
    with contextlib.closing(listening):
        listening.bind(str(folder / "socket"))
        yield from (pipe, loop, dangling, folder / "socket", folder)
        yield from map(
            Path, ("/dev/zero", "/dev/full", "/dev/random", "/dev/tty", "/proc/self/mem")
        )
        yield Path("a\0b")
        yield folder / ("x" * 300)
        yield Path("/" + "a/" * 3000)


def _attach(path: Path) -> None:
    from headstart.core.chats.attachments import LARGEST
    from headstart.core.files import read_regular

    try:
        data = read_regular(path, LARGEST)
    except (OSError, ValueError):
        return
    Reading().read(data, path.name, lambda _fraction: None)


def _import(path: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        material = open_material(path, Path(scratch))
        try:
            for member in material.members[:3]:
                material.data(member)
        finally:
            material.close()


def _model(path: Path) -> None:
    read_header(open_model(path).path)


def odd_files(_count: int, tell: Tell) -> Row:
    """Each name and device, attached, imported and opened as a model."""
    row = Row()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        files = []
        for number, name in enumerate(_NAMES):
            for ending in (".txt", ".json", ".gguf"):
                inner = folder / str(number)
                inner.mkdir(exist_ok=True)
                path = inner / name.format(ending)
                path.write_bytes(b'{"messages": []}')
                files.append(path)
        for path in (*files, *_devices(folder)):
            for take in (_attach, _import, _model):
                began = time.monotonic()
                why = ""
                try:
                    take(path)
                except EnvironmentProblem:
                    pass
                except Exception as error:
                    why = f"{take.__name__} {str(path)[-40:]!r}: {type(error).__name__} {error}"
                if time.monotonic() - began > SECONDS:
                    why = f"{take.__name__} {str(path)[-40:]!r} took too long"
                row.add(Outcome(not why, 0, 0, why), tell)
    return row


# --- files that change --------------------------------------------------------------------


def changing(_count: int, tell: Tell) -> Row:
    """A model's file, in seven ways at six moments."""
    row, starter = Row(), starter_model()
    assert starter is not None
    for how in HOW:
        for when in ("first", "second", "1", "5", "20", "50"):
            with tempfile.TemporaryDirectory() as place:
                path = Path(place, "m.gguf")
                shutil.copy(starter.path, path)
                child = (sys.executable, "-m", "tests.support.changing_child", str(path), how, when)
                done = subprocess.run(child, capture_output=True, timeout=180, check=False)
                why = f"{how} {when}: {done.returncode}" if done.returncode else ""
                if not why and not json.loads(done.stdout):
                    why = f"{how} {when}: nothing was said"
                row.add(Outcome(not why, 0, 0, why), tell)
    return row


def headers(_count: int, tell: Tell) -> Row:
    """2,000 heads of model files with some other bytes: a reason for the user, or numbers."""
    row, rng, starter = Row(), random.Random(44), starter_model()
    assert starter is not None
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sources = sound(starter, folder)
        for _ in range(HEADERS):
            began, why = time.monotonic(), ""
            path = mutated(rng.choice(sources), folder / "m.gguf", rng)
            try:
                model = open_model(path)
                read_shape(model)
                read_card(model)
            except ModelProblem:
                pass
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
            if time.monotonic() - began > SECONDS:
                why = "it took too long"
            row.add(Outcome(not why, 0, 0, why), tell)
    return row


KINDS: dict[str, Callable[[int, Tell], Row]] = {
    "modules in the current folder": current_folder,
    "kills while a chat is deleted for good": deleted,
    "servers without an end": endless,
    "heavy templates": heavy,
    "odd names and devices": odd_files,
    "heads of model files": headers,
    "model files that change": changing,
}
