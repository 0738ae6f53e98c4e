"""What is pure: keys, the catalogue, plans, the budget and explanations."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.chats.values import Role
from headstart.core.prefixes import RecordInfo, RecordKind
from headstart.core.requests import PromptMessage
from headstart.core.told import told
from headstart.engine.prefix import budget, keys, restore_plan
from headstart.engine.prefix.catalogue import Catalogue, PrefixEntry, Step
from headstart.engine.prefix.explain import Now, Trace, explain, traced
from headstart.engine.prefix.record_file import Payload
from headstart.engine.prefix.speeds import PrefixSpeeds

FAMILY = b"f" * 32
CHUNK = 4
tokens = st.lists(st.integers(0, 3), max_size=30)


def _info(
    parent: bytes, text: Sequence[int], start: int = 0, size: int = 100,
    kind: RecordKind = RecordKind.RANGE,
) -> RecordInfo:  # fmt: skip
    packed = keys.pack(text)
    return RecordInfo(
        keys.record_key(kind, parent, packed), parent, FAMILY, kind, start, packed, size
    )


def _catalogue(*texts: Sequence[int]) -> Catalogue:
    """Every whole chunk of the texts, and their tails."""
    catalogue = Catalogue()
    for text in texts:
        parent = keys.root(FAMILY)
        for start in range(0, len(text), CHUNK):
            info = _info(parent, text[start : start + CHUNK], start)
            if catalogue.get(info.key) is None:
                catalogue.add(PrefixEntry(info, on_disk=True))
            parent = info.key
    return catalogue


# --- keys and the catalogue ------------------------------------------------------------------


@given(tokens, tokens)
def test_common_tokens_are_counted_right(one: list[int], other: list[int]) -> None:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    assert keys.common_tokens(keys.pack(one), keys.pack(other)) == same


@given(tokens)
def test_packed_tokens_come_back(text: list[int]) -> None:
    assert keys.unpack(keys.pack(text)) == text


def test_a_key_depends_on_everything_before_it() -> None:
    first = keys.chain(FAMILY, keys.pack([1, 2, 3, 4, 5, 6, 7, 8]), CHUNK)
    other = keys.chain(FAMILY, keys.pack([0, 2, 3, 4, 5, 6, 7, 8]), CHUNK)
    foreign = keys.chain(b"g" * 32, keys.pack([1, 2, 3, 4, 5, 6, 7, 8]), CHUNK)
    assert len({*first, *other, *foreign}) == 8  # only the two roots of one family are equal


@given(st.lists(tokens, max_size=5), tokens)
def test_the_way_along_a_prompt_is_the_longest_that_any_text_shares(
    texts: list[list[int]], prompt: list[int]
) -> None:
    steps = _catalogue(*texts).steps((FAMILY,), keys.pack(prompt), CHUNK)
    reach = steps[-1].end if steps else 0
    longest = max(
        (keys.common_tokens(keys.pack(text), keys.pack(prompt)) for text in texts), default=0
    )
    assert reach == longest
    read: list[int] = []
    for step in steps:
        assert step.start == len(read)
        read += keys.unpack(step.entry.info.tokens)[: step.use]
    assert read == prompt[:reach]


def test_a_way_ends_where_a_record_is_neither_in_memory_nor_on_disk() -> None:
    text = list(range(12))
    catalogue = _catalogue(text)
    way = catalogue.steps((FAMILY,), keys.pack(text), CHUNK)
    way[1].entry.on_disk = False
    assert [step.end for step in catalogue.steps((FAMILY,), keys.pack(text), CHUNK)] == [4]


def test_a_tail_that_grew_is_covered() -> None:
    catalogue = _catalogue([1, 2])
    (tail,) = catalogue
    whole = PrefixEntry(_info(keys.root(FAMILY), [1, 2, 3, 4]), on_disk=True)
    other = PrefixEntry(_info(keys.root(FAMILY), [1, 3]), on_disk=True)
    for entry in (whole, other):
        catalogue.add(entry)
    assert catalogue.covered(whole) == [tail]
    assert catalogue.covering(keys.root(FAMILY), keys.pack([1, 2, 3]), to_disk=True) is whole
    assert catalogue.covering(keys.root(FAMILY), keys.pack([2]), to_disk=False) is None


def test_a_longer_record_that_must_not_be_on_disk_does_not_stand_for_one_that_may() -> None:
    catalogue = _catalogue([1, 2, 3])
    (private,) = catalogue
    private.on_disk, private.payload = False, Payload((), 1)
    parent = keys.root(FAMILY)
    assert catalogue.covering(parent, keys.pack([1, 2]), to_disk=False) is private
    assert catalogue.covering(parent, keys.pack([1, 2]), to_disk=True) is None
    assert catalogue.covering(parent, keys.pack([1, 2, 3]), to_disk=True) is private


def test_snapshots_are_found_where_their_whole_text_is_the_prompts() -> None:
    text = list(range(10))
    catalogue = _catalogue(text)
    chain = keys.chain(FAMILY, keys.pack(text), CHUNK)
    for place in (3, 8, 9):
        at = place // CHUNK
        info = _info(chain[at], text[at * CHUNK : place], at * CHUNK, kind=RecordKind.SNAPSHOT)
        catalogue.add(PrefixEntry(info, on_disk=True))
    found = catalogue.snapshots((FAMILY,), keys.pack([*text[:9], 99]), CHUNK)
    assert [entry.info.end for entry in found] == [9, 8, 3]
    found = catalogue.snapshots((FAMILY,), keys.pack([*text[:8], 99]), CHUNK)
    assert [entry.info.end for entry in found] == [8, 3]


# --- plans -----------------------------------------------------------------------------------


def _steps(count: int, size: int = 1000, on_disk: bool = True) -> list[Step]:
    parent, steps = keys.root(FAMILY), []
    for index in range(count):
        info = _info(parent, [index] * CHUNK, index * CHUNK, size)
        steps.append(Step(PrefixEntry(info, on_disk=on_disk), CHUNK))
        parent = info.key
    return steps


def test_restoring_pays_only_where_it_is_faster_than_reading() -> None:
    fast_disk = PrefixSpeeds(token_seconds=1.0, disk_rate=1000.0)
    slow_disk = PrefixSpeeds(token_seconds=1.0, disk_rate=100.0)
    assert restore_plan.worth(0, _steps(3), fast_disk) == 3
    assert restore_plan.worth(0, _steps(3), slow_disk) == 0
    # what is resident need not come back; what is beyond it counts alone
    assert restore_plan.worth(12, _steps(3), fast_disk) == 0
    assert restore_plan.worth(11, _steps(3), PrefixSpeeds(token_seconds=1.0, disk_rate=900.0)) == 0
    assert restore_plan.worth(7, _steps(3), fast_disk) == 3


@given(
    st.lists(st.tuples(st.integers(1, 5000), st.booleans()), max_size=8),
    st.integers(0, 40),
    st.floats(0.01, 2),
)
def test_a_plan_is_the_best_of_all_lengths(
    records: list[tuple[int, bool]], have: int, token_seconds: float
) -> None:
    speeds = PrefixSpeeds(token_seconds, memory_rate=2000.0, disk_rate=700.0)
    steps = [
        Step(PrefixEntry(_info(b"p", [index] * CHUNK, index * CHUNK, size), on_disk=on_disk), CHUNK)
        for index, (size, on_disk) in enumerate(records)
    ]

    def gain(count: int) -> float:
        used = [step for step in steps[:count] if step.end > have]
        reach = used[-1].end if used else have
        cost = sum(restore_plan.seconds(step.entry, speeds) for step in used)
        return (reach - have) * token_seconds - cost

    chosen = restore_plan.worth(have, steps, speeds)
    best = max(gain(count) for count in range(len(steps) + 1))
    assert gain(chosen) == pytest.approx(max(best, 0.0))


# --- the budget ------------------------------------------------------------------------------


def test_the_budget_is_the_users_cap_or_a_quarter_of_what_would_be_free() -> None:
    assert budget.budget(8, used=0, free=100) == 8
    assert budget.budget(80, used=20, free=100) == 30


@given(st.integers(0, 2**32), st.integers(0, 3000))
def test_leaves_go_first_and_no_parent_before_its_children(seed: int, excess: int) -> None:
    random_ = random.Random(seed)
    infos: list[RecordInfo] = []
    for index in range(20):
        parent = random_.choice(infos).key if infos and random_.random() < 0.8 else b"root"
        infos.append(_info(parent, [index], size=random_.randrange(1, 200)))
    stamps = {info.key: random_.randrange(100) for info in infos}
    kept = frozenset({random_.choice(infos).key})
    victims = budget.to_evict([(info, stamps[info.key]) for info in infos], excess, kept)
    gone: set[bytes] = set()
    for victim in victims:
        children = {info.key for info in infos if info.parent == victim.key}
        assert children <= gone
        leaves = [
            info
            for info in infos
            if info.key not in gone | kept
            and {other.key for other in infos if other.parent == info.key} <= gone
        ]
        assert stamps[victim.key] == min(stamps[info.key] for info in leaves)
        gone.add(victim.key)
    assert not gone & kept
    saved = sum(victim.size for victim in victims)
    everything_else = len(victims) == len(infos) - len(_with_ancestors(infos, kept))
    assert saved >= excess or everything_else
    if victims:
        assert saved - victims[-1].size < excess


def _with_ancestors(infos: list[RecordInfo], kept: frozenset[bytes]) -> set[bytes]:
    parents = {info.key: info.parent for info in infos}
    result: set[bytes] = set()
    for key in kept:
        while key in parents:
            result.add(key)
            key = parents[key]
    return result


# --- explanations ----------------------------------------------------------------------------

CHAT = (
    PromptMessage(Role.SYSTEM, "Be brief.", "system"),
    PromptMessage(Role.USER, "What is a river?", "1"),
    PromptMessage(Role.ASSISTANT, "Water that flows to the sea.", "2"),
    PromptMessage(Role.USER, "And a lake, in very many words, please?", "3"),
)
END = 100  # tokens of each message


def _now(messages: Sequence[PromptMessage], reused: int, **changes: object) -> Now:
    values: dict[str, object] = {
        "trace": Trace("f", "Model A", traced(messages), len(messages) * END),
        "texts": tuple(message.text for message in messages),
        "reused": reused,
        "end_of": lambda index: (index + 1) * END,
        "same_tokens": None,
    }
    return Now(**{**values, **changes})  # type: ignore[arg-type]


BEFORE = Trace("f", "Model A", traced(CHAT[:3]), 300)


def test_nothing_is_explained_when_only_what_is_new_was_read() -> None:
    assert explain(BEFORE, _now(CHAT, 300)) == (0, None)
    assert explain(None, _now(CHAT, 0)) == (0, None)
    # an edited question is new text
    edited = (*CHAT[:1], PromptMessage(Role.USER, "What is a sea?", "1b"))
    assert explain(BEFORE, _now(edited, 100)) == (0, None)


def test_a_changed_system_prompt_is_named() -> None:
    changed = (PromptMessage(Role.SYSTEM, "Be long.", "system"), *CHAT[1:])
    count, why = explain(BEFORE, _now(changed, 0))
    assert count == 200  # the two messages that had been read, not the new one
    assert why is not None
    assert why.text.startswith("the system prompt changed")


def test_left_out_turns_are_named() -> None:
    count, why = explain(BEFORE, _now((CHAT[0], *CHAT[2:]), 100, dropped=True))
    assert count == 100
    assert why is not None
    assert "context is full" in why.text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"same_tokens": 120}, "message 1 (“What is a river?”) reads differently"),
        ({"same_tokens": 120, "reads_clock": True}, "writes the date or time"),
        ({"cannot_cut": True}, "this kind of model"),
        ({"kept_on_disk": False}, "not kept on disk"),
        ({}, "no longer cached"),
    ],
)
def test_what_is_lost_of_unchanged_messages_has_a_reason(
    changes: dict[str, object], words: str
) -> None:
    count, why = explain(BEFORE, _now(CHAT, 0, **changes))
    assert count == 300
    assert why is not None
    assert words in why.text


def test_another_model_or_other_settings_are_named() -> None:
    other = Trace("g", "Model B", traced(CHAT[:3]), 300)
    why = explain(other, _now(CHAT, 0))[1]
    assert why == told("other-model", model="Model B")
    changed = Trace("g", "Model A", traced(CHAT[:3]), 300)
    why = explain(changed, _now(CHAT, 0))[1]
    assert why == told("other-settings")
    assert "KV settings" in why.text
