"""Prefixes on real weights: never a wrong word, whatever happened to the files."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headstart.core.files import PARTIAL
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.core.told import Told, told
from headstart.engine.prefix import budget, record_file, writer
from headstart.hub.library import open_model
from tests.support.disk import free_disk
from tests.support.prefix_engine import LONG, PrefixEngine, prose, system, talk, user

pytestmark = pytest.mark.usefixtures("unhurried")


@pytest.mark.logs("a stored prefix is not used")
@pytest.mark.parametrize(
    ("seed", "damages"),
    [(0, 4), *(pytest.param(seed, 10, marks=pytest.mark.proof) for seed in range(1, 6))],
)
def test_damaged_files_never_change_a_word(engine: PrefixEngine, seed: int, damages: int) -> None:
    """Four damages, and in proof fifty, each followed by a reply."""
    messages = talk(engine, text=prose(300))
    expected = engine.ask("c", messages).text
    engine.leave()
    sound = {path: path.read_bytes() for path in engine.files()}
    random_ = random.Random(seed)
    for _ in range(damages):
        for path, whole in sound.items():
            path.write_bytes(whole)
        engine.restart(save=False)
        path = random_.choice(sorted(sound))
        data = bytearray(sound[path])
        if random_.random() < 0.5:
            del data[random_.randrange(len(data)) :]
        else:
            data[random_.randrange(len(data))] ^= 1 << random_.randrange(8)
        engine.store.wait_until_ready()
        path.write_bytes(data)
        answer = engine.ask("c", messages)
        assert answer.text == expected
        assert answer.reused < answer.stats.prompt_tokens - 1
        engine.leave()


def test_another_file_under_the_models_name_is_another_model(
    shallow: ModelRef, tmp_path: Path
) -> None:
    path = tmp_path / "model.gguf"
    shutil.copy(shallow.path, path)
    engine = PrefixEngine(tmp_path, open_model(path))
    engine.chat("c")
    messages = talk(engine)
    engine.stop()
    size, changed = path.stat().st_size, time.time() - 100
    data = bytearray(path.read_bytes())
    # one layer's worth of weights, the same size, the same time
    at = size // 2
    data[at : at + 400_000] = data[at + 400_000 : at + 800_000]
    path.write_bytes(data)
    os.utime(path, (changed, changed))
    engine.start()
    answer = engine.ask("c", messages)
    assert answer.reused == 0
    assert answer.stats.prefix.reason == told("other-settings")
    engine.stop()


def test_another_kv_type_is_another_family(engine: PrefixEngine) -> None:
    messages = talk(engine)
    engine.restart()
    engine.settings = EngineSettings(context_length=2048, kv_type="f16")
    answer = engine.ask("c", messages)
    assert answer.reused == 0
    assert answer.stats.prefix.reason == told("other-settings")


def test_a_clock_that_is_set_back_changes_nothing(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = talk(engine)
    engine.restart()
    past = time.time() - 10_000_000
    monkeypatch.setattr(time, "time", lambda: past)
    monkeypatch.setattr(time, "time_ns", lambda: int(past * 1e9))
    answer = engine.ask("c", messages)
    assert answer.stats.prefix.from_disk > 500
    engine.leave()
    assert engine.store.controls.use_of_disk().written_today > 0


@pytest.mark.logs("The prompt cache cannot be kept")
def test_a_full_disk_is_told_once_and_replies_go_on(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Told] = []
    engine.store.controls.on_trouble(said.append)

    def full(*_arguments: object, **_more: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    messages = talk(engine)
    engine.leave()
    answer = engine.ask("c", messages)
    engine.leave()
    assert answer.text
    assert said == [told("cache-not-written", error="No space left on device")]
    assert engine.files() == []
    assert engine.store.controls.use_of_disk().total == 0
    # in memory they are kept all the same
    engine.ask("d", [user("Hello")])
    assert engine.ask("c", messages).reused > 500


@pytest.mark.logs("The prompt cache is not kept")
def test_below_ten_gib_of_free_disk_nothing_is_written(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    free_disk(monkeypatch, budget.LEAST_FREE - 1)
    talk(engine)
    engine.leave()
    assert engine.files() == []
    trouble = engine.store.controls.use_of_disk().trouble
    assert trouble is not None
    assert "10 GiB" in trouble.message


def test_the_budget_lets_the_least_recently_used_chat_go(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for chat in ("d", "e"):
        engine.chat(chat)
    one = talk(engine, "c", prose(500, 1))
    engine.leave()
    size = engine.store.controls.use_of_disk().total
    monkeypatch.setattr(writer, "GB", int(size * 2.5) // 8)
    engine.store.controls.set_limits(True, 8)
    other = talk(engine, "d", prose(500, 2))
    engine.leave()
    engine.ask("c", one)
    engine.leave()
    talk(engine, "e", prose(500, 3))
    engine.leave()
    use = engine.store.controls.use_of_disk()
    assert use.total <= use.budget
    engine.restart()
    monkeypatch.setattr(writer, "GB", 10**9)
    assert engine.ask("c", one).reused > 256
    assert engine.ask("d", other).reused < 256


def test_orphans_in_either_direction_are_cleaned_up(engine: PrefixEngine) -> None:
    messages = talk(engine)
    engine.leave()
    whole = engine.files()
    engine.stop(save=False)
    stray = whole[0].with_name("ab" * 32 + record_file.SUFFIX)
    shutil.copy(whole[0], stray)
    cut_off = whole[0].with_suffix(PARTIAL)
    cut_off.write_bytes(b"half")
    sizes = {path: path.stat().st_size for path in whole}
    first = max(sizes, key=lambda path: sizes[path])
    first.unlink()
    engine.start()
    answer = engine.ask("c", messages)
    assert not stray.exists()
    assert not cut_off.exists()
    assert answer.text
    use = engine.store.controls.use_of_disk()
    engine.leave()
    known = engine.storage.submit(lambda opened: opened.prefixes.load()).result()
    assert {info.key.hex() for info in known.records} == {path.stem for path in engine.files()}
    assert use.total >= 0


KILLED = """
import sys, time
from pathlib import Path
from typing import Any
from headstart.hub.library import open_model
from tests.support.prefix_engine import PrefixEngine, prose, system, user
engine = PrefixEngine(Path(sys.argv[1]), open_model(Path(sys.argv[2])))
engine.chat("c")
answer = engine.ask("c", [system("Be brief."), user(prose(500))])
print(answer.text.encode().hex(), flush=True)
engine.leave()
print("done", flush=True)
time.sleep(60)
"""


def _kill_while_saving(shallow: ModelRef, folder: Path, delay: float) -> None:
    folder.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder), str(shallow.path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    expected = bytes.fromhex(child.stdout.readline().strip()).decode()
    time.sleep(delay)
    child.kill()
    child.wait()
    child.stdout.close()
    engine = PrefixEngine(folder, shallow)
    answer = engine.ask("c", [system("Be brief."), user(LONG)])
    assert answer.text == expected
    engine.leave()
    known = engine.storage.submit(lambda opened: opened.prefixes.load()).result()
    assert {info.key.hex() for info in known.records} == {path.stem for path in engine.files()}
    engine.stop()


@pytest.mark.parametrize(
    "delay", [0.01, *(pytest.param(one, marks=pytest.mark.proof) for one in (0.0, 0.03, 0.06))]
)
def test_a_kill_while_saving_costs_no_word(shallow: ModelRef, tmp_path: Path, delay: float) -> None:
    _kill_while_saving(shallow, tmp_path / "home", delay)


@pytest.mark.proof
def test_fifty_kills_while_saving_cost_no_word(shallow: ModelRef, tmp_path: Path) -> None:
    random_ = random.Random(1)
    for number in range(50):
        _kill_while_saving(shallow, tmp_path / str(number), random_.random() * 0.12)
