"""Prefixes through the engine, on real weights: across turns, chats, models and restarts; and
never a wrong word, whatever happened to the files."""

from __future__ import annotations

import errno
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.core.files import PARTIAL
from headstart.core.model_ref import ModelRef
from headstart.core.requests import PromptMessage
from headstart.core.retention import Retention
from headstart.core.settings import EngineSettings, Speculation
from headstart.core.told import Told, told
from headstart.engine import local, prefill
from headstart.engine.prefix import budget, disk, keys, record_file
from headstart.engine.stop import StopSignal
from headstart.hub.library import open_model
from tests.models.drafts import drop_layers
from tests.support.prefix_engine import PrefixEngine, assistant, prose, system, user

LONG = prose(500)


@pytest.fixture(autouse=True)
def plenty_of_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine for tests may have a small disk; what happens then has its own tests."""
    _free(monkeypatch, 1 << 40)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may hold a user up for milliseconds takes longer on a machine that is busy."""
    monkeypatch.setattr(prefill, "KEEP_SECONDS", 2.0)
    monkeypatch.setattr(local, "SWITCH_SECONDS", 2.0)
    monkeypatch.setattr(local, "QUIT_SECONDS", 10.0)


def _free(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    usage = SimpleNamespace(total=size, used=0, free=size)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)


@pytest.fixture
def engine(starter: ModelRef, tmp_path: Path) -> Iterator[PrefixEngine]:
    engine = PrefixEngine(tmp_path, starter)
    engine.chat("c")
    yield engine
    engine.stop()


def _talk(engine: PrefixEngine, chat_id: str = "c", text: str = LONG) -> list[PromptMessage]:
    """A first turn over some 500 tokens; returns the messages of a second one."""
    first = [system("Be brief."), user(text)]
    answer = engine.ask(chat_id, first)
    return [*first, assistant(answer.text), user("And now in other words?", "q2")]


# --- found again -----------------------------------------------------------------------------


def test_a_chat_is_not_read_again_after_a_restart(engine: PrefixEngine) -> None:
    messages = _talk(engine)
    before = engine.ask("c", messages)
    assert before.stats.prefix.from_disk == 0
    engine.restart()
    after = engine.ask("c", messages)
    assert after.text == before.text
    assert after.reused == after.stats.prompt_tokens - 1
    assert after.stats.prefix.from_disk == after.reused
    assert after.stats.prefix.recomputed == 0


def test_switching_between_two_chats_reads_nothing_again(engine: PrefixEngine) -> None:
    engine.chat("d")
    one = _talk(engine)
    engine.rest()
    other = _talk(engine, "d", prose(450, seed=1))
    engine.rest()
    expected = {}
    for turn in range(4):
        for chat, messages in (("c", one), ("d", other)):
            answer = engine.ask(chat, messages)
            engine.rest()
            if turn == 0:
                expected[chat] = answer.text
                continue
            assert answer.text == expected[chat]
            assert answer.reused == answer.stats.prompt_tokens - 1
            assert answer.stats.prefix.from_memory > 400


