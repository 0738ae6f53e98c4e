"""Tool calls as families of models write them: the enclosing marks and their content. Pure.

A model may call a tool that was not offered. It is shown as a call, neither as answer nor as
reasoning. A call ends unclosed reasoning, as in vLLM and llama.cpp.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct


class Call(Struct, frozen=True):
    """A tool call. `arguments`: JSON if they are valid, otherwise as written."""

    name: str
    arguments: str


class CallMarks(Struct, frozen=True):
    """The marks around calls; `inside`: marks between them, which may be single tokens. `sign`:
    text in the templates of models that write such calls."""

    opens: str
    closes: str
    read: Callable[[str], Iterator[Call]]
    inside: tuple[str, ...] = ()
    sign: str = ""

    def fits(self, template: str) -> bool:
        return (self.sign or self.opens) in template


def calls_in(raw: str, marks: CallMarks) -> list[Call]:
    """The calls in the text between the marks; none if it is not a call."""
    try:
        return [call for call in marks.read(raw) if call.name]
    except (ValueError, TypeError, AttributeError, RecursionError):
        return []


# no name extends across another mark, so that a reply of nothing but marks is scanned once, not
# once per mark
_FUNCTION = re.compile(r"<function=([^<>\n]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^<>\n]+)>\n?(.*?)\n?(?:</parameter>|\Z)", re.DOTALL)
_KEY_VALUE = re.compile(
    r"<arg_key>((?:(?!<arg_key>).)*?)</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)", re.DOTALL
)
_INVOKE = re.compile(
    r"<(?P<mark>[^\s<>]*)invoke name=\"?(?P<name>[^\"<>]+)\"?>(?P<body>.*?)"
    r"(?:</(?P=mark)invoke>|\Z)",
    re.DOTALL,
)
_NAMED = re.compile(
    r"<[^\s<>]*parameter name=\"?([^\"<>]+)\"?[^<>]*>(.*?)(?:</[^\s<>]*parameter>|\Z)", re.DOTALL
)
_KIMI = re.compile(
    r"<\|tool_call_begin\|>([^<]*)<\|tool_call_argument_begin\|>(.*?)"
    r"(?:<\|tool_call_end\|>|\Z)",
    re.DOTALL,
)
_DEEPSEEK = re.compile(
    r"<｜tool▁call▁begin｜>([^<]*)<｜tool▁sep｜>(.*?)(?:<｜tool▁call▁end｜>|\Z)", re.DOTALL
)
_FENCED = re.compile(r"^(\S+)\s*```(?:json)?\n(.*?)\n?```", re.DOTALL)
_MISTRAL = re.compile(
    r"(?<![\w.\-])([\w.\-]+)(?:\[CALL_ID\][^\[]*)?\[ARGS\](.*?)(?=\[TOOL_CALLS\]|\Z)", re.DOTALL
)
_GEMMA = re.compile(r"call:([\w.\-]+)(\{.*\})", re.DOTALL)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _arguments(pairs: list[tuple[str, str]]) -> str:
    found = {key.strip(): _value(value.strip("\n")) for key, value in pairs}
    return json.dumps(found, ensure_ascii=False)


def _of_object(value: Any) -> Call:
    inner = value.get("function", value)
    inner = inner if isinstance(inner, dict) else value
    arguments = inner.get("arguments", inner.get("parameters", {}))
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    name = inner.get("name", "")
    return Call(name if isinstance(name, str) else "", arguments)


def _tagged(raw: str) -> Iterator[Call]:
    """JSON with a name and arguments, or tags for the function and each parameter."""
    functions = _FUNCTION.findall(raw)
    if functions:
        for name, body in functions:
            yield Call(name.strip(), _arguments(_PARAMETER.findall(body)))
        return
    if "<arg_key>" in raw:
        yield Call(raw.partition("<arg_key>")[0].strip(), _arguments(_KEY_VALUE.findall(raw)))
        return
    decoder, at = json.JSONDecoder(), 0
    text = raw.strip()
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        for one in value if isinstance(value, list) else [value]:
            yield _of_object(one)
        while at < len(text) and text[at] in " \n\r\t,;":
            at += 1


def _invoked(raw: str) -> Iterator[Call]:
    for found in _INVOKE.finditer(raw):
        yield Call(found["name"], _arguments(_NAMED.findall(found["body"])))


def _kimi(raw: str) -> Iterator[Call]:
    for name, arguments in _KIMI.findall(raw):
        yield Call(name.strip().removeprefix("functions.").partition(":")[0], arguments.strip())


def _deepseek(raw: str) -> Iterator[Call]:
    for name, arguments in _DEEPSEEK.findall(raw):
        fenced = _FENCED.match(arguments)
        if fenced is not None:
            # the type comes first, then the name
            yield Call(fenced[1], fenced[2])
        else:
            yield Call(name.strip(), arguments.strip())


def _mistral(raw: str) -> Iterator[Call]:
    found = _MISTRAL.findall(raw)
    if found:
        for name, arguments in found:
            yield Call(name, arguments.strip())
    else:
        yield from _tagged(raw)


def _gemma(raw: str) -> Iterator[Call]:
    found = _GEMMA.search(raw)
    if found is not None:
        # the quotation mark is a special token
        yield Call(found[1], found[2].replace('<|"|>', '"'))


CALLS = (
    CallMarks("<tool_call>", "</tool_call>", _tagged),
    CallMarks("<minimax:tool_call>", "</minimax:tool_call>", _invoked, sign="minimax:tool_call"),
    CallMarks(
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>",
        _kimi,
        ("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"),
    ),
    CallMarks(
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
        _deepseek,
        ("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
        "tool▁calls▁begin",
    ),
    CallMarks("<｜DSML｜function_calls>", "</｜DSML｜function_calls>", _invoked, sign="｜DSML｜"),
    CallMarks("[TOOL_CALLS]", "", _mistral, ("[ARGS]", "[CALL_ID]")),
    CallMarks("<|tool_call>", "<tool_call|>", _gemma, ('<|"|>',)),
)
