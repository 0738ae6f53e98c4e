"""Bodies of requests as programs send them, and mutations of them."""

from __future__ import annotations

import copy
import random
from typing import Any

IMAGE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SCHEMA: Any = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
    "required": ["path"],
}
CHAT: Any = {
    "model": "local",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Use tools."}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Read it."},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "I need two files.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": '{"x'}},
            ],
        },
        {"role": "tool", "tool_call_id": "b", "content": "second"},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "first"}]},
        {"role": "system", "content": "9,000 tokens left."},
        {"role": "user", "content": "Go on."},
    ],
    "tools": [
        {"type": "function", "function": {"name": "read", "description": "d", "parameters": SCHEMA}}
    ],
    "tool_choice": "auto", "parallel_tool_calls": True, "stream": True,
    "stream_options": {"include_usage": True}, "temperature": 0.2, "max_tokens": 99,
    "stop": ["END"], "seed": 3, "user": "u", "prompt_cache_key": "k", "strange": 1,
    "reasoning_effort": "low",
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
}  # fmt: skip
MESSAGES: Any = {
    "model": "claude-x",
    "max_tokens": 32000,
    "system": [
        {"type": "text", "text": "x-anthropic-billing-header: cc_version=2; cch=1a2b;"},
        {"type": "text", "text": "You are an agent.", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "Be brief."},
    ],
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Read.", "cache_control": {"type": "ephemeral"}}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Two files.", "signature": "s"},
                {"type": "text", "text": "I read them."},
                {"type": "tool_use", "id": "a", "name": "Read", "input": {"path": "x", "lines": 3}},
                {"type": "tool_use", "id": "b", "name": "ToolSearch", "input": {"q": "grep"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": [{"type": "tool_reference", "tool_name": "Grep"}],
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": "no such file"},
                        {
                            "type": "image",
                            "source": {
                                "type": "base64", "media_type": "image/png", "data": IMAGE,
                            },
                        },
                    ],
                },
                {"type": "text", "text": "Go on."},
            ],
        },
        {"role": "system", "content": "Fewer tokens left."},
    ],
    "tools": [
        {"name": "Read", "description": "d", "input_schema": SCHEMA},
        {"name": "Grep", "input_schema": SCHEMA, "defer_loading": True},
        {"name": "Glob", "input_schema": SCHEMA, "defer_loading": True},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}, "stream": True,
    "thinking": {"type": "adaptive"}, "metadata": {"user_id": "user_1_session_2"},
    "context_management": {"edits": []}, "stop_sequences": ["END"],
}  # fmt: skip
RESPONSES: Any = {
    "model": "gpt-x",
    "instructions": "You are an agent.",
    "input": [
        {
            "type": "message",
            "role": "developer",
            "content": [{"type": "input_text", "text": "Rules."}],
        },
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]},
        {
            "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "VGhpbmsu",
            "content": None,
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
        },
        {"type": "function_call", "call_id": "a", "name": "exec", "arguments": '{"cmd":"ls"}'},
        {
            "type": "function_call", "call_id": "b", "namespace": "agents", "name": "wait",
            "arguments": "{}",
        },
        {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"},
        {
            "type": "function_call_output", "call_id": "b",
            "output": [{"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}"}],
        },
        {"type": "function_call_output", "call_id": "a", "output": "x.txt"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "done"},
        {"type": "web_search_call", "id": "ws", "status": "completed"},
        {"role": "user", "content": "Go on."},
    ],
    "tools": [
        {"type": "function", "name": "exec", "parameters": SCHEMA, "strict": False},
        {
            "type": "namespace",
            "name": "agents",
            "tools": [{"type": "function", "name": "wait", "parameters": SCHEMA}],
        },
        {
            "type": "custom", "name": "patch", "description": "Edit.",
            "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"x\""},
        },
        {"type": "web_search"},
    ],
    "tool_choice": "auto", "parallel_tool_calls": True, "stream": True, "store": False,
    "reasoning": {"summary": "auto", "effort": "high"}, "prompt_cache_key": "k",
    "include": ["reasoning.encrypted_content"], "client_metadata": {},
}  # fmt: skip
COMPLETIONS: Any = {
    "model": "local", "prompt": "Once upon", "max_tokens": 5, "stream": False, "stop": "\n",
}  # fmt: skip
ODD: list[Any] = [
    None, True, 0, -1, 1e308, "", "text", "\ud800", [], {}, [None], [[]], {"type": "x"},
    {"type": None}, "x" * 300, ["a", 1], 2**70, float("inf"),
]  # fmt: skip


def mutated(body: Any, rng: random.Random) -> Any:
    """The body with one to three values exchanged, left out, or doubled."""
    body = copy.deepcopy(body)
    for _ in range(rng.randrange(1, 4)):
        holder: Any = body
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = rng.choice(keys)
            inner = holder[key]
            if isinstance(inner, dict | list) and inner and rng.random() < 0.75:
                holder = inner
                continue
            match rng.randrange(3):
                case 0:
                    holder[key] = rng.choice(ODD)
                case 1:
                    del holder[key]
                case _ if isinstance(holder, list):
                    holder.insert(key, copy.deepcopy(inner))
                case _:
                    holder[key] = [inner]
            break
    return body
