"""Prefixes through the engine, on real weights: across turns, chats, models and restarts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, Speculation
from headstart.engine import prefill
from headstart.engine.prefix import speeds
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.hub.library import open_model
from tests.models.drafts import drop_layers
from tests.support.prefix_engine import (
    LONG,
    PrefixEngine,
    prose,
    system,
    talk,
    user,
)

pytestmark = pytest.mark.usefixtures("unhurried")


# --- found again -----------------------------------------------------------------------------


def test_a_chat_is_not_read_again_after_a_restart(engine: PrefixEngine) -> None:
    messages = talk(engine)
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
    one = talk(engine)
    engine.rest()
    other = talk(engine, "d", prose(450, seed=1))
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
    messages = talk(engine)
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
    engine: PrefixEngine, shallow: ModelRef, tmp_path: Path
) -> None:
    small = open_model(drop_layers(shallow.path, tmp_path / "small.gguf", range(2, 6)))
    messages = talk(engine)
    before = engine.ask("c", messages)
    other = engine.ask("c", messages, model=small)
    assert other.reused == 0
    reason = other.stats.prefix.reason
    assert reason is not None
    assert reason.code == "other-model"
    after = engine.ask("c", messages)
    assert after.text == before.text
    assert after.reused == after.stats.prompt_tokens - 1


def test_branches_share_what_they_have_in_common(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a fast computer prefills eight tokens sooner than it opens a file
    monkeypatch.setattr(speeds, "load", lambda *_: PrefixSpeeds(token_seconds=10.0))
    monkeypatch.setattr(PrefixSpeeds, "observe_prefill", lambda *_: None)
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
    messages = talk(engine)
    engine.restart()
    engine.settings = EngineSettings(context_length=4096, kv_type="bf16")
    assert engine.ask("c", messages).reused > 500


def test_the_drafts_state_comes_back_with_the_targets(shallow: ModelRef, tmp_path: Path) -> None:
    path = drop_layers(shallow.path, tmp_path / "draft.gguf", [4])
    draft = open_model(path)
    engine = PrefixEngine(tmp_path, shallow)
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
    messages = talk(engine)
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
    messages = talk(engine)
    expected = engine.ask("c", messages).text
    engine.ahead("c", messages[:3], "Something else entirely that is then ")
    engine.ahead("c", messages[:3], "Some")
    answer = engine.ask("c", messages)
    assert answer.text == expected
    assert answer.reused > 500
