"""Where a format begins to count in a reply that may reason first, and going back in a draft."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, Sampling
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.constraints.rules import DraftRules, RuleMaker, Rules
from headstart.engine.markup.formats import FORMATS, THINK, ReplyFormat
from headstart.engine.markup.text_stream import TextStream

ANSWER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
HARMONY = FORMATS[0]


@pytest.fixture(scope="module")
def decoder(starter: ModelRef) -> Iterator[LlamaCppDecoder]:
    decoder = LlamaCppDecoder(starter.path, EngineSettings(context_length=512))
    yield decoder
    decoder.close()


def _rules(
    decoder: LlamaCppDecoder,
    form: ReplyFormat = THINK,
    marks: Mapping[int, str] | None = None,
    prompt: str = "",
    written: str = "",
) -> Rules:
    stream = TextStream((), form, frozenset((marks or {}).values()))
    stream.follow(prompt, written)
    rules = RuleMaker(decoder, marks or {}).make(
        Sampling(schema=json.dumps(ANSWER)), stream, written
    )
    assert rules is not None
    return rules


def _may(rules: Rules | DraftRules, decoder: LlamaCppDecoder, text: str) -> bool:
    """Whether the first token of a text may come next."""
    row = np.zeros(decoder.facts.vocabulary_size, np.float32)
    return bool(np.isfinite(rules.apply(row)[decoder.encode(text)[0]]))


def _write(rules: Rules | DraftRules, decoder: LlamaCppDecoder, text: str) -> None:
    for token in decoder.encode(text):
        rules.accept((token,))


def test_without_reasoning_the_format_counts_from_the_first_token(decoder: LlamaCppDecoder) -> None:
    rules = _rules(decoder)
    assert _may(rules, decoder, "{")
    assert not _may(rules, decoder, "Sure")
    end = next(t for t in range(decoder.facts.vocabulary_size) if decoder.is_end(t))
    row = np.zeros(decoder.facts.vocabulary_size, np.float32)
    assert np.isinf(rules.apply(row)[end])
    _write(rules, decoder, '{"n": 1}')
    assert np.isfinite(rules.apply(row)[end])
    assert not _may(rules, decoder, "Sure")


def test_what_is_thought_is_free_and_the_answer_is_not(decoder: LlamaCppDecoder) -> None:
    rules = _rules(decoder, prompt="<think>\n")
    assert _may(rules, decoder, "Sure")
    _write(rules, decoder, "Let me see: 1 + 1.\n")
    assert _may(rules, decoder, "Sure")
    _write(rules, decoder, "</think>")
    assert not _may(rules, decoder, "Sure")
    # blanks may stand between the two
    _write(rules, decoder, "\n\n")
    assert not _may(rules, decoder, "Sure")
    _write(rules, decoder, '{"n": 2}')
    assert not _may(rules, decoder, "{")


def test_a_model_may_still_begin_to_think(decoder: LlamaCppDecoder) -> None:
    """Its marks are tokens here: two rare words stand for them."""
    opens, closes = decoder.encode("zebra")[0], decoder.encode(" quartz")[0]
    marks = {opens: "<think>", closes: "</think>"}
    rules = _rules(decoder, marks=marks)
    row = np.zeros(decoder.facts.vocabulary_size, np.float32)
    assert np.isfinite(rules.apply(row)[opens])
    assert not _may(rules, decoder, "Sure")
    rules.accept((opens,))
    assert _may(rules, decoder, "Sure")
    _write(rules, decoder, "Hm.")
    rules.accept((closes,))
    assert not _may(rules, decoder, "Sure")
    _write(rules, decoder, '{"n":')
    # in the middle of the answer nobody begins to think
    assert np.isinf(rules.apply(row)[opens])


def test_headers_say_where_the_answer_begins(decoder: LlamaCppDecoder) -> None:
    words = ["zebra", " quartz", " walrus", " violin"]
    channel, message, end, start = (decoder.encode(word)[0] for word in words)
    marks = {
        channel: "<|channel|>", message: "<|message|>", end: "<|end|>", start: "<|start|>",
    }  # fmt: skip
    rules = _rules(decoder, HARMONY, marks, prompt="<|start|>assistant")
    rules.accept((channel,))
    _write(rules, decoder, "analysis")
    rules.accept((message,))
    assert _may(rules, decoder, "Sure")
    _write(rules, decoder, "We need a number.")
    rules.accept((end, start))
    _write(rules, decoder, "assistant")
    rules.accept((channel,))
    _write(rules, decoder, "final")
    assert _may(rules, decoder, "Sure")
    rules.accept((message,))
    assert not _may(rules, decoder, "Sure")
    assert _may(rules, decoder, "{")


def test_a_draft_looks_ahead_and_goes_back(decoder: LlamaCppDecoder) -> None:
    rules = _rules(decoder)
    size = decoder.facts.vocabulary_size
    # the draft's ids are the target's in another order
    names = list(range(size))[::-1]
    draft = DraftRules(rules, names)
    brace, sure = decoder.encode("{")[0], decoder.encode("Sure")[0]
    row = np.zeros(size, np.float32)
    assert np.isfinite(draft.apply(row)[names[brace]])
    assert np.isinf(draft.apply(row)[names[sure]])
    _write(rules, decoder, '{"n"')
    draft.mark()
    for token in decoder.encode(": 1}"):
        draft.accept((names[token],))
    assert np.isinf(draft.apply(row)[names[brace]])
    end = next(t for t in range(size) if decoder.is_end(t))
    assert np.isfinite(draft.apply(row)[names[end]])
    draft.rewind()
    assert np.isinf(rules.apply(row)[end])
    assert _may(rules, decoder, ":")
    # what was written before is scored as it was
    draft.off = True
    assert draft.apply(row) is row
