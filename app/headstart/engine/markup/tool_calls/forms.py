"""The forms in which families write calls: one table. Pure.

A form is chosen by signs in the chat template, and proved by rendering calls (`detect`).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from headstart.engine.markup.tool_calls.readers import (
    BodyCalls,
    JsonCalls,
    JsonOr,
    NamedCalls,
    Reader,
)
from headstart.engine.markup.tool_calls.tagged import TaggedCalls, TagsOr
from headstart.engine.markup.tool_calls.written import GemmaCalls, PythonCalls


class CallForm(Struct, frozen=True):
    """`opens`: the marks behind which a call, or a section of calls, begins; `inside` and `closes`
    are further marks that may be tokens of their own. Templates of the family contain all of
    `signs`."""

    name: str
    opens: tuple[str, ...]
    reader: Reader
    signs: tuple[str, ...]
    inside: tuple[str, ...] = ()
    # several calls in one reply
    several: bool = True
    # the mark is part of the call, and counts only where the answer begins
    bare: bool = False
    # a header before the arguments has the name
    header: bool = False

    def fits(self, template: str) -> bool:
        return all(sign in template for sign in self.signs)

    @property
    def marks(self) -> tuple[str, ...]:
        """All marks inside calls: a vocabulary may have any of them as a token."""
        return tuple(dict.fromkeys((*self.inside, *_marks_of(self.reader))))


def _marks_of(reader: object) -> Iterator[str]:
    for value in msgspec.structs.astuple(reader) if isinstance(reader, Struct) else ():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Struct):
                yield from _marks_of(one)
            elif isinstance(one, str) and len(one) > 2:
                yield one


_FUNCTION_TAGS = TaggedCalls(
    begins="<function=", name_end=">", key="<parameter=", key_end=">",
    value_end="</parameter>", ends="</function>", closes=("</tool_call>",), lines=True,
)  # fmt: skip
_KEYS = TaggedCalls(
    begins="", name_end="", key="<arg_key>", key_end="</arg_key>", value="<arg_value>",
    value_end="</arg_value>", ends="</tool_call>",
)  # fmt: skip
# JSON in tags, which models without a form of their own are shown as well
GENERIC = CallForm(
    "tool_call",
    ("<tool_call>",),
    JsonOr(JsonCalls("</tool_call>"), TagsOr(_FUNCTION_TAGS, _KEYS)),
    ("<tool_call>",),
    ("</tool_call>",),
)
_MINIMAX_3 = "]<]minimax[>["

FORMS = (
    # gpt-oss
    CallForm(
        "harmony", (), BodyCalls(programs=True), ("<|channel|>", "<|message|>"),
        several=False, header=True,
    ),
    # Muse Glimmer
    CallForm(
        "recipients", (),
        TaggedCalls(
            begins="<atem:invoke name=", name_end=">", key="<atem:parameter name=", key_end=">",
            value_end="</atem:parameter>", ends="</atem:invoke>",
            closes=("</atem:function_calls>",), leads="<atem:function_calls>",
        ),
        ("<|start|>", "<|message|>", "<|eom|>"), header=True,
    ),
    # Kimi K3
    CallForm(
        "sections", (),
        TaggedCalls(
            begins="", name_end="", key="<|open|>argument", key_end="<|sep|>",
            value_end="<|close|>argument<|sep|>", ends="<|close|>call<|sep|>",
        ),
        ("<|open|>", "<|close|>", "<|sep|>"), ("<|open|>", "<|close|>", "<|sep|>"), header=True,
    ),
    # Functionary 3.2
    CallForm("addressee", (), BodyCalls(), (">>>all",), header=True),
    CallForm(
        "function_call", ("<|function_call|>",), JsonCalls(),
        ("<|function_call|>",), several=False,
    ),
    # GigaChat 3
    CallForm(
        "role", (), JsonCalls(), ("function call", "<|role_sep|>"), several=False, header=True,
    ),
    CallForm(
        "kimi", ("<|tool_calls_section_begin|>",),
        NamedCalls(
            begins="<|tool_call_begin|>", arguments="<|tool_call_argument_begin|>",
            ends="<|tool_call_end|>", closes="<|tool_calls_section_end|>",
        ),
        ("<|tool_calls_section_begin|>",),
        ("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>",
         "<|tool_calls_section_end|>"),
    ),
    CallForm(
        "deepseek", ("<｜tool▁calls▁begin｜>",),
        NamedCalls(
            begins="<｜tool▁call▁begin｜>", arguments="<｜tool▁sep｜>", ends="<｜tool▁call▁end｜>",
            closes="<｜tool▁calls▁end｜>",
        ),
        ("tool▁calls▁begin",),
        ("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"),
    ),
    # DeepSeek V3.2, V4
    CallForm(
        "dsml", ("<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"),
        TaggedCalls(
            begins="<｜DSML｜invoke name=", name_end=">", key="<｜DSML｜parameter ", key_end=">",
            value_end="</｜DSML｜parameter>", ends="</｜DSML｜invoke>",
            closes=("</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"),
        ),
        ("｜DSML｜",),
    ),
    CallForm(
        "solar", ("<|tool_calls|>",),
        NamedCalls(
            begins="<|tool_call:begin|>", name_mark="<|tool_call:name|>",
            arguments="<|tool_call:args|>", ends="<|tool_call:end|>",
        ),
        ("<|tool_call:begin|>",),
        ("<|tool_call:begin|>", "<|tool_call:name|>", "<|tool_call:args|>", "<|tool_call:end|>"),
    ),
    CallForm(
        "mistral", ("[TOOL_CALLS]",),
        JsonOr(
            JsonCalls(),
            NamedCalls(arguments="[ARGS]", id_mark="[CALL_ID]", repeats="[TOOL_CALLS]"),
        ),
        ("[TOOL_CALLS]",), ("[ARGS]", "[CALL_ID]"),
    ),
    CallForm(
        "minimax-3", (f"{_MINIMAX_3}<tool_call>", "<tool_call>"),
        TaggedCalls(
            begins=f"{_MINIMAX_3}<invoke name=", name_end=">", key=f"{_MINIMAX_3}<", key_end=">",
            value_end=f"{_MINIMAX_3}</KEY>", ends=f"{_MINIMAX_3}</invoke>",
            closes=(f"{_MINIMAX_3}</tool_call>",), nested=True,
        ),
        (_MINIMAX_3,), (_MINIMAX_3, "</tool_call>"),
    ),
    CallForm(
        "minimax", ("<minimax:tool_call>",),
        TaggedCalls(
            begins="<invoke name=", name_end=">", key="<parameter name=", key_end=">",
            value_end="</parameter>", ends="</invoke>", closes=("</minimax:tool_call>",),
        ),
        ("minimax:tool_call",), ("</minimax:tool_call>",),
    ),
    CallForm(
        "seed", ("<seed:tool_call>",),
        TaggedCalls(
            begins="<function=", name_end=">", key="<parameter=", key_end=">",
            value_end="</parameter>", ends="</function>", closes=("</seed:tool_call>",),
        ),
        ("seed:tool_call",), ("</seed:tool_call>",),
    ),
    CallForm(
        "hunyuan", ("<tool_calls:opensource>",),
        TaggedCalls(
            begins="<tool_call:opensource>", name_end="<tool_sep:opensource>",
            key="<arg_key:opensource>", key_end="</arg_key:opensource>",
            value="<arg_value:opensource>", value_end="</arg_value:opensource>",
            ends="</tool_call:opensource>", closes=("</tool_calls:opensource>",),
        ),
        ("tool_calls", ":opensource"),
    ),
    CallForm("gemma", ("<|tool_call>",), GemmaCalls("<tool_call|>"), ("<|tool_call>", "call:"),
             ("<tool_call|>", '<|"|>')),
    CallForm(
        "python", ("<|tool_call_start|>",), PythonCalls("<|tool_call_end|>"),
        ("<|tool_call_start|>",), ("<|tool_call_end|>",),
    ),
    CallForm(
        "action", ("<|START_ACTION|>",), JsonCalls("<|END_ACTION|>"), ("<|START_ACTION|>",),
        ("<|END_ACTION|>",),
    ),
    CallForm(
        "command", ("Action:",), JsonCalls("```", leads="```json"),
        ("Action:", "```json", '"tool_name"'),
    ),
    CallForm(
        "prefix", ("<|tools_prefix|>",), JsonCalls("<|tools_suffix|>", keyed=True),
        ("<|tools_prefix|>",), ("<|tools_suffix|>",),
    ),
    CallForm(
        "toolcall", ("<TOOLCALL>",), JsonCalls("</TOOLCALL>"),
        ("<TOOLCALL>",), ("</TOOLCALL>",),
    ),
    CallForm(
        "tool_calls", ("<tool_calls>",), JsonCalls("</tool_calls>"),
        ("<tool_calls>",), ("</tool_calls>",),
    ),
    # MiniCPM 5
    CallForm(
        "function name", ("<function name=",),
        TaggedCalls(
            begins="", name_end=">", key="<param name=", key_end=">", value_end="</param>",
            ends="</function>", cdata=True,
        ),
        ("<function name=",), ("</function>",),
    ),
    GENERIC,
    # Granite 3
    CallForm("tool_call token", ("<|tool_call|>",), JsonCalls(), ("<|tool_call|>",)),
    # Functionary 3.1
    CallForm(
        "function", ("<function=",), NamedCalls(arguments=">", ends="</function>"),
        ("<function=",),
    ),
    # Llama 3
    CallForm(
        "bare", ("{",), JsonCalls(), ('"parameters": ', "tool_call"),
        several=False, bare=True,
    ),
)  # fmt: skip


def form_of(template: str) -> CallForm | None:
    """The first form whose signs a template has; None for a template that shows no calls."""
    return next((form for form in FORMS if form.fits(template)), None)
