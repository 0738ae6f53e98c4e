"""Anthropic's messages, and the counting of their tokens. Pure: a body in, a request out; events
in, bytes out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from headstart.core.chats.values import FinishReason, Role
from headstart.core.events import TextPiece
from headstart.core.requests import PromptCall, PromptImage, PromptMessage, ToolRole
from headstart.core.serving.request import ServedRequest
from headstart.core.serving.turns import begun, in_turns
from headstart.core.settings.schema import SamplingChoice, Thinking
from headstart.core.tools import Tools, ToolSpec
from headstart.server.dialects import fields
from headstart.server.dialects.declined import Declined
from headstart.server.dialects.reply import Answered, Ended, Piece, ReplyItems, WrittenCall
from headstart.server.dialects.wire import anthropic_error, event

_KNOWN = fields.names(
    "model messages system tools tool_choice stream max_tokens temperature top_p top_k "
    "stop_sequences thinking metadata output_config output_format context_management betas "
    "service_tier"
)
# a line for Anthropic's accounts, which changes with each request
_BILLING = "x-anthropic-"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
# stands for the signature of a thought, which programs send back
_SIGNATURE = "headstart"


def read(body: fields.Body, session: str = "") -> ServedRequest:
    """The request in a body; raises Declined. `session`: its name in a header."""
    specs, deferred = _tools(body)
    given = [PromptMessage(Role.SYSTEM, _system(body))] if body.get("system") else []
    for number, one in enumerate(fields.messages_of(body, "messages")):
        given += _messages(one, number, deferred)
    messages, so_far = begun(in_turns(given))
    wanted = body.get("tool_choice")
    choice = fields.checked_choice(fields.choice_of(wanted), specs)
    alone = isinstance(wanted, Mapping) and wanted.get("disable_parallel_tool_use") is True
    return ServedRequest(
        messages=messages,
        model=fields.text_field(body, "model"),
        tools=Tools(tuple(specs), choice, not alone, tuple(_named_in(body, deferred))),
        sampling=_sampling(body),
        thinking=_thinking(body.get("thinking")),
        streams=body.get("stream") is True,
        session=session or _session(body.get("metadata")),
        so_far=so_far,
        with_usage=True,
        ignored=fields.unknown(body, _KNOWN),
    )


def _system(body: fields.Body) -> str:
    found = body.get("system")
    if isinstance(found, str):
        return fields.text_field(body, "system")
    if not isinstance(found, list):
        raise Declined("'system' is a text or a list of blocks.", param="system")
    blocks = [
        block
        for block in found
        if not (
            isinstance(block, Mapping) and fields.text_field(block, "text").startswith(_BILLING)
        )
    ]
    return fields.content(blocks).text


def _messages(
    one: fields.Body, number: int, deferred: Mapping[str, ToolSpec]
) -> list[PromptMessage]:
    """The results in a message come before its text, as messages of their own."""
    role = _ROLES.get(str(one.get("role")))
    if role is None:
        raise Declined(f"'{one.get('role')}' is no role of a message.", param="messages")
    value = one.get("content")
    if not isinstance(value, list):
        return [PromptMessage(role, fields.content(value).text)]
    said, thoughts = list[Any](), list[str]()
    calls, results = list[PromptCall](), list[PromptMessage]()
    for index, block in enumerate(value):
        kind = block.get("type") if isinstance(block, Mapping) else None
        if kind == "tool_use":
            calls.append(
                PromptCall(
                    fields.text_field(block, "id") or f"call-{number}-{index}",
                    fields.text_field(block, "name"),
                    fields.arguments(block.get("input")),
                )
            )
        elif kind == "tool_result":
            results.append(_result(block, deferred))
        elif kind == "thinking":
            thoughts.append(fields.text_field(block, "thinking"))
        elif kind == "redacted_thinking":
            continue
        else:
            said.append(block)
    found = fields.content(said)
    if role is Role.ASSISTANT:
        reasoning = "\n\n".join(thoughts)
        return [PromptMessage(role, found.text, reasoning=reasoning, calls=tuple(calls))]
    if found.text or found.images or not results:
        return [*results, PromptMessage(role, found.text, images=found.images)]
    return results


def _result(block: fields.Body, deferred: Mapping[str, ToolSpec]) -> PromptMessage:
    """A tool's result; a reference to a tool becomes its definition, at its place."""
    value, texts = block.get("content"), list[str]()
    images: tuple[PromptImage, ...] = ()
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, Mapping) and one.get("type") == "tool_reference":
            spec = deferred.get(fields.text_field(one, "tool_name"))
            if spec is not None:
                texts.append(_definition(spec))
            continue
        found = fields.content(one)
        texts += [found.text] if found.text else []
        images = (*images, *found.images)
    text = "\n\n".join(texts)
    if block.get("is_error") is True and not text.startswith("Error"):
        text = f"Error: {text}"
    called = fields.text_field(block, "tool_use_id")
    return PromptMessage(ToolRole.TOOL, text, images=images, call_id=called)


