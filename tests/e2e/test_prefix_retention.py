"""What of a chat stays off the disk, and what goes from it; on real weights."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.core.models.ref import ModelRef
from headstart.core.retention import Retention
from headstart.core.settings.schema import Speculation
from headstart.engine.prefix import budget, keys
from headstart.engine.stop import StopSignal
from headstart.hub.library import open_model
from tests.models.drafts import drop_layers
from tests.support.disk import free_disk
from tests.support.prefix_engine import LONG, PrefixEngine, prose, system, talk, user

pytestmark = pytest.mark.usefixtures("unhurried")


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
    assert engine.store.controls.use_of_disk().by_chat["c"] > 2_500_000


@pytest.mark.parametrize("rests", [False, True])
def test_nothing_of_a_private_chat_is_saved_under_the_next_one(
    engine: PrefixEngine, shallow: ModelRef, tmp_path: Path, rests: bool
) -> None:
    """Not with the target, not with the draft, not as a tail that begins alike."""
    draft = open_model(drop_layers(shallow.path, tmp_path / "draft.gguf", [4]))
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
    engine.store.controls.set_limits(on_disk=True, most_gb=8, memory_mb=13)
    engine.rest()
    engine.ask("p2", [user("Hello")], retention=Retention.MEMORY)
    again = engine.ask("p1", [user(prose(900))], retention=Retention.MEMORY)
    assert again.reused >= 256


def test_a_chat_off_the_disk_leaves_no_digests_or_tokens_in_the_database(
    engine: PrefixEngine,
) -> None:
    talk(engine)
    engine.ask("c", [user("Hello")], retention=Retention.MEMORY)
    engine.store.controls.forget_chat("c")
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
    messages = talk(engine, text=prose(100))
    engine.leave()
    (tail,) = engine.files()
    free_disk(monkeypatch, budget.LEAST_FREE - 1)
    engine.ask("c", messages)
    engine.leave()
    assert engine.files() == [tail]
    free_disk(monkeypatch, 1 << 40)
    engine.store.controls.set_limits(on_disk=True, most_gb=8)
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
    before = engine.store.controls.use_of_disk()
    engine.store.controls.forget_chat("c")
    assert engine.store.flush(5)
    after = engine.store.controls.use_of_disk()
    assert "c" not in after.by_chat
    assert after.by_chat["d"] == before.by_chat["d"] == after.total
    engine.store.controls.clear()
    assert engine.store.flush(5)
    assert engine.files() == []


@pytest.mark.parametrize("all_chats", [True, False])
def test_what_was_cleared_is_not_written_again_until_the_chat_is_used(
    engine: PrefixEngine, all_chats: bool
) -> None:
    """Its text is still in the model's context, and was not all kept when it was cleared."""
    messages = [user(LONG)]
    engine.ask("c", messages)
    if all_chats:
        engine.store.controls.clear()
    else:
        engine.store.controls.forget_chat("c")
    engine.leave()
    assert engine.files() == []
    engine.ask("c", messages)
    engine.leave()
    assert engine.store.controls.use_of_disk().by_chat["c"] > 2_500_000


def test_switched_off_nothing_more_is_written(engine: PrefixEngine) -> None:
    engine.store.controls.set_limits(False, 8)
    talk(engine)
    engine.leave()
    assert engine.files() == []


def test_saving_can_be_interrupted_and_goes_on(engine: PrefixEngine) -> None:
    talk(engine)
    stop = StopSignal()
    stop.stop()
    assert engine.generator.save_when_idle(stop) == 0.0
    assert engine.generator.loaded.resident.unsaved
    engine.rest()
    assert not engine.generator.loaded.resident.unsaved


def test_a_chat_that_fails_before_its_prompt_leaves_nothing_of_the_one_before(
    engine: PrefixEngine, shallow: ModelRef, tmp_path: Path
) -> None:
    """A private chat's text is still in the decoder then: it is nobody's."""
    draft = open_model(drop_layers(shallow.path, tmp_path / "draft.gguf", [4]))
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
    talk(engine)
    # as when its undo is over
    engine.store.controls.allow("c", False)
    engine.store.controls.forget_chat("c")
    engine.rest()
    engine.leave()
    assert engine.store.flush(10)
    known = engine.storage.submit(lambda opened: opened.prefixes.load()).result().records
    assert known == []
