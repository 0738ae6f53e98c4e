"""Heads that draft blocks, on real weights: what they read, where they draft, and what they hold
afterwards. That words stay those of plain decoding is tested with the other heads."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt
import pytest

from headstart.core.errors import ModelProblem
from headstart.core.models.heads import HeadKind
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, Speculation
from headstart.engine.backends.heads.llama_block import LlamaBlock, _Pairs, _RowsIn
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.stop import StopSignal
from tests.models.drafts import read_gguf, write_gguf
from tests.models.heads import random_block
from tests.support.block_network import block_states
from tests.support.head_pairs import STORY, Pair, make_head

Array = npt.NDArray[np.float32]
ENGINE = EngineSettings(context_length=512, threads=2)
TEXT = "A river runs to the sea, and the sea is deep and wide. The boat"
KINDS = {"dflash": HeadKind.DFLASH, "dflash2": HeadKind.DFLASH, "dspark": HeadKind.DSPARK}
FIXED = Speculation(draft="d", depth_mode="fixed", depth=3, prompt_lookup=False)


@pytest.fixture(scope="module")
def target(shallow: ModelRef) -> Iterator[LlamaCppDecoder]:
    decoder = LlamaCppDecoder(shallow.path, ENGINE)
    yield decoder
    decoder.close()


Opened = Callable[..., LlamaBlock]


@pytest.fixture
def opened(shallow: ModelRef, target: LlamaCppDecoder, tmp_path: Path) -> Iterator[Opened]:
    """Opens a random head of a kind; its file is `head.gguf`."""
    heads: list[LlamaBlock] = []

    def open_head(kind: str, **made: Any) -> LlamaBlock:
        path = random_block(shallow.path, tmp_path / "head.gguf", kind, **made)
        heads.append(LlamaBlock(path, KINDS[kind], ENGINE, target))
        target.states.keep(heads[-1].facts.wants)
        return heads[-1]

    yield open_head
    target.states.keep(())
    for head in heads:
        head.close()


def read_text(target: LlamaCppDecoder) -> tuple[list[int], Array]:
    """The text's tokens, and the states of all but the last."""
    tokens = target.encode(TEXT)
    target.truncate(0)
    target.forward(tokens[:-1], [0])
    return tokens, target.states.rows(0, len(tokens) - 1)


