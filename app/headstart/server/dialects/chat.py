"""OpenAI's chat completions. Pure: a body in, a request out; events in, bytes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from headstart.core.chats.values import Role
from headstart.core.events import TextPiece
from headstart.core.requests import PromptCall, PromptMessage, ToolRole
from headstart.core.serving.request import ServedRequest
from headstart.core.serving.turns import begun, in_turns
from headstart.core.settings.schema import SamplingChoice, Thinking
from headstart.core.tools import Tools, ToolSpec
from headstart.server.dialects import fields
from headstart.server.dialects.declined import Declined
from headstart.server.dialects.reply import Answered, Ended, Piece, ReplyItems, WrittenCall
from headstart.server.dialects.wire import DONE, comment, event, openai_error

_KNOWN = fields.names(
    "model messages tools tool_choice parallel_tool_calls stream stream_options temperature "
    "top_p top_k min_p presence_penalty repeat_penalty seed stop max_tokens "
    "max_completion_tokens n_predict response_format reasoning_effort n logprobs top_logprobs "
    "frequency_penalty logit_bias "
    "modalities audio prompt_cache_key functions function_call chat_template_kwargs user "
    "store metadata"
)
# the last is llama.cpp's name
_LONGEST = ["max_completion_tokens", "max_tokens", "n_predict"]
_ROLES: dict[str, Role | ToolRole] = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": ToolRole.TOOL,
    "function": ToolRole.TOOL,
}


def read(body: fields.Body, session: str = "") -> ServedRequest:
    """The request in a body; raises Declined. `session`: its name in a header."""
    fields.refuse_several(body)
    given = [
        _message(one, number) for number, one in enumerate(fields.messages_of(body, "messages"))
    ]
    messages, so_far = begun(in_turns(given))
    options = body.get("stream_options")
    return ServedRequest(
        messages=messages,
        model=fields.text_field(body, "model"),
        tools=_tools(body),
        sampling=_sampling(body),
        thinking=_thinking(body),
        streams=body.get("stream") is True,
        session=session or fields.text_field(body, "prompt_cache_key"),
        so_far=so_far,
        with_usage=isinstance(options, Mapping) and bool(options.get("include_usage")),
        ignored=fields.unknown(body, _KNOWN),
    )


def _message(one: fields.Body, number: int) -> PromptMessage:
    role = _ROLES.get(str(one.get("role")))
    if role is None:
        raise Declined(f"'{one.get('role')}' is no role of a message.", param="messages")
    found = fields.content(one.get("content"))
    if role is ToolRole.TOOL:
        name = fields.text_field(one, "name")
        called = fields.text_field(one, "tool_call_id") or name or f"call-{number}"
        return PromptMessage(role, found.text, images=found.images, call_id=called, name=name)
    if role is not Role.ASSISTANT:
        return PromptMessage(role, found.text, images=found.images)
    text = found.text or fields.text_field(one, "refusal")
    reasoning = fields.text_field(one, "reasoning_content") or fields.text_field(one, "reasoning")
    return PromptMessage(role, text, reasoning=reasoning, calls=_calls(one, number))


def _calls(one: fields.Body, number: int) -> tuple[PromptCall, ...]:
    found = []
    for index, call in enumerate(fields.list_field(one, "tool_calls")):
        if not isinstance(call, Mapping):
            raise Declined("A tool call is an object.", param="messages")
        function = call.get("function") or call.get("custom") or {}
        if not isinstance(function, Mapping):
            raise Declined("The 'function' of a tool call is an object.", param="messages")
        given = function.get("arguments", function.get("input"))
        found.append(
            PromptCall(
                fields.text_field(call, "id") or f"call-{number}-{index}",
                fields.text_field(function, "name"),
                fields.arguments(given),
            )
        )
    old = one.get("function_call")
    if not found and isinstance(old, Mapping):
        name = fields.text_field(old, "name")
        found.append(PromptCall(name, name, fields.arguments(old.get("arguments"))))
    return tuple(found)


def _tools(body: fields.Body) -> Tools:
    specs: list[ToolSpec] = []
    for tool in fields.list_field(body, "tools"):
        if not isinstance(tool, Mapping):
            raise Declined("A tool is an object.", param="tools")
        function = tool.get("function")
        if isinstance(function, Mapping):
            specs.append(fields.tool_of(function))
        elif tool.get("type") in ("function", None) and tool.get("name"):
            # the shape of the other dialect
            specs.append(fields.tool_of(tool))
    old_tools = fields.list_field(body, "functions")
    specs += [fields.tool_of(one) for one in old_tools if isinstance(one, Mapping)]
    wanted = body.get("tool_choice")
    if wanted is None and body.get("function_call") is not None:
        old = body["function_call"]
        wanted = {"type": "function", "function": old} if isinstance(old, Mapping) else old
    choice = fields.checked_choice(fields.choice_of(wanted), specs)
    return Tools(tuple(specs), choice, body.get("parallel_tool_calls") is not False)


def _sampling(body: fields.Body) -> SamplingChoice:
    choice = fields.sampling(body, _LONGEST, ["stop"])
    schema = fields.output_schema(body.get("response_format"))
    return choice if schema is None else replace(choice, schema=schema)


def _thinking(body: fields.Body) -> Thinking | None:
    own = body.get("chat_template_kwargs")
    if isinstance(own, Mapping) and isinstance(own.get("enable_thinking"), bool):
        return "on" if own["enable_thinking"] else "off"
    return fields.effort(body.get("reasoning_effort"))


class ChatWriter:
    """Writes one answer."""

    def __init__(self, answered: Answered) -> None:
        self._of = answered
        self._reply = ReplyItems(answered.id)

    def begin(self, prompt_tokens: int, reused: int) -> bytes:  # noqa: ARG002
        return self._chunk({"role": "assistant", "content": ""})

    def alive(self, done: int, total: int) -> bytes:
        return comment(f"{done} of {total} tokens" if total else "waiting")

    def take(self, pieces: Iterable[TextPiece]) -> bytes:
        return b"".join(self._delta(piece) for piece in self._reply.take(pieces))

    def end(self, ended: Ended) -> bytes:
        more = {"timings": ended.timings, "headstart": ended.own}
        found = self._chunk({}, _finish(ended, self._reply.asks), more)
        if self._of.request.with_usage:
            last = {**self._head("chat.completion.chunk"), "choices": [], "usage": _usage(ended)}
            found += event(last)
        return found + DONE

    def fail(self, declined: Declined) -> bytes:
        return event(openai_error(declined)) + DONE

    def whole(self, pieces: Iterable[TextPiece], ended: Ended) -> dict[str, Any]:
        self._reply.take(pieces)
        calls = self._reply.calls
        message: dict[str, Any] = {
            "role": "assistant",
            "content": self._reply.text if self._reply.text or not calls else None,
            "refusal": None,
        }
        if self._reply.reasoning:
            message["reasoning_content"] = self._reply.reasoning
        if calls:
            message["tool_calls"] = [_call(call) for call in calls]
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": _finish(ended, self._reply.asks),
        }
        return {
            **self._head("chat.completion"),
            "choices": [choice],
            "usage": _usage(ended),
            "timings": ended.timings,
            "headstart": ended.own,
        }

    def _delta(self, piece: Piece) -> bytes:
        if piece.call is None:
            name = "reasoning_content" if piece.kind == "reasoning" else "content"
            return self._chunk({name: piece.text})
        first = {"index": piece.index, **_call(piece.call)}
        first["function"] = {"name": piece.call.name, "arguments": ""}
        more = {"index": piece.index, "function": {"arguments": piece.call.arguments}}
        return self._chunk({"tool_calls": [first]}) + self._chunk({"tool_calls": [more]})

    def _chunk(
        self, delta: dict[str, Any], finish: str | None = None, more: Mapping[str, Any] = {}
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**self._head("chat.completion.chunk"), "choices": [choice], **more})

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._of.id}",
            "object": kind,
            "created": self._of.created,
            "model": self._of.model,
        }


def _call(call: WrittenCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _finish(ended: Ended, calls: bool) -> str:
    if ended.cut:
        return "length"
    return "tool_calls" if calls else "stop"


def _usage(ended: Ended) -> dict[str, Any]:
    stats = ended.stats
    return {
        "prompt_tokens": stats.prompt_tokens,
        "completion_tokens": stats.generated_tokens,
        "total_tokens": stats.prompt_tokens + stats.generated_tokens,
        "prompt_tokens_details": {"cached_tokens": stats.reused_tokens},
        "completion_tokens_details": {"reasoning_tokens": ended.reasoning_tokens},
    }
