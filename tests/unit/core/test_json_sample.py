"""Samples of answers: what fits a schema, as the grammar that answers are held to says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.core.text.json_sample import sample
from headstart.engine.constraints.answer_format import check_schema, fits

TREE = {
    "$defs": {
        "T": {
            "type": "object",
            "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
            "required": ["kids"],
        }
    },
    "$ref": "#/$defs/T",
}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "string", "format": "date-time"},
        {"type": "string", "minLength": 30, "maxLength": 40},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "integer", "multipleOf": 7, "minimum": 100},
        {"type": "integer", "maximum": -5},
        {"type": ["null", "boolean"]},
        {"enum": ["b", 1]},
        {"const": {"a": 1}},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"allOf": [{"properties": {"a": {"type": "boolean"}}, "required": ["a"]}]},
        {"type": "object", "required": ["z"], "additionalProperties": {"type": "integer"}},
        TREE,
    ],
)
def test_a_sample_fits_its_schema(schema: dict[str, Any]) -> None:
    text = json.dumps(schema)
    check_schema(text)
    assert fits(text, sample(schema)), sample(schema)


_LEAVES = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4) | _LEAVES,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["type", "properties", "items", "required", "enum", "anyOf", "allOf", "$ref", "minimum",
             "maximum", "minItems", "maxItems", "minLength", "prefixItems", "const", "a"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["type", "properties", "items", "anyOf", "$ref"]), _ANY))
@settings(max_examples=300)
def test_any_json_gives_a_sample(schema: dict[str, Any]) -> None:
    json.loads(sample(schema))
