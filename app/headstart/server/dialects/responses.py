"""OpenAI's responses, as far as they need no memory of this server. Pure: a body in, a request out;
events in, bytes out."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from headstart.core.chats.values import Role
from headstart.core.events import TextPiece
from headstart.core.requests import PromptCall, PromptMessage, ToolRole
from headstart.core.serving.request import ServedRequest, ShownTool
from headstart.core.serving.turns import begun, in_turns
from headstart.core.settings.schema import SamplingChoice, Thinking
from headstart.core.tools import Choosing, Tools, ToolSpec
from headstart.server.dialects import fields
from headstart.server.dialects.declined import Declined
from headstart.server.dialects.reply import (
    Answered,
    Ended,
    Piece,
    ReplyItem,
    ReplyItems,
    WrittenCall,
)
from headstart.server.dialects.wire import event, openai_error

_KNOWN = fields.names(
    "model input instructions tools tool_choice parallel_tool_calls stream temperature top_p "
    "max_output_tokens text reasoning store include prompt_cache_key client_metadata metadata "
    "previous_response_id conversation user truncation service_tier stream_options"
)
_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
}
# the argument of a tool that takes one text
_FREE = '{"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}'
_CALLS = ("function_call", "custom_tool_call")
_PLAIN: dict[str, Any] = {"logprobs": []}
_RESULTS = ("function_call_output", "custom_tool_call_output")


def read(body: fields.Body, session: str = "") -> ServedRequest:
    """The request in a body; raises Declined. `session`: its name in a header."""
    fields.refuse_several(body)
    if body.get("previous_response_id") or body.get("conversation"):
        raise Declined(
            "This server keeps no answers: send the whole conversation in 'input'.",
            param="previous_response_id",
        )
    given = [PromptMessage(Role.SYSTEM, fields.text_field(body, "instructions"))]
    given += _items(body)
    messages, so_far = begun(in_turns(given))
    if not messages:
        raise Declined("'input' is empty.", param="input")
    tools, names = _tools(body)
    return ServedRequest(
        messages=messages,
        model=fields.text_field(body, "model"),
        tools=tools,
        sampling=_sampling(body),
        thinking=_thinking(body.get("reasoning")),
        streams=body.get("stream") is True,
        session=session or fields.text_field(body, "prompt_cache_key"),
        so_far=so_far,
        names=names,
        with_usage=True,
        ignored=fields.unknown(body, _KNOWN),
    )


def _items(body: fields.Body) -> list[PromptMessage]:
    value = body.get("input")
    if isinstance(value, str):
        return [PromptMessage(Role.USER, fields.text_field(body, "input"))]
    found: list[PromptMessage] = []
    for number, item in enumerate(fields.list_field(body, "input")):
        if not isinstance(item, Mapping):
            raise Declined("An item of 'input' is an object.", param="input")
        message = _item(item, number)
        if message is not None:
            found.append(message)
    return found


def _item(item: fields.Body, number: int) -> PromptMessage | None:
    kind = item.get("type") or "message"
    if kind == "message":
        role = _ROLES.get(str(item.get("role")))
        if role is None:
            raise Declined(f"'{item.get('role')}' is no role of a message.", param="input")
        found = fields.content(item.get("content"))
        return PromptMessage(role, found.text, images=found.images)
    if kind == "reasoning":
        thought = _thought(item)
        return PromptMessage(Role.ASSISTANT, "", reasoning=thought) if thought else None
    called = fields.text_field(item, "call_id") or fields.text_field(item, "id")
    if kind in _CALLS:
        free = kind == "custom_tool_call"
        given = {"input": item.get("input")} if free else item.get("arguments")
        name = _prefix(fields.text_field(item, "namespace")) + fields.text_field(item, "name")
        call = PromptCall(called or f"call-{number}", name, fields.arguments(given))
        return PromptMessage(Role.ASSISTANT, "", calls=(call,))
    if kind in _RESULTS:
        found = fields.content(item.get("output"))
        return PromptMessage(ToolRole.TOOL, found.text, images=found.images, call_id=called)
    # items of tools that OpenAI's own servers run
    return None


def _thought(item: fields.Body) -> str:
    """The reasoning that a program sends back: as text, or as this server packed it."""
    text = fields.content(item.get("content")).text
    if text:
        return text
    packed = fields.text_field(item, "encrypted_content")
    try:
        return base64.b64decode(packed, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def _prefix(namespace: str) -> str:
    return f"{namespace}__" if namespace else ""


def _tools(body: fields.Body) -> tuple[Tools, dict[str, ShownTool]]:
    specs: list[ToolSpec] = []
    names: dict[str, ShownTool] = {}

    def add(tool: fields.Body, namespace: str) -> None:
        prefix = _prefix(namespace)
        free = tool.get("type") == "custom"
        spec = fields.tool_of(tool, prefix=prefix)
        if free:
            spec = ToolSpec(spec.name, _about_free(tool, spec), _FREE)
        specs.append(spec)
        if free or prefix:
            names[spec.name] = ShownTool(spec.name[len(prefix) :], namespace, free)

    for tool in fields.list_field(body, "tools"):
        if not isinstance(tool, Mapping):
            raise Declined("A tool is an object.", param="tools")
        if tool.get("type") == "namespace":
            for inner in fields.list_field(tool, "tools"):
                if isinstance(inner, Mapping) and inner.get("type") in ("function", "custom"):
                    add(inner, fields.text_field(tool, "name"))
        elif tool.get("type") in ("function", "custom"):
            add(tool, "")
    wanted = body.get("tool_choice")
    choice = fields.choice_of(wanted) if _may_choose(wanted) else fields.choice_of(None)
    if choice.choosing is Choosing.NAMED and isinstance(wanted, Mapping):
        choice = replace(choice, name=_prefix(fields.text_field(wanted, "namespace")) + choice.name)
    choice = fields.checked_choice(choice, specs)
    return Tools(tuple(specs), choice, body.get("parallel_tool_calls") is not False), names


def _may_choose(value: object) -> bool:
    """False for a choice of a tool that OpenAI's own servers run."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    return kind in (None, "function", "custom", "allowed_tools") or isinstance(value, str)