def drafted(head: LlamaBlock, token: int, count: int) -> list[Array]:
    head.forward([token], range(count))
    return [head.row(row) for row in range(count)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_depends_on_what_was_read_and_not_on_how(
    kind: str, target: LlamaCppDecoder, opened: Opened
) -> None:
    head = opened(kind)
    tokens, rows = read_text(target)
    found = []
    for pieces in (1, 3, len(rows)):
        head.truncate(0)
        for part in np.array_split(np.arange(len(rows)), pieces):
            first, last = int(part[0]), int(part[-1]) + 1
            head.forward(tokens[first + 1 : last + 1], (), hidden=rows[first:last])
            # a block in between leaves nothing
            drafted(head, tokens[last], 2)
            assert head.n_past() == last
        found.append(drafted(head, tokens[-1], 3))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            known = np.isfinite(one)
            assert np.array_equal(known, np.isfinite(same))
            assert np.abs(one[known] - same[known]).max() < 1e-2
    head.truncate(0)
    head.forward(tokens[1:], (), hidden=rows[::-1].copy())
    turned = drafted(head, tokens[-1], 3)[0]
    known = np.isfinite(turned) & np.isfinite(found[0][0])
    assert not known.any() or np.abs(turned[known] - found[0][0][known]).max() > 1e-2


def test_a_block_is_what_its_weights_say(
    target: LlamaCppDecoder, opened: Opened, shallow: ModelRef, tmp_path: Path
) -> None:
    """Against the same network in numpy: layers in their order, places, the blank token, and every
    place of a block sees all the others."""
    head = opened("dflash")
    tokens, rows = read_text(target)
    head.forward(tokens[1:], (), hidden=rows)
    count = 4
    found = drafted(head, tokens[-1], count)
    known = read_gguf(tmp_path / "head.gguf").tensors
    weights = {name: np.asarray(data, np.float32) for name, (data, _) in known.items()}
    data, kind = read_gguf(shallow.path).tensors["token_embd.weight"]
    embedding = np.asarray(gguf.quants.dequantize(np.asarray(data), kind), np.float32)
    block = embedding[[tokens[-1], *[len(embedding) - 1] * count]]
    states = block_states(weights, rows, block)
    for place, logits in enumerate(found, 1):
        expected = embedding @ states[place]
        assert np.abs(logits - expected).max() < 0.03 * np.abs(expected).max()
        assert int(logits.argmax()) in np.argsort(expected)[-3:]


def test_a_head_with_an_output_of_its_own_drafts_its_tokens_only(
    target: LlamaCppDecoder, opened: Opened
) -> None:
    for kind in ("dflash", "dspark"):
        head = opened(kind, drafted=64)
        tokens, rows = read_text(target)
        head.forward(tokens[1:], (), hidden=rows)
        for row in drafted(head, tokens[-1], 3):
            assert np.isfinite(row).sum() == 64


@pytest.mark.parametrize(("at_token", "most"), [(1, 6), (0, 5)])
def test_dspark_drafts_from_the_token_or_behind_it(
    target: LlamaCppDecoder, opened: Opened, at_token: int, most: int
) -> None:
    head = opened("dspark", at_token=bool(at_token))
    tokens, rows = read_text(target)
    head.forward(tokens[1:], (), hidden=rows)
    assert head.facts.at_once == most
    drafted(head, tokens[-1], most)
    sure = [head.sureness(row) for row in range(most)]
    assert np.isfinite(sure).all()
    assert len(set(sure)) > 1
    with pytest.raises(ValueError, match="to draft after it"):
        head.forward([tokens[-1]], range(most + 1))


def test_dflash2_goes_on_from_what_was_chosen() -> None:
    few, count, vocabulary = 3, 4, 50
    numbers = np.random.default_rng(0)
    tokens = np.array([numbers.choice(vocabulary, few, replace=False) for _ in range(count)])
    scores = numbers.standard_normal((count, few, few)).astype(np.float32)
    packed = np.concatenate([tokens, scores.reshape(count, -1), np.zeros((count, 7))], axis=1)
    for chosen in itertools.product(range(few), repeat=count - 1):
        pairs = _Pairs(few, vocabulary)
        pairs.start(packed.astype(np.float32))
        before = 0
        for place in range(count):
            row = pairs.logits(place)
            assert set(np.flatnonzero(np.isfinite(row))) == set(tokens[place])
            assert np.array_equal(row[tokens[place]], scores[place, before])
            if place < count - 1:
                before = chosen[place]
                pairs.chose(place, int(tokens[place, before]))
    # without a choice, along the likeliest
    pairs = _Pairs(few, vocabulary)
    pairs.start(packed.astype(np.float32))
    before = 0
    for place in range(count):
        assert pairs.logits(place).argmax() == tokens[place][scores[place, before].argmax()]
        before = int(scores[place, before].argmax())


def test_places_of_rows_that_turn_by_height_and_width() -> None:
    rows = _RowsIn(8, 4, 4)
    native = rows.fill(np.ones((3, 4), np.float32), 10)
    # one dimension after the other; the last is that of nothing
    assert [native.pos[index] for index in range(12)] == [10, 11, 12] * 3 + [0, 0, 0]
    rows.close()


@pytest.mark.parametrize("missing", ["tokenizer.ggml.mask_token_id", "dflash.target_layers"])
def test_a_file_that_lacks_what_drafting_needs_is_told(
    missing: str, target: LlamaCppDecoder, shallow: ModelRef, tmp_path: Path
) -> None:
    whole = read_gguf(random_block(shallow.path, tmp_path / "whole.gguf"))
    fields = {key: field for key, field in whole.fields.items() if key != missing}
    torn = write_gguf(tmp_path / "torn.gguf", "dflash", fields, whole.tensors)
    with pytest.raises(ModelProblem, match="torn"):
        LlamaBlock(torn, HeadKind.DFLASH, ENGINE, target)


def test_what_is_not_known_of_a_pair_is_learned_while_nobody_waits(
    shallow: ModelRef, tmp_path: Path
) -> None:
    pair = Pair("dflash", lambda kind: make_head(kind, shallow, tmp_path / kind), tmp_path / "home")
    pair.write(Speculation(draft="d"))
    state = pair.engine.generator.loaded.speculation
    assert state.pair is not None
    before = state.pair.margins.all_verified
    pair.engine.generator.learn_when_idle(StopSignal(), lambda _event: None)
    assert state.pair.margins.all_verified > before
    assert state.pair.at_once == 5
    assert state.pair.costs.known
    pair.engine.stop()


def test_a_block_is_cut_off_where_the_context_ends(shallow: ModelRef, tmp_path: Path) -> None:
    pair = Pair("dspark", lambda kind: make_head(kind, shallow, tmp_path / kind), tmp_path / "home")
    engine = EngineSettings(context_length=256)
    replies = [
        pair.engine.ask("c", STORY, 400, speculation=wanted, draft=draft, engine=engine).text
        for wanted, draft in ((Speculation(enabled=False), None), (FIXED, pair.head))
    ]
    assert replies[0] == replies[1]
    pair.engine.stop()
