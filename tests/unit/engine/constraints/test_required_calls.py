"""A reply that has to call a tool does, in every family's form, from its first token on."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence

import jsonschema
import numpy as np
import pytest

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.core.tools import Choosing, ToolChoice, Tools
from headstart.engine.constraints.rules import RuleMaker
from headstart.engine.constraints.tool_rules import ToolRules
from headstart.engine.decoder import Decoder
from headstart.engine.markup.formats import ThoughtsEnd
from headstart.engine.markup.text_stream import TextStream
from tests.models.llama_source import templates
from tests.support.byte_decoder import byte_encoder, reply_tokens
from tests.support.thoughts import CALL, called, thinking
from tests.support.tool_forms import RUN, TOOLS, schema_of, shapes

CHOICES = (ToolChoice(Choosing.REQUIRED), ToolChoice(Choosing.NAMED, RUN.name))
LONGEST = 1_500
# their strings end with a long tag, which a random walk does not find
ENDLESS = {"MiniMax-M3"}
_ENDS = b"\"}]<'\n"


@pytest.mark.parametrize("choice", CHOICES, ids=["required", "named"])
@pytest.mark.parametrize("name", sorted(shapes()))
def test_a_required_call_comes_and_fits(name: str, choice: ToolChoice) -> None:
    encoder = byte_encoder(templates()[name])
    tools = Tools(TOOLS, choice, several=False)
    messages = [PromptMessage(Role.USER, "Run it.", "q")]
    rendered = encoder.render(messages, tools=tools)
    marks = encoder.marks_with(tools)
    maker = RuleMaker(encoder.decoder, marks, encoder.pieces)
    whole = 0
    for seed in range(6):
        stream, own = (
            TextStream((), encoder.form_with(tools), frozenset(marks.values()), tools.schemas)
            for _ in range(2)
        )
        for one in (stream, own):
            one.follow(encoder.end_of(rendered, messages))
        rules = maker.for_tools(tools, encoder.way, own, marks)
        assert rules is not None
        reasoning = reply_tokens(encoder, f"Hm.{encoder.form.turns}")
        _walk(encoder.decoder, rules, stream, marks, reasoning, random.Random(seed))
        if not stream.calls:
            # a string that does not end
            continue
        whole += 1
        called, arguments = stream.calls[0]
        assert called in ([RUN.name] if choice.name else [tool.name for tool in TOOLS])
        jsonschema.validate(json.loads(arguments, strict=False), schema_of(called) or {})
        assert not stream.text.strip()
        assert len(stream.calls) == 1
    assert whole or name in ENDLESS


@pytest.mark.parametrize("name", [*thinking(ThoughtsEnd.MARK), *thinking(ThoughtsEnd.SECTION)])
def test_thoughts_are_free_also_where_they_have_a_call(name: str) -> None:
    """The grammar begins with the call that counts."""
    encoder = byte_encoder(templates()[name])
    tools = Tools(TOOLS)
    marks = encoder.marks_with(tools)
    maker = RuleMaker(encoder.decoder, marks, encoder.pieces)
    stream = TextStream((), encoder.form_with(tools), frozenset(marks.values()), tools.schemas)
    stream.follow("")
    rules = maker.for_tools(tools, encoder.way, stream, marks)
    assert rules is not None
    row = np.zeros(encoder.decoder.facts.vocabulary_size, np.float32)
    form = encoder.form
    for token in reply_tokens(encoder, f"{form.opens}I could {called(name, CALL)} but no."):
        rules.accept((token,))
        assert np.isfinite(rules.apply(row)).all()
    held = False
    for token in reply_tokens(encoder, form.turns + called(name, CALL)):
        rules.accept((token,))
        held = held or not np.isfinite(rules.apply(row)).all()
    assert held


def _walk(
    decoder: Decoder,
    rules: ToolRules,
    stream: TextStream,
    marks: Mapping[int, str],
    reasoning: Sequence[int],
    rng: random.Random,
) -> None:
    """Draw any allowed tokens until the call is whole or the reply ends."""
    size = decoder.facts.vocabulary_size
    for token in reasoning if stream.reasons else ():
        if not np.isfinite(rules.apply(np.zeros(size, np.float32))).all():
            # a header stands in place of reasoning, or the answer has begun
            break
        stream.push(decoder.piece(token), mark=marks.get(token))
        rules.accept((token,))
    for _ in range(LONGEST):
        if stream.calls:
            break
        row = rules.apply(np.zeros(size, np.float32))
        ways = np.flatnonzero(np.isfinite(row)).tolist()
        assert len(ways) < size, "nothing holds it"
        if all(decoder.is_end(one) for one in ways):
            stream.finish()
            break
        ends = [one for one in ways if one < 256 and one in _ENDS]
        plain = [one for one in ways if 32 <= one < 127]
        if ends and rng.random() < 0.3:
            ways = ends
        elif plain and rng.random() < 0.9:
            ways = plain
        token = rng.choice(ways)
        stream.push(decoder.piece(token), mark=marks.get(token))
        rules.accept((token,))