def _about_free(tool: fields.Body, spec: ToolSpec) -> str:
    form = tool.get("format")
    definition = fields.text_field(form, "definition") if isinstance(form, Mapping) else ""
    if not definition:
        return spec.description
    return f"{spec.description}\n\nThe grammar of 'input':\n{definition}"


def _sampling(body: fields.Body) -> SamplingChoice:
    choice = fields.sampling(body, ["max_output_tokens"], ["stop"])
    text = body.get("text")
    schema = fields.output_schema(text.get("format")) if isinstance(text, Mapping) else None
    return choice if schema is None else replace(choice, schema=schema)


def _thinking(value: object) -> Thinking | None:
    return fields.effort(value.get("effort")) if isinstance(value, Mapping) else None


class ResponsesWriter:
    """Writes one answer. Its items have the same ids in the stream and in the end."""

    def __init__(self, answered: Answered) -> None:
        self._of = answered
        self._reply = ReplyItems(answered.id)
        self._number = 0
        # position of the open item, -1 for none
        self._open = -1

    def begin(self, prompt_tokens: int, reused: int) -> bytes:  # noqa: ARG002
        response = self._response("in_progress", [])
        return self._event("response.created", response=response) + self._event(
            "response.in_progress", response=response
        )

    def alive(self, done: int, total: int) -> bytes:  # noqa: ARG002
        return self._event("response.in_progress", response=self._response("in_progress", []))

    def take(self, pieces: Iterable[TextPiece]) -> bytes:
        return b"".join(self._delta(piece) for piece in self._reply.take(pieces))

    def end(self, ended: Ended) -> bytes:
        found = self._close(ended.cut)
        status = "incomplete" if ended.cut else "completed"
        response = self._response(status, self._output(ended.cut), ended)
        return found + self._event(f"response.{status}", response=response)

    def fail(self, declined: Declined) -> bytes:
        error = openai_error(declined)["error"]
        told = {"code": error["code"] or error["type"], "message": error["message"]}
        response = {**self._response("failed", self._output()), "error": told}
        return self._event("response.failed", response=response)

    def whole(self, pieces: Iterable[TextPiece], ended: Ended) -> dict[str, Any]:
        self._reply.take(pieces)
        status = "incomplete" if ended.cut else "completed"
        return self._response(status, self._output(ended.cut), ended)

    def _delta(self, piece: Piece) -> bytes:
        if piece.call is not None:
            return self._close() + self._call(piece.item, piece.call)
        found = b""
        if self._open != piece.item:
            found = self._close() + self._begin_item(piece.item)
        name, more = (
            ("reasoning_text", {}) if piece.kind == "reasoning" else ("output_text", _PLAIN)
        )
        return found + self._event(
            f"response.{name}.delta", **self._place(piece.item), delta=piece.text, **more
        )

    def _begin_item(self, at: int) -> bytes:
        self._open = at
        item = self._item(at, "in_progress")
        found = self._event("response.output_item.added", output_index=at, item=item)
        if self._reply.items[at].kind == "text":
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            found += self._event("response.content_part.added", **self._place(at), part=part)
        return found

    def _close(self, cut: bool = False) -> bytes:
        """End the open item, inside which the reply was `cut`."""
        at, self._open = self._open, -1
        if at < 0:
            return b""
        item = self._reply.items[at]
        if item.kind == "reasoning":
            found = self._event("response.reasoning_text.done", **self._place(at), text=item.text)
        else:
            part = _text_part(item)
            found = self._event(
                "response.output_text.done", **self._place(at), text=item.text, logprobs=[]
            )
            found += self._event("response.content_part.done", **self._place(at), part=part)
        ended = self._item(at, "incomplete" if cut else "completed")
        return found + self._event("response.output_item.done", output_index=at, item=ended)

    def _call(self, at: int, call: WrittenCall) -> bytes:
        free = self._shown(call).free
        kind, field = (
            ("custom_tool_call_input", "input")
            if free
            else (
                "function_call_arguments",
                "arguments",
            )
        )
        text = call.free_text if free else call.arguments
        place = {"item_id": self._item_id(at), "output_index": at}
        named = {} if free else {"name": self._shown(call).name}
        found = self._event(
            "response.output_item.added", output_index=at, item=self._item(at, "in_progress")
        ) + self._event(f"response.{kind}.delta", **place, delta=text)
        if not call.cut:
            found += self._event(f"response.{kind}.done", **place, **{field: text}, **named)
        elif free:
            # a text has no closing bracket to miss: only its missing end says that it was cut
            return found
        return found + self._event(
            "response.output_item.done", output_index=at, item=self._item(at)
        )

    def _shown(self, call: WrittenCall) -> ShownTool:
        return self._of.request.names.get(call.name) or ShownTool(call.name)

    def _output(self, cut: bool = False) -> list[dict[str, Any]]:
        """All items, the last of which was `cut`."""
        last = len(self._reply.items) - 1
        return [
            self._item(at, "incomplete" if cut and at == last else "completed")
            for at in range(last + 1)
        ]

    def _item(self, at: int, state: str = "completed") -> dict[str, Any]:
        item = self._reply.items[at]
        done = state != "in_progress"
        if item.call is not None and done:
            # a call that ended before the limit is whole
            state = "incomplete" if item.call.cut else "completed"
        base: dict[str, Any] = {"id": self._item_id(at)}
        if item.call is not None:
            shown = self._shown(item.call)
            base |= {"call_id": item.call.id, "name": shown.name, "status": state}
            if shown.namespace:
                base["namespace"] = shown.namespace
            if shown.free:
                given = item.call.free_text if done else ""
                return {**base, "type": "custom_tool_call", "input": given}
            given = item.call.arguments if done else ""
            return {**base, "type": "function_call", "arguments": given}
        if item.kind == "reasoning":
            found = {**base, "type": "reasoning", "summary": [], "status": state, "content": []}
            if done:
                found["content"] = [{"type": "reasoning_text", "text": item.text}]
                found["encrypted_content"] = base64.b64encode(item.text.encode()).decode()
            return found
        content = [_text_part(item)] if done else []
        return {
            **base,
            "type": "message",
            "role": "assistant",
            "status": state,
            "content": content,
        }

    def _item_id(self, at: int) -> str:
        item = self._reply.items[at]
        prefix = {"text": "msg", "reasoning": "rs", "call": "fc"}[item.kind]
        return f"{prefix}_{self._of.id}_{at}"

    def _place(self, at: int) -> dict[str, Any]:
        return {"item_id": self._item_id(at), "output_index": at, "content_index": 0}

    def _event(self, kind: str, **data: Any) -> bytes:
        number, self._number = self._number, self._number + 1
        return event({"type": kind, "sequence_number": number, **data}, kind)

    def _response(
        self, status: str, output: list[dict[str, Any]], ended: Ended | None = None
    ) -> dict[str, Any]:
        request = self._of.request
        tools = request.tools
        found: dict[str, Any] = {
            "id": f"resp_{self._of.id}",
            "object": "response",
            "created_at": self._of.created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": self._of.model,
            "output": output,
            "parallel_tool_calls": tools.several,
            "temperature": request.sampling.temperature,
            "tool_choice": _choice(tools),
            "tools": [],
            "top_p": request.sampling.top_p,
            "max_output_tokens": request.sampling.max_tokens or None,
            "previous_response_id": None,
            "store": False,
            "truncation": "disabled",
            "usage": None,
        }
        if ended is not None:
            stats = ended.stats
            if ended.cut:
                found["incomplete_details"] = {"reason": "max_output_tokens"}
            found["usage"] = {
                "input_tokens": stats.prompt_tokens,
                "input_tokens_details": {"cached_tokens": stats.reused_tokens},
                "output_tokens": stats.generated_tokens,
                "output_tokens_details": {"reasoning_tokens": ended.reasoning_tokens},
                "total_tokens": stats.prompt_tokens + stats.generated_tokens,
            }
            found["timings"], found["headstart"] = ended.timings, ended.own
        return found


def _choice(tools: Tools) -> Any:
    if tools.choice.choosing is Choosing.NAMED:
        return {"type": "function", "name": tools.choice.name}
    return tools.choice.choosing.value


def _text_part(item: ReplyItem) -> dict[str, Any]:
    return {"type": "output_text", "text": item.text, "annotations": [], "logprobs": []}