def _definition(spec: ToolSpec) -> str:
    """A tool that may be called from here on, as text."""
    about = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return f"<tool>\n{json.dumps(about, ensure_ascii=False)}\n</tool>"


def _tools(body: fields.Body) -> tuple[list[ToolSpec], dict[str, ToolSpec]]:
    """The tools that are listed, and those that a result may refer to, by name."""
    listed, deferred = list[ToolSpec](), dict[str, ToolSpec]()
    for tool in fields.list_field(body, "tools"):
        if not isinstance(tool, Mapping):
            raise Declined("A tool is an object.", param="tools")
        if "input_schema" not in tool and tool.get("type") not in (None, "custom"):
            # a tool that Anthropic's own servers run
            continue
        spec = fields.tool_of(tool, "input_schema")
        if tool.get("defer_loading") is True:
            deferred[spec.name] = spec
        else:
            listed.append(spec)
    return listed, deferred


def _named_in(body: fields.Body, deferred: Mapping[str, ToolSpec]) -> list[ToolSpec]:
    """The deferred tools to which a result refers."""
    found: dict[str, ToolSpec] = {}
    for one in fields.list_field(body, "messages"):
        value = one.get("content")
        for block in value if isinstance(value, list) else ():
            inner = block.get("content") if isinstance(block, Mapping) else None
            for each in inner if isinstance(inner, list) else ():
                name = each.get("tool_name") if isinstance(each, Mapping) else None
                if isinstance(name, str) and name in deferred:
                    found[name] = deferred[name]
    return list(found.values())


def _sampling(body: fields.Body) -> SamplingChoice:
    choice = fields.sampling(body, ["max_tokens"], ["stop_sequences"])
    config = body.get("output_config")
    form = config.get("format") if isinstance(config, Mapping) else body.get("output_format")
    schema = fields.output_schema(form)
    return choice if schema is None else replace(choice, schema=schema)


def _thinking(value: object) -> Thinking | None:
    kind = value.get("type") if isinstance(value, Mapping) else None
    # “adaptive”: the model decides
    return "on" if kind == "enabled" else "off" if kind == "disabled" else None


def _session(value: object) -> str:
    return fields.text_field(value, "user_id") if isinstance(value, Mapping) else ""