def test_a_request_right_after_another_chats_reply_keeps_what_it_can(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.chat("d")
    messages = _talk(engine)
    # no time of rest, and no time at all
    monkeypatch.setattr(prefill, "KEEP_SECONDS", 0.0)
    engine.ask("d", [user(prose(60, seed=3))])
    before = engine.ask("c", messages)
    assert before.reused < 256
    monkeypatch.setattr(prefill, "KEEP_SECONDS", 2.0)
    engine.ask("d", [user(prose(60, seed=4))])
    after = engine.ask("c", messages)
    assert after.text == before.text
    assert after.reused >= 512
    assert after.stats.prefix.recomputed < 300


def test_switching_the_model_and_back_restores(
    engine: PrefixEngine, starter: ModelRef, tmp_path: Path
) -> None:
    small = open_model(drop_layers(starter.path, tmp_path / "small.gguf", range(2, 28)))
    messages = _talk(engine)
    before = engine.ask("c", messages)
    other = engine.ask("c", messages, model=small)
    assert other.reused == 0
    reason = other.stats.prefix.reason
    assert reason is not None
    assert reason.code == "other-model"
    after = engine.ask("c", messages)
    assert after.text == before.text
    assert after.reused == after.stats.prompt_tokens - 1


def test_branches_share_what_they_have_in_common(engine: PrefixEngine) -> None:
    first = [system("Be brief."), user(prose(700))]
    for number in range(3):
        engine.ask("c", [*first[:1], user(f"{first[1].text} Question {number}?", f"q{number}")])
        engine.rest()
    engine.leave()
    lengths = sorted(path.stat().st_size for path in engine.files())
    whole = len(engine.generator.loaded.resident.tokens) // 256
    # the whole chunks once, and a tail for each branch
    assert len(lengths) == whole + 3
    engine.restart()
    for number in range(3):
        messages = [*first[:1], user(f"{first[1].text} Question {number}?", f"q{number}")]
        answer = engine.ask("c", messages)
        assert answer.reused == answer.stats.prompt_tokens - 1


def test_a_longer_context_uses_what_a_shorter_one_saved(engine: PrefixEngine) -> None:
    messages = _talk(engine)
    engine.restart()
    engine.settings = EngineSettings(context_length=4096, kv_type="bf16")
    assert engine.ask("c", messages).reused > 500


def test_the_drafts_state_comes_back_with_the_targets(starter: ModelRef, tmp_path: Path) -> None:
    path = drop_layers(starter.path, tmp_path / "draft.gguf", [12, 18, 24])
    draft = open_model(path)
    engine = PrefixEngine(tmp_path, starter)
    engine.chat("c")
    wanted = Speculation(draft=draft.key, depth_mode="fixed", depth=3, prompt_lookup=False)
    more: dict[str, Any] = {"speculation": wanted, "draft": draft}
    first = [system("Be brief."), user(LONG)]
    before = engine.ask("c", first, 24, **more)
    engine.restart()
    after = engine.ask("c", first, 24, **more)
    assert after.text == before.text
    state = engine.generator.loaded.speculation
    assert state is not None
    assert state.draft is not None
    read = state.draft.decoder.facts.batch
    assert after.stats.speculation is not None
    assert after.stats.speculation.draft_verified > 0
    # of some 510 tokens the draft read only what it had not seen: its costs know no long slice
    assert state.pair is not None
    families = {path.parent.name for path in engine.files()}
    assert len(families) == 2
    assert state.draft.good > read
    engine.stop()


# --- prefilling ahead ---------------------------------------------------------------------------


def test_what_is_typed_is_read_before_it_is_sent(engine: PrefixEngine) -> None:
    messages = _talk(engine)
    history = messages[:3]
    typed = "Tell me about the river and the harbour in the morn"
    told = engine.ahead("c", history, typed)
    assert told is not None
    assert told.typed >= 8
    answer = engine.ask("c", [*history, user(typed + "ing light.", "q2")])
    stats = answer.stats
    assert stats.prefix.ahead > 0
    # what is left: the last word, and what the template closes with
    assert stats.prompt_tokens - stats.reused_tokens <= 12


def test_reading_ahead_without_a_loaded_model_does_nothing(engine: PrefixEngine) -> None:
    assert engine.ahead("c", [user("Hello")], "How are") is None


def test_a_text_that_is_typed_and_deleted_costs_nothing(engine: PrefixEngine) -> None:
    messages = _talk(engine)
    expected = engine.ask("c", messages).text
    engine.ahead("c", messages[:3], "Something else entirely that is then ")
    engine.ahead("c", messages[:3], "Some")
    answer = engine.ask("c", messages)
    assert answer.text == expected
    assert answer.reused > 500


# --- never wrong -----------------------------------------------------------------------------


@pytest.mark.logs("a stored prefix is not used")
@pytest.mark.parametrize(
    ("seed", "damages"),
    [(0, 4), *(pytest.param(seed, 10, marks=pytest.mark.proof) for seed in range(1, 6))],
)
def test_damaged_files_never_change_a_word(engine: PrefixEngine, seed: int, damages: int) -> None:
    """Four damages, and in proof fifty, each followed by a reply."""
    messages = _talk(engine, text=prose(300))
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
    starter: ModelRef, tmp_path: Path
) -> None:
    path = tmp_path / "model.gguf"
    shutil.copy(starter.path, path)
    engine = PrefixEngine(tmp_path, open_model(path))
    engine.chat("c")
    messages = _talk(engine)
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
    messages = _talk(engine)
    engine.restart()
    engine.settings = EngineSettings(context_length=2048, kv_type="f16")
    answer = engine.ask("c", messages)
    assert answer.reused == 0
    assert answer.stats.prefix.reason == told("other-settings")


