"""Finds how a chat template takes tools: made-up calls are rendered and read back. Pure.

Source: llama.cpp's docs/autoparser.md, which finds the form of calls by differences between
renderings; here a table has the forms, and rendering proves the one that its signs suggest.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence

from headstart.core.chats.values import Role
from headstart.core.requests import (
    PromptCall,
    PromptMessage,
    ToolRole,
)
from headstart.core.tools import ToolSpec
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.markup.tool_calls.forms import GENERIC, form_of
from headstart.engine.markup.tool_calls.layout import ARGUMENTS, ID, NAME, OTHER_NAME, behind_header
from headstart.engine.markup.tool_calls.reader import CallReader
from headstart.engine.markup.tool_calls.readers import JsonCalls
from headstart.engine.markup.tool_way import PLAIN_WAY, CallWay, ToolPrompt
from headstart.engine.template import ChatTemplate, TemplateError

_QUESTION, _RESULT = "zq question qz", "zq result qz"
_WEATHER = ToolSpec(
    NAME,
    "The weather of a place.",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "a"},
                "days": {"type": "integer", "description": "b"},
                "ratio": {"type": "number", "description": "c"},
                "detailed": {"type": "boolean", "description": "d"},
                "tags": {"type": "array", "items": {"type": "string"}, "description": "e"},
                "where": {"type": "object", "additionalProperties": True, "description": "f"},
            },
            "required": ["city"],
        }
    ),
)
_HARBOUR = {"harbour": {"type": "string", "description": "a"}}
_TIDE = ToolSpec(
    OTHER_NAME,
    "The tide of a harbour.",
    json.dumps({"type": "object", "properties": _HARBOUR, "required": ["harbour"]}),
)
_TOOLS = (_WEATHER, _TIDE)
_FIRST = PromptCall(f"call_{ID}", NAME, json.dumps(ARGUMENTS))
_SECOND = PromptCall("call_f5G6h7I8j", OTHER_NAME, '{"harbour": "Bergen"}')
_WAYS = (PLAIN_WAY, CallWay(as_text=True), CallWay(as_text=True, null=True))
# one reply each
_PROOFS: tuple[tuple[PromptCall, ...], ...] = (
    (_FIRST,),
    (_SECOND,),
    (PromptCall("call_k9L0m1N2o", NAME, '{"city": "3", "days": 12, "ratio": 0.5}'),),
    (PromptCall("call_p3Q4r5S6t", NAME, '{"city": "a", "detailed": true}'),),
    (
        PromptCall(
            "call_u7V8w9X0y", NAME,
            '{"city": "b", "tags": ["x", "y z"], "where": {"deep": {"n": 1}}}',
        ),
    ),
    (PromptCall("call_z1A2b3C4d", NAME, '{"city": "say \\"hi\\" <b>\\nnow"}'),),
)  # fmt: skip


NO_CALLS = ToolPrompt(
    GENERIC,
    own=False,
    example=(
        f'<tool_call>\n{{"name": "{_FIRST.name}", "arguments": {_FIRST.arguments}}}\n</tool_call>'
    ),
)


@functools.lru_cache(maxsize=4)
def probe(template: ChatTemplate) -> ToolPrompt:
    """Find it; some dozen renderings, without a model."""
    form = form_of(template.source) if template.fallback is None else None
    for way in _WAYS if form is not None else ():
        assert form is not None
        found = ToolPrompt(form, own=True, way=way)
        if all(_proves(template, found, calls) for calls in _PROOFS):
            shown = _rendered(template, found, ())
            lists = shown is not None and all(tool.name in shown for tool in _TOOLS)
            several = form.several and _proves(template, found, (_FIRST, _SECOND))
            one = _example(template, found, (_FIRST,))
            two = _example(template, found, (_FIRST, _SECOND)) if several else ""
            return ToolPrompt(form, True, lists, way, several, one, two)
    return NO_CALLS


def _example(template: ChatTemplate, way: ToolPrompt, calls: Sequence[PromptCall]) -> str:
    """Calls as the model is to write them, from the opening mark, or the beginning of the reply, to
    their end."""
    shown, form = _rendered(template, way, calls) or "", way.form
    shown = shown[: max(0, shown.rfind(f"{_RESULT} 0"))]
    if form.header:
        before = _rendered(template, way, ()) or ""
        if not shown.startswith(before):
            return ""
        at = len(before)
        behind = len(shown) - len(behind_header(shown[shown.find(NAME, at) :]))
        if way.form.reader == JsonCalls():
            # the name stands behind the header
            behind = len(shown) - len(behind_header(shown[at:]))
    else:
        name = shown.rfind(NAME)
        # of marks that end at the same place the longest
        found = [(shown.rfind(one, 0, name), one) for one in form.opens]
        behind, _, at = max((at + len(one), len(one), at) for at, one in found if at >= 0)
        behind = at if form.bare else behind
    if at < 0 or behind < at:
        return ""
    named = NAME if form.header else ""
    reader = CallReader(form.reader, lambda _name: _WEATHER.parameters, named)
    reader.push(shown[behind:])
    reader.finish()
    return shown[at : behind + reader.consumed]


def _rendered(template: ChatTemplate, way: ToolPrompt, calls: Sequence[PromptCall]) -> str | None:
    messages = [PromptMessage(Role.USER, _QUESTION)]
    if calls:
        messages.append(PromptMessage(Role.ASSISTANT, "", calls=tuple(calls)))
        messages += [
            PromptMessage(ToolRole.TOOL, f"{_RESULT} {number}", call_id=call.id, name=call.name)
            for number, call in enumerate(calls)
        ]
    try:
        return template.render(messages, tools=_TOOLS, way=way.way)
    except TemplateError:
        return None


def _proves(template: ChatTemplate, way: ToolPrompt, calls: Sequence[PromptCall]) -> bool:
    """True if the calls that the template shows are read as they were given, results shown."""
    shown = _rendered(template, way, calls)
    if shown is None or f"{_RESULT} {len(calls) - 1}" not in shown:
        return False
    stream = TextStream(
        form=way.format(template.form), tools={tool.name: tool.parameters for tool in _TOOLS}
    )
    before = _rendered(template, way, ()) or ""
    if shown.startswith(before):
        said = shown[len(before) :]
        stream.follow(before[before.rfind(_QUESTION) + len(_QUESTION) :])
    else:
        # a turn that is over differs from one that begins
        said = shown[shown.find(_QUESTION) + len(_QUESTION) :]
    if way.form.bare:
        # as plain text only the beginning of an answer counts
        said = said[max(0, said.rfind("{", 0, said.find(calls[0].name))) :]
    stream.push(said.partition(f"{_RESULT} 0")[0].encode())
    stream.finish()
    return [(name, _value(text)) for name, text in stream.calls] == [
        (call.name, json.loads(call.arguments)) for call in calls
    ]


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