class MessagesWriter:
    """Writes one answer."""

    def __init__(self, answered: Answered) -> None:
        self._of = answered
        self._reply = ReplyItems(answered.id)
        # blocks so far, and the kind of the open one
        self._blocks = 0
        self._open = ""

    def begin(self, prompt_tokens: int, reused: int) -> bytes:
        message = {
            **self._head(),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(prompt_tokens, reused, 0),
        }
        return event({"type": "message_start", "message": message}, "message_start")

    def alive(self, done: int, total: int) -> bytes:  # noqa: ARG002
        return event({"type": "ping"}, "ping")

    def take(self, pieces: Iterable[TextPiece]) -> bytes:
        return b"".join(self._delta(piece) for piece in self._reply.take(pieces))

    def end(self, ended: Ended) -> bytes:
        found = self._close()
        if not self._blocks:
            # programs look for a first block
            found += self._begin_block("text", {"type": "text", "text": ""}) + self._close()
        delta = {"stop_reason": self._reason(ended), "stop_sequence": ended.stop}
        stats = ended.stats
        usage = _usage(stats.prompt_tokens, stats.reused_tokens, stats.generated_tokens)
        data = {"type": "message_delta", "delta": delta, "usage": usage}
        data |= {"timings": ended.timings, "headstart": ended.own}
        return (
            found + event(data, "message_delta") + event({"type": "message_stop"}, "message_stop")
        )

    def fail(self, declined: Declined) -> bytes:
        return event(anthropic_error(declined), "error")

    def whole(self, pieces: Iterable[TextPiece], ended: Ended) -> dict[str, Any]:
        self._reply.take(pieces)
        blocks: list[dict[str, Any]] = []
        for item in self._reply.items:
            if item.kind == "reasoning":
                blocks.append({"type": "thinking", "thinking": item.text, "signature": _SIGNATURE})
            elif item.call is not None:
                # an input is an object, and that of a call that was cut is none
                if not item.call.cut:
                    blocks.append(_tool_use(item.call, _input(item.call)))
            else:
                blocks.append({"type": "text", "text": item.text})
        stats = ended.stats
        return {
            **self._head(),
            "content": blocks or [{"type": "text", "text": ""}],
            "stop_reason": self._reason(ended),
            "stop_sequence": ended.stop,
            "usage": _usage(stats.prompt_tokens, stats.reused_tokens, stats.generated_tokens),
            "timings": ended.timings,
            "headstart": {**ended.own, **self._left_out()},
        }

    def _left_out(self) -> dict[str, Any]:
        """The call that was cut, where only people look for it."""
        call = self._reply.cut_call
        return {} if call is None else {"cut_call": {"name": call.name, "text": call.arguments}}

    def _delta(self, piece: Piece) -> bytes:
        if piece.call is not None:
            found = self._close() + self._begin_block("call", _tool_use(piece.call, {}))
            delta = {"type": "input_json_delta", "partial_json": piece.call.arguments}
            found += self._block_delta(delta)
            if piece.call.cut:
                # the end of a block would say that its input is whole
                self._open = ""
            return found + self._close()
        found = b""
        if self._open != piece.kind:
            found = self._close()
            empty = (
                {"type": "thinking", "thinking": "", "signature": ""}
                if piece.kind == "reasoning"
                else {"type": "text", "text": ""}
            )
            found += self._begin_block(piece.kind, empty)
        if piece.kind == "reasoning":
            return found + self._block_delta({"type": "thinking_delta", "thinking": piece.text})
        return found + self._block_delta({"type": "text_delta", "text": piece.text})

    def _begin_block(self, kind: str, block: dict[str, Any]) -> bytes:
        self._open = kind
        self._blocks += 1
        data = {"type": "content_block_start", "index": self._blocks - 1, "content_block": block}
        return event(data, "content_block_start")

    def _block_delta(self, delta: dict[str, Any]) -> bytes:
        data = {"type": "content_block_delta", "index": self._blocks - 1, "delta": delta}
        return event(data, "content_block_delta")

    def _close(self) -> bytes:
        if not self._open:
            return b""
        found = b""
        if self._open == "reasoning":
            found = self._block_delta({"type": "signature_delta", "signature": _SIGNATURE})
        self._open = ""
        data = {"type": "content_block_stop", "index": self._blocks - 1}
        return found + event(data, "content_block_stop")

    def _head(self) -> dict[str, Any]:
        return {
            "id": f"msg_{self._of.id}",
            "type": "message",
            "role": "assistant",
            "model": self._of.model,
        }

    def _reason(self, ended: Ended) -> str:
        match ended.stats.finish:
            case FinishReason.LENGTH:
                return "max_tokens"
            case FinishReason.CONTEXT_FULL:
                return "model_context_window_exceeded"
        if self._reply.asks:
            return "tool_use"
        return "stop_sequence" if ended.stop is not None else "end_turn"


def _tool_use(call: WrittenCall, value: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": value}


def _input(call: WrittenCall) -> Any:
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"arguments": call.arguments}


def _usage(prompt: int, reused: int, written: int) -> dict[str, Any]:
    return {
        "input_tokens": max(0, prompt - reused),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": reused,
        "output_tokens": written,
    }


def count_body(tokens: int) -> dict[str, Sequence[Any] | int]:
    """The answer to a question for the number of tokens."""
    return {"input_tokens": tokens}
