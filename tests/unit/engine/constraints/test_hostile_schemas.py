"""Schemas that are made to take time have no grammar, or one that is soon there."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from headstart.chat.answer_formats import check
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.core.tools import Choosing, ToolChoice, Tools, ToolSpec
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.constraints.grammar import Tokenizers
from headstart.engine.constraints.tool_rules import CallGrammars
from tests.support.hostile_schemas import DEAR, TOO_LARGE, deep, wide
from tests.support.tool_forms import READ, shapes

# that no grammar is made of
REFUSED = ("keys", "multiples", "number")


@pytest.fixture(scope="module")
def tokenizers(starter: ModelRef) -> Iterator[Tokenizers]:
    decoder = LlamaCppDecoder(starter.path, EngineSettings(context_length=512))
    yield Tokenizers(decoder)
    decoder.close()


@pytest.mark.parametrize("name", DEAR)
def test_grammars_of_calls_are_made_or_left_out(tokenizers: Tokenizers, name: str) -> None:
    spec = ToolSpec("look", "", json.dumps(DEAR[name]))
    choice = ToolChoice(Choosing.REQUIRED)
    for shape in ("deepseek-ai-DeepSeek-V3.1", "google-gemma-4-31B-it", "GLM-4.6", "MiniMax-M3"):
        way = shapes()[shape][0]
        grammars = CallGrammars(way, Tools((spec, READ), choice), tokenizers, lambda text: (text,))
        grammars.whole()
        other = CallGrammars(way, Tools((READ,), choice), tokenizers, lambda text: (text,))
        assert other.whole() is not None


def test_a_grammar_of_a_thousand_tools_is_left_out(tokenizers: Tokenizers) -> None:
    way = shapes()["deepseek-ai-DeepSeek-V3.1"][0]
    specs = tuple(
        ToolSpec(f"look_{number}", "", json.dumps(wide(100 + number))) for number in range(1_000)
    )
    tools = Tools(specs, ToolChoice(Choosing.REQUIRED))
    assert CallGrammars(way, tools, tokenizers, lambda text: (text,)).whole() is None


@pytest.mark.parametrize("name", TOO_LARGE)
async def test_too_large_a_format_says_so(name: str) -> None:
    found = await check(json.dumps(TOO_LARGE[name]))
    assert found.problem is not None
    assert found.problem.code == "format-too-large"
    assert "10,000" in found.problem.message


@pytest.mark.parametrize("name", DEAR)
async def test_a_dear_format_is_taken_or_refused_in_words(name: str) -> None:
    found = await check(json.dumps(DEAR[name]))
    codes = [] if found.problem is None else [found.problem.code]
    assert codes == (["format-not-possible"] if name in REFUSED else [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[" * 150_000, "format-too-large"),
        ('{"minimum": ' + "9" * 5_000 + "}", "format-is-no-json"),
        ('{"minimum": NaN}', "format-is-no-json"),
        ('{"minimum": 1e999}', "format-not-possible"),
        ('{"type": "integer", "minimum": ' + "9" * 400 + "}", "format-not-possible"),
    ],
)
async def test_numbers_and_levels_that_no_library_takes(text: str, code: str) -> None:
    found = await check(text)
    assert found.problem is not None
    assert found.problem.code == code


async def test_a_format_of_as_many_levels_as_are_allowed() -> None:
    found = await check(json.dumps(deep(33)))
    assert found.problem is None