def test_a_clock_that_is_set_back_changes_nothing(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = _talk(engine)
    engine.restart()
    past = time.time() - 10_000_000
    monkeypatch.setattr(time, "time", lambda: past)
    monkeypatch.setattr(time, "time_ns", lambda: int(past * 1e9))
    answer = engine.ask("c", messages)
    assert answer.stats.prefix.from_disk > 500
    engine.leave()
    assert engine.store.use_of_disk().written_today > 0


@pytest.mark.logs("The prompt cache cannot be kept")
def test_a_full_disk_is_told_once_and_replies_go_on(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Told] = []
    engine.store.on_trouble(said.append)

    def full(*_arguments: object, **_more: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    messages = _talk(engine)
    engine.leave()
    answer = engine.ask("c", messages)
    engine.leave()
    assert answer.text
    assert said == [told("cache-not-written", error="No space left on device")]
    assert engine.files() == []
    assert engine.store.use_of_disk().total == 0
    # in memory they are kept all the same
    engine.ask("d", [user("Hello")])
    assert engine.ask("c", messages).reused > 500


@pytest.mark.logs("The prompt cache is not kept")
def test_below_ten_gib_of_free_disk_nothing_is_written(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _free(monkeypatch, budget.LEAST_FREE - 1)
    _talk(engine)
    engine.leave()
    assert engine.files() == []
    trouble = engine.store.use_of_disk().trouble
    assert trouble is not None
    assert "10 GiB" in trouble.message


def test_the_budget_lets_the_least_recently_used_chat_go(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for chat in ("d", "e"):
        engine.chat(chat)
    one = _talk(engine, "c", prose(500, 1))
    engine.leave()
    size = engine.store.use_of_disk().total
    monkeypatch.setattr(disk, "GB", int(size * 2.5) // 8)
    engine.store.set_limits(True, 8)
    other = _talk(engine, "d", prose(500, 2))
    engine.leave()
    engine.ask("c", one)
    engine.leave()
    _talk(engine, "e", prose(500, 3))
    engine.leave()
    use = engine.store.use_of_disk()
    assert use.total <= use.budget
    engine.restart()
    monkeypatch.setattr(disk, "GB", 10**9)
    assert engine.ask("c", one).reused > 256
    assert engine.ask("d", other).reused < 256


def test_orphans_in_either_direction_are_cleaned_up(engine: PrefixEngine) -> None:
    messages = _talk(engine)
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
    use = engine.store.use_of_disk()
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


def _kill_while_saving(starter: ModelRef, folder: Path, delay: float) -> None:
    folder.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder), str(starter.path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    expected = bytes.fromhex(child.stdout.readline().strip()).decode()
    time.sleep(delay)
    child.kill()
    child.wait()
    child.stdout.close()
    engine = PrefixEngine(folder, starter)
    answer = engine.ask("c", [system("Be brief."), user(LONG)])
    assert answer.text == expected
    engine.leave()
    known = engine.storage.submit(lambda opened: opened.prefixes.load()).result()
    assert {info.key.hex() for info in known.records} == {path.stem for path in engine.files()}
    engine.stop()


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.06])
def test_a_kill_while_saving_costs_no_word(starter: ModelRef, tmp_path: Path, delay: float) -> None:
    _kill_while_saving(starter, tmp_path / "home", delay)


@pytest.mark.proof
def test_fifty_kills_while_saving_cost_no_word(starter: ModelRef, tmp_path: Path) -> None:
    random_ = random.Random(1)
    for number in range(50):
        _kill_while_saving(starter, tmp_path / str(number), random_.random() * 0.12)


# --- what stays off the disk -----------------------------------------------------------------


def test_a_chat_that_may_not_be_on_disk_leaves_no_file(engine: PrefixEngine) -> None:
    first = [system("Be brief."), user(LONG)]
    answer = engine.ask("p1", first, retention=Retention.MEMORY)
    engine.leave()
    engine.ask("c", [user("Hello")], retention=Retention.MEMORY)
    engine.leave()
    assert engine.files() == []
    assert engine.storage.submit(lambda opened: opened.prefixes.load()).result().records == []
    again = engine.ask("p1", first, retention=Retention.MEMORY)
    assert again.text == answer.text
    assert again.stats.prefix.from_memory > 500


def test_what_a_private_chat_read_first_is_written_for_the_chat_that_may(
    engine: PrefixEngine,
) -> None:
    first = [system("Be brief."), user(LONG)]
    engine.ask("p1", first, retention=Retention.MEMORY)
    engine.rest()
    engine.ask("c", first)
    engine.leave()
    assert engine.store.use_of_disk().by_chat["c"] > 10_000_000


@pytest.mark.parametrize("rests", [False, True])
def test_nothing_of_a_private_chat_is_saved_under_the_next_one(
    engine: PrefixEngine, starter: ModelRef, tmp_path: Path, rests: bool
) -> None:
    """Not with the target, not with the draft, not as a tail that begins alike."""
    draft = open_model(drop_layers(starter.path, tmp_path / "draft.gguf", [12, 18, 24]))
    wanted = Speculation(draft=draft.key, depth_mode="fixed", depth=3, prompt_lookup=False)
    shared = prose(250)
    engine.ask(
        "p1",
        [user(f"{shared} {prose(200, 5)}")],
        24,
        retention=Retention.MEMORY,
        speculation=wanted,
        draft=draft,
    )
    if rests:
        engine.rest()
    engine.ask("c", [user(shared)])
    regular = list(engine.generator.loaded.resident.tokens)
    engine.leave()
    engine.stop()
    engine.start()
    known = engine.storage.submit(lambda opened: opened.prefixes.load()).result().records
    assert known
    for info in known:
        assert keys.unpack(info.tokens) == regular[info.start : info.end]


def test_when_memory_is_short_the_ends_of_chats_go_first(engine: PrefixEngine) -> None:
    engine.ask("p1", [user(prose(900))], retention=Retention.MEMORY)
    engine.store.set_limits(on_disk=True, most_gb=8, memory_mb=13)
    engine.rest()
    engine.ask("p2", [user("Hello")], retention=Retention.MEMORY)
    again = engine.ask("p1", [user(prose(900))], retention=Retention.MEMORY)
    assert again.reused >= 256


def test_a_chat_off_the_disk_leaves_no_digests_or_tokens_in_the_database(
    engine: PrefixEngine,
) -> None:
    _talk(engine)
    engine.ask("c", [user("Hello")], retention=Retention.MEMORY)
    engine.store.forget_chat("c")
    assert engine.store.flush(5)
    engine.stop(save=False)
    with closing(sqlite3.connect(tmp_database := engine.folder / "a.db")) as database:
        for table in ("prefix_records", "prefix_uses", "prefix_traces", "prefix_spellings"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    assert tmp_database.exists()
    engine.start()


@pytest.mark.logs("The prompt cache is not kept")
def test_a_tail_stays_until_what_covers_it_is_written(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = _talk(engine, text=prose(100))
    engine.leave()
    (tail,) = engine.files()
    _free(monkeypatch, budget.LEAST_FREE - 1)
    engine.ask("c", messages)
    engine.leave()
    assert engine.files() == [tail]
    _free(monkeypatch, 1 << 40)
    engine.store.set_limits(on_disk=True, most_gb=8)
    engine.ask("c", [*messages[:3], user("What else?", "q3")])
    engine.leave()
    assert tail not in engine.files()


def test_forgetting_a_chat_removes_what_only_it_needs(engine: PrefixEngine) -> None:
    engine.chat("d")
    first = [system("Be brief."), user(prose(600))]
    engine.ask("c", first)
    engine.leave()
    engine.ask("d", [*first[:1], user(first[1].text + " Why?")])
    engine.leave()
    before = engine.store.use_of_disk()
    engine.store.forget_chat("c")
    assert engine.store.flush(5)
    after = engine.store.use_of_disk()
    assert "c" not in after.by_chat
    assert after.by_chat["d"] == before.by_chat["d"] == after.total
    engine.store.clear()
    assert engine.store.flush(5)
    assert engine.files() == []


def test_switched_off_nothing_more_is_written(engine: PrefixEngine) -> None:
    engine.store.set_limits(False, 8)
    _talk(engine)
    engine.leave()
    assert engine.files() == []


def test_saving_can_be_interrupted_and_goes_on(engine: PrefixEngine) -> None:
    _talk(engine)
    stop = StopSignal()
    stop.stop()
    assert engine.generator.save_when_idle(stop) == 0.0
    assert engine.generator.loaded.resident.unsaved
    engine.rest()
    assert not engine.generator.loaded.resident.unsaved


def test_a_chat_that_fails_before_its_prompt_leaves_nothing_of_the_one_before(
    engine: PrefixEngine, starter: ModelRef, tmp_path: Path
) -> None:
    """A private chat's text is still in the decoder then: it is nobody's."""
    draft = open_model(drop_layers(starter.path, tmp_path / "draft.gguf", [12, 18, 24]))
    wanted = Speculation(draft=draft.key, prompt_lookup=False)
    more: dict[str, Any] = {"speculation": wanted, "draft": draft}
    engine.ask("p1", [user(prose(300, 5))], 24, retention=Retention.MEMORY, **more)
    with pytest.raises(EnvironmentProblem):
        engine.ask("c", [user(prose(9000, 6))], **more)
    for _ in range(3):
        engine.generator.learn_when_idle(StopSignal(), lambda _event: None)
        engine.rest()
    engine.leave()
    assert engine.store.flush(10)
    known = engine.storage.submit(lambda opened: opened.prefixes.load()).result().records
    assert known == []


def test_nothing_of_a_deleted_chat_is_written_when_it_is_left(engine: PrefixEngine) -> None:
    _talk(engine)
    # as when its undo is over
    engine.store.allow("c", False)
    engine.store.forget_chat("c")
    engine.rest()
    engine.leave()
    assert engine.store.flush(10)
    known = engine.storage.submit(lambda opened: opened.prefixes.load()).result().records
    assert known == []
