"""Schemas of strangers are counted before anything is made of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headstart.core import schema_bounds as bounds
from headstart.core.schema_bounds import (
    Excess,
    GrammarCosts,
    excess_in,
    excess_in_all,
    excess_of,
)
from headstart.core.text.json_sample import sample
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.lists import ServerLists, ToolDefinition
from headstart.core.tool_servers.offer import offer_of
from headstart.engine.markup.tool_calls.values import types_in
from tests.support.hostile_schemas import DEAR, TOO_LARGE, deep, wide
from tests.support.tool_forms import TOOLS

OVER = {
    "levels": Excess.LEVELS,
    "lists": Excess.LEVELS,
    "keys": Excess.VALUES,
    "required": Excess.VALUES,
    "choices": Excess.VALUES,
    "words": Excess.CHARACTERS,
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_schema_over_a_bound_says_which(name: str) -> None:
    assert excess_of(TOO_LARGE[name]) is OVER[name]
    assert excess_in(json.dumps(TOO_LARGE[name])) is OVER[name]


@pytest.mark.parametrize("name", DEAR)
def test_a_schema_within_the_bounds_is_taken(name: str) -> None:
    assert excess_of(DEAR[name]) is None
    assert excess_in(json.dumps(DEAR[name])) is None


def test_the_bounds_are_exact() -> None:
    list_of: Any = 1
    for levels in range(1, bounds.MOST_LEVELS + 2):
        assert excess_of(list_of) is (None if levels <= bounds.MOST_LEVELS else Excess.LEVELS)
        list_of = [list_of]
    assert excess_of([0] * bounds.MOST_VALUES) is None
    assert excess_of([0] * (bounds.MOST_VALUES + 1)) is Excess.VALUES
    assert excess_of(["a" * bounds.MOST_CHARACTERS]) is None
    assert excess_of({"a" * bounds.MOST_CHARACTERS: "b"}) is Excess.CHARACTERS
    assert Excess.VALUES.words() == "more than 10,000 values"


def test_no_text_is_too_deep_to_be_counted() -> None:
    assert excess_in("[" * 200_000) in (Excess.LEVELS, None)
    assert excess_in("[" * 90_000 + "]" * 90_000) is Excess.LEVELS
    assert excess_in("no JSON") is None
    assert excess_in(" " * 1_000_000) is Excess.CHARACTERS


def test_tools_are_counted_together() -> None:
    texts = [json.dumps({"enum": [0] * 9_000})] * bounds.MOST_IN_ALL
    assert excess_in_all(texts) is None
    assert excess_in_all(texts * 2) is Excess.VALUES
    assert excess_in_all(["x" * bounds.MOST_CHARACTERS] * 11) is Excess.CHARACTERS
    assert excess_in_all([tool.schema for tool in TOOLS]) is None


def test_what_makes_a_grammar_slow_is_counted_over_all_schemas() -> None:
    costs = GrammarCosts()
    assert costs.excess({"properties": {"a": {"multipleOf": 0.01}, "b": {"multipleOf": 5}}}) == ""
    assert costs.excess({"multipleOf": 15_000}) == ""
    assert costs.excess({"multipleOf": 15_000}) == ""
    assert "multiples" in costs.excess({"multipleOf": 12_345})
    assert "1,000 keys" in GrammarCosts().excess(wide(1_001))
    assert GrammarCosts().excess(wide(1_000)) == ""


@pytest.mark.parametrize("name", DEAR)
def test_types_and_samples_do_not_follow_each_reference(name: str) -> None:
    """Each of these has more paths than anybody could walk."""
    schema = DEAR[name]
    for part in schema["properties"].values():
        assert types_in(part, schema) <= {"string", "object", "array", "integer"}
    assert len(sample(schema)) < 100_000


def test_types_of_parts_that_refer_to_each_other() -> None:
    schema = {"$defs": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/b"}]}}}
    schema["$defs"]["b"] = {"oneOf": [{"$ref": "#/$defs/a"}, {"enum": [1, None]}]}  # type: ignore[dict-item]
    assert types_in({"$ref": "#/$defs/a"}, schema) == {"string", "integer", "null"}


def test_a_tool_with_too_large_a_schema_is_not_offered() -> None:
    """Also from a list that was kept before there were bounds."""
    tools = [ToolDefinition("good"), ToolDefinition("deep", schema=json.dumps(deep(300)))]
    server = ToolServer(id="s", name="s", prefix="s")
    (offered,) = offer_of(server, ServerLists(tuple(tools)), ("s",))
    assert offered.tool == "good"
