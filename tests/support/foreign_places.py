"""The places in which a stranger's text stands in a prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from headstart.core.chats.values import Role
from headstart.core.requests import PromptCall, PromptMessage, ToolRole
from headstart.core.tools import NO_TOOLS, Tools, ToolSpec
from headstart.engine.prompt import PromptEncoder
from headstart.engine.template import TemplateError


class Asked(NamedTuple):
    messages: list[PromptMessage]
    tools: Tools = NO_TOOLS


def _talk(
    system: str = "Be brief.",
    question: str = "One?",
    answer: str = "Two.",
    reasoning: str = "",
    more: str = "Three?",
) -> list[PromptMessage]:
    return [
        PromptMessage(Role.SYSTEM, system),
        PromptMessage(Role.USER, question, "q1"),
        PromptMessage(Role.ASSISTANT, answer, "a1", reasoning),
        PromptMessage(Role.USER, more, "q2"),
    ]


def _tool(
    name: str = "look", about: str = "Looks.", schema: dict[str, Any] | None = None
) -> ToolSpec:
    found = schema or {"properties": {"place": {"type": "string", "description": "where"}}}
    return ToolSpec(name, about, json.dumps({"type": "object", **found}))


def _offered(*tools: ToolSpec) -> Asked:
    return Asked(_talk(), Tools(tools))


def _property(name: str = "place", **more: Any) -> Asked:
    part = {"type": "string", "description": "where", **more}
    return _offered(_tool(schema={"properties": {name: part}, "required": [name]}))


def _called(
    name: str = "look",
    arguments: str = '{"place": "here"}',
    result: str = "A wall.",
    answer: str = "",
) -> Asked:
    call = PromptCall("call_aB3dE4fG5", name, arguments)
    messages = [
        PromptMessage(Role.USER, "Look!", "q1"),
        PromptMessage(Role.ASSISTANT, answer, "a1", calls=(call,)),
        PromptMessage(ToolRole.TOOL, result, "a1", call_id=call.id, name=name),
    ]
    return Asked(messages, Tools((_tool(name),)))


def _escaped(text: str) -> str:
    return json.dumps("".join(text)).replace("<", "\\u003c").replace("[", "\\u005b")


PLACES: dict[str, Callable[[str], Asked]] = {
    "system": lambda text: Asked(_talk(system=text)),
    "question": lambda text: Asked(_talk(question=text)),
    "reply": lambda text: Asked(_talk(answer=f"{text}.")),
    "reasoning": lambda text: Asked(_talk(reasoning=text)),
    "last question": lambda text: Asked(_talk(more=text)),
    "tool's name": lambda text: _offered(_tool(name=text)),
    "tool's description": lambda text: _offered(_tool(about=text)),
    "second tool": lambda text: _offered(_tool(), _tool(name="other", about=text)),
    "property's name": lambda text: _property(name=text),
    "property's description": lambda text: _property(description=text),
    "property's title": lambda text: _property(title=text),
    "property's default": lambda text: _property(default=text),
    "property's type": lambda text: _property(type=text),
    "choice": lambda text: _property(enum=["here", text]),
    "unknown key": lambda text: _property(**{f"x{text}": text}),
    "schema's description": lambda text: _offered(
        _tool(schema={"description": text, "title": text, "properties": {}})
    ),
    "nested property": lambda text: _offered(
        _tool(
            schema={
                "properties": {
                    "box": {
                        "type": "object",
                        "description": text,
                        "properties": {
                            text: {
                                "type": "array",
                                "items": {"type": "string", "enum": [text], "description": text},
                            }
                        },
                        "required": [text],
                    }
                }
            }
        )
    ),
    "definition": lambda text: _offered(
        _tool(
            schema={
                "properties": {"place": {"$ref": f"#/$defs/{text}"}},
                "$defs": {text: {"type": "string", "description": text}},
            }
        )
    ),
    "called name": lambda text: _called(name=text),
    "argument": lambda text: _called(arguments=json.dumps({"place": text})),
    "argument's name": lambda text: _called(arguments=json.dumps({text: "here"})),
    "argument with escapes": lambda text: _called(arguments=f'{{"place": {_escaped(text)}}}'),
    "name with escapes": lambda text: _called(arguments=f"{{{_escaped(text)}: 1}}"),
    "nested argument": lambda text: _called(arguments=json.dumps({"box": [{text: [text]}]})),
    "broken arguments": lambda text: _called(arguments=f"{{{text}"),
    "result": lambda text: _called(result=text),
    "text of a call": lambda text: _called(answer=text),
}
# two neighbours: a mark begins in the first and ends in the second
PAIRS: dict[str, Callable[[str, str], Asked]] = {
    "name and description": lambda one, two: _offered(_tool(name=one, about=two)),
    "property and description": lambda one, two: _property(name=one, description=two),
    "description and name": lambda one, two: _offered(_tool(about=one), _tool(name=two)),
    "name and arguments": lambda one, two: _called(name=one, arguments=json.dumps({two: 1})),
    "argument and value": lambda one, two: _called(arguments=json.dumps({one: two})),
    "broken arguments": lambda one, two: _called(name=one, arguments=two),
    "two choices": lambda one, two: _property(enum=[one, two]),
    "system and question": lambda one, two: Asked(_talk(system=one, question=two)),
    "reasoning and reply": lambda one, two: Asked(_talk(reasoning=one, answer=two)),
    "text and call": lambda one, two: _called(answer=one, name=two),
    "result and text": lambda one, two: _called(result=one, answer=two),
}


def control_tokens(encoder: PromptEncoder, asked: Asked) -> list[int] | None:
    """The control tokens of a prompt, in their order; None for one that no template takes."""
    try:
        rendered = encoder.render(asked.messages, tools=asked.tools)
    except TemplateError:
        return None
    return [token for token in encoder.encode(rendered) if token in encoder.control]


def cuts(mark: str) -> Iterator[tuple[str, str]]:
    """A mark in two, at each place."""
    return ((mark[:at], mark[at:]) for at in range(1, len(mark)))
