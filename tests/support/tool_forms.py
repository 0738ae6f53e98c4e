"""Tools, and the calls of every family's form: written, walked at random, read back."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from headstart.core.tools import ToolSpec
from headstart.engine.markup.tool_calls.feed import CallArguments, CallBegan, CallEnded
from headstart.engine.markup.tool_calls.lark import call_grammar, named_grammar
from headstart.engine.markup.tool_calls.layout import (
    JsonLayout,
    Layout,
    TagLayout,
    behind_header,
    layout_of,
)
from headstart.engine.markup.tool_calls.reader import CallReader
from headstart.engine.markup.tool_way import ToolPrompt
from headstart.engine.template import choose
from headstart.engine.tool_probe import probe
from tests.models.llama_source import templates

READ = ToolSpec(
    "read_file",
    "Read a file.",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "where"},
                # a word of Python's
                "from": {"type": "integer", "description": "line"},
                "to": {"type": ["integer", "null"], "description": "line"},
                "mode": {"type": "string", "enum": ["text", "bytes"], "description": "how"},
            },
            "required": ["path"],
        }
    ),
)
RUN = ToolSpec(
    "run",
    "Run a program.",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "command": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "words",
                },
                "timeout": {"type": "number", "description": "seconds"},
                "background": {"type": "boolean", "description": "or wait"},
                "env": {
                    "type": "object",
                    "properties": {"HOME": {"type": "string"}, "N": {"type": "integer"}},
                    "required": ["HOME"],
                    "description": "variables",
                    "additionalProperties": {"type": "string"},
                },
            },
            "required": ["command", "background"],
        }
    ),
)
TOOLS = (READ, RUN, ToolSpec("now", "The time."))


def schema_of(name: str) -> dict[str, Any] | None:
    return next((tool.parameters for tool in TOOLS if tool.name == name), None)


@functools.cache
def shapes() -> dict[str, tuple[ToolPrompt, Layout, str]]:
    """A template of each layout: its way with tools, the layout, and the opening mark."""
    found: dict[Layout, tuple[str, ToolPrompt, str]] = {}
    for name, text in sorted(templates().items()):
        way = probe(choose(text, "<s>", "</s>", frozenset()))
        if not way.own:
            continue
        opens = () if way.form.bare or way.form.header else way.form.opens
        mark = next((one for one in opens if way.example.startswith(one)), "")
        layout = layout_of(way.example[len(mark) :], way.pair[len(mark) :])
        assert layout is not None, name
        found.setdefault(layout, (name, way, mark))
    return {name: (way, layout, mark) for layout, (name, way, mark) in found.items()}


def grammar_of(way: ToolPrompt, layout: Layout, tool: ToolSpec) -> str:
    """The grammar behind the mark, or behind the header that names `tool`."""

    def pieces(text: str) -> Sequence[str]:
        return (text,)

    if not way.form.header:
        return call_grammar(layout, TOOLS, pieces)
    if isinstance(layout, JsonLayout) and layout.before.rstrip().endswith('"'):
        # the header says only that a call follows
        layout = replace(layout, before=behind_header(layout.before).lstrip())
        return call_grammar(layout, TOOLS, pieces)
    return named_grammar(layout, tool, pieces)


def walks(grammar: str, count: int, seed: int) -> Iterator[str]:
    """Random texts of a grammar, byte by byte, those that came to an end."""
    from llguidance import LLMatcher, LLTokenizer
    from llguidance.numpy import fill_next_token_bitmask

    tokenizer = LLTokenizer("byte")
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(grammar), log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    rng = random.Random(seed)
    bits = np.zeros((1, (tokenizer.vocab_size + 31) // 32), np.int32)
    for _ in range(count):
        one, text = matcher.deep_copy(), bytearray()
        while not one.is_stopped() and len(text) < 1500:
            fill_next_token_bitmask(one, bits, 0)
            flags = np.unpackbits(bits.view(np.uint8)[0], count=256, bitorder="little")
            ways = np.flatnonzero(flags).tolist()
            if not ways or (one.is_accepting() and rng.random() < 0.3):
                break
            # signs that end something, so that walks come to an end
            ends = [sign for sign in b"\"}]<'\n" if sign in ways]
            plain = [sign for sign in ways if 32 <= sign < 127]
            if ends and rng.random() < 0.3:
                ways = ends
            elif plain and rng.random() < 0.9:
                ways = plain
            chosen = rng.choice(ways)
            assert one.try_consume_tokens([chosen]) == 1
            text.append(chosen)
        if one.is_accepting() or one.is_stopped():
            yield text.decode("utf-8", "replace")


def read(way: ToolPrompt, text: str, name: str = "", size: int = 1) -> tuple[list[Any], str]:
    """The calls in a text behind a mark, `size` characters at a time, and what belongs to none."""
    reader = CallReader(way.form.reader, schema_of, name)
    calls: list[Any] = []
    events = [
        event for at in range(0, len(text), size) for event in reader.push(text[at : at + size])
    ]
    for event in (*events, *reader.finish()):
        if isinstance(event, CallBegan):
            calls.append([event.name, "", False])
        elif isinstance(event, CallArguments):
            calls[-1][1] += event.text
        elif isinstance(event, CallEnded):
            calls[-1][2] = True
    return calls, reader.rest


def written(way: ToolPrompt, layout: Layout, mark: str, calls: Sequence[tuple[str, str]]) -> str:
    """Calls as a model of this form writes them, marks and headers included."""
    texts = []
    for name, arguments in calls:
        if isinstance(layout, JsonLayout):
            texts.append((name, layout.middle + arguments))
        else:
            texts.append((name, _tagged(layout, name, json.loads(arguments))))
    if layout.between:
        inner = layout.between.join(name + text for name, text in texts)
        return mark + layout.before + inner + layout.after
    turn = "<|start|>assistant" if way.form.name in ("recipients", "harmony") else ""
    one = [mark + layout.before + name + text + layout.after for name, text in texts]
    return ("<|eom|>" + turn if turn else "\n").join(one)


_KINDS: dict[type, str] = {
    bool: "boolean", int: "number", float: "number", list: "array", dict: "object",
}  # fmt: skip


def _tagged(layout: TagLayout, name: str, arguments: dict[str, Any]) -> str:
    found = []
    for key, value in arguments.items():
        is_text = isinstance(value, str)
        lead = layout.text_value if is_text else layout.other_value
        if '"number"' in lead and not is_text:
            lead = lead.replace("number", _KINDS[type(value)])
        end = layout.value_end.replace("KEY", key)
        found.append(f"{layout.key}{key}{lead}{_value(layout, value)}{end}")
    start = layout.name_end.replace("probe_weather", name)
    return start + layout.separator.join(found)


def _value(layout: TagLayout, value: Any) -> str:
    quote = layout.quote
    if quote == "'":
        return repr(value)
    if quote:
        return _gemma(value, quote)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _gemma(value: Any, quote: str) -> str:
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, list):
        return f"[{','.join(_gemma(one, quote) for one in value)}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key}:{_gemma(one, quote)}' for key, one in value.items())}}}"
    return json.dumps(value)
