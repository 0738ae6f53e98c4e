"""Calls that follow the grammar are read, and fit their tool's schema, in every family's form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import jsonschema
import pytest

from headstart.core.tools import ToolSpec
from headstart.engine.constraints.grammar import TokenGrammar
from headstart.engine.markup.tool_calls.lark import call_grammar, named_grammar
from tests.support.tool_forms import RUN, grammar_of, read, schema_of, shapes, walks


@pytest.mark.parametrize("name", sorted(shapes()))
def test_random_walks_are_valid_calls(name: str) -> None:
    _walk(name, 6, 1)


@pytest.mark.proof
@pytest.mark.parametrize("name", sorted(shapes()))
def test_many_random_walks_are_valid_calls(name: str) -> None:
    _walk(name, 500, 2)


def _walk(name: str, count: int, seed: int) -> None:
    way, layout, _ = shapes()[name]
    ended = 0
    for text in walks(grammar_of(way, layout, RUN), count, seed):
        calls, rest = read(way, text, RUN.name if way.form.header else "", size=7)
        assert calls, text
        assert not rest.strip(), text
        for tool, arguments, whole in calls:
            assert whole, text
            jsonschema.validate(json.loads(arguments, strict=False), schema_of(tool) or {})
        ended += 1
    assert ended


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        ({"properties": {}}, ["{}"], ['{"a": 1}']),
        ({"properties": {}, "required": []}, ["{}"], ['{"a": 1}']),
        ({"properties": {}, "additionalProperties": False}, ["{}"], ['{"a": 1}']),
        ({"properties": {}, "additionalProperties": True}, ["{}", '{"a": 1}'], []),
        ({}, ["{}", '{"a": 1}'], []),
    ],
)
def test_a_tool_without_arguments_gets_none(
    schema: dict[str, object], taken: list[str], refused: list[str]
) -> None:
    takes = _takes(ToolSpec("pick", "", json.dumps({"type": "object", **schema})))
    assert [one for one in taken if not takes(one)] == []
    assert [one for one in refused if takes(one)] == []


def test_text_without_a_choice_is_forced() -> None:
    from llguidance import LLTokenizer

    _, layout, _ = shapes()["Bielik-11B-v3.0-Instruct"]
    tool = ToolSpec("pick", "", json.dumps({"type": "object", "properties": {}}))
    tokenizer = LLTokenizer("byte")
    grammar = TokenGrammar(tokenizer, call_grammar(layout, [tool], lambda text: (text,)), (0,))
    begin = b'\n{"na'
    for byte in begin:
        assert grammar.accept(byte)
    forced = bytes(grammar.forced())
    assert forced.startswith(b'me": "pick", "arguments": {')
    # and nothing where there is a choice
    for byte in forced:
        assert grammar.accept(byte)
    assert len(grammar.forced()) < 3


def _takes(tool: ToolSpec) -> Callable[[str], bool]:
    """True for arguments that the grammar of a tool takes."""
    from llguidance import LLMatcher, LLTokenizer

    _, layout, _ = shapes()["Bielik-11B-v3.0-Instruct"]
    text = call_grammar(layout, [tool], lambda text: (text,))
    grammar = LLMatcher.grammar_from_lark(text)

    def takes(arguments: str) -> bool:
        matcher = LLMatcher(LLTokenizer("byte"), grammar, log_level=0)
        whole = f'\n{{"name": "pick", "arguments": {arguments}}}\n</tool_call>'.encode()
        return bool(
            matcher.try_consume_tokens(list(whole)) == len(whole) and matcher.is_accepting()
        )

    return takes


def test_declared_keys_come_in_any_order_and_required_ones_come() -> None:
    tool = ToolSpec(
        "pick", "", json.dumps({
            "type": "object",
            "properties": {key: {"type": "integer"} for key in "abcdefg"},
            "required": ["a", "g"],
        }),
    )  # fmt: skip
    takes = _takes(tool)

    assert takes('{"a": 1, "g": 2}')
    assert takes('{"g": 2, "a": 1}')
    assert takes('{"c": 3, "g": 2, "b": 4, "a": 1, "f": 0}')
    assert not takes('{"a": 1}')
    assert not takes('{"a": 1, "c": 2}')
    assert not takes("{}")
    assert not takes('{"a": 1, "g": 2, "z": 3}')
    assert not takes('{"a": "1", "g": 2}')


def test_a_schema_with_many_keys_stays_small() -> None:
    from llguidance import LLMatcher, LLTokenizer

    _, layout, _ = shapes()["Bielik-11B-v3.0-Instruct"]
    properties = {f"key{number}": {"type": "string"} for number in range(60)}
    schema = {"type": "object", "properties": properties, "required": list(properties)[:30]}
    tools = [ToolSpec(f"tool{number}", "", json.dumps(schema)) for number in range(20)]
    text = call_grammar(layout, tools, lambda text: (text,))
    assert len(text) < 300_000
    matcher = LLMatcher(LLTokenizer("byte"), LLMatcher.grammar_from_lark(text), log_level=0)
    assert not matcher.is_error(), matcher.get_error()


@pytest.mark.parametrize("name", sorted(shapes()))
def test_names_of_a_stranger_are_no_tokens(name: str) -> None:
    way, layout, _ = shapes()[name]
    schema = {"type": "object", "properties": {"~mark~": {"type": "string"}}}
    tool = ToolSpec("~mark~", "", json.dumps(schema))

    def pieces(text: str) -> list[str | int]:
        """`~mark~` is the token 7, as are marks that a name would make of the form's own text."""
        marked = re.sub(r"[<\[/]*~mark~[>\]]*", "\0", text)
        return [7 if one == "\0" else one for one in re.split("(\0)", marked) if one]

    assert 7 in pieces("</~mark~>")
    if way.form.header:
        grammar = named_grammar(layout, tool, pieces)
    else:
        grammar = call_grammar(layout, (tool,), pieces)
    assert "~mark~" in grammar
    assert "<[7]>" not in grammar
