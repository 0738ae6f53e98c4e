"""Conversation files of every format that is read, made by hand after how other programs write
them; several generations of each."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any

from tests.support.chatgpt_files import FENCE, LATEX, chatgpt, chatgpt_image, dumps, gpt_node
from tests.support.gpt4all_files import gpt4all

__all__ = ["FENCE", "LATEX", "chatgpt", "chatgpt_image", "dumps", "gpt4all", "gpt_node"]


def png(width: int = 3, height: int = 2) -> bytes:
    """A small image that any reader shows."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    rows = b"".join(b"\0" + b"\x10\x80\xc0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


# --- Claude ------------------------------------------------------------------------------


def claude(branched: bool = True) -> dict[str, Any]:
    root = "00000000-0000-4000-8000-000000000000"
    messages: list[dict[str, Any]] = [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "Read this",
            "content": [{"type": "text", "text": "Read this"}],
            "created_at": "2025-03-01T10:00:00.123456Z",
            "attachments": [
                {"file_name": "notes.txt", "file_type": "txt", "extracted_content": "Some notes."}
            ],
            "files": [{"file_name": "photo.png"}],
            "parent_message_uuid": root,
        },
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "Notes, it says.",
            "content": [
                {"type": "thinking", "thinking": "Notes."},
                {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "notes"}},
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "name": "search",
                    "content": [{"type": "text", "text": "found"}],
                    "is_error": False,
                },
                {"type": "text", "text": "Notes, it says."},
            ],
            "created_at": "2025-03-01T10:00:05+00:00",
            "attachments": [],
            "files": [],
            "parent_message_uuid": "m1",
        },
        {
            "uuid": "m3",
            "sender": "assistant",
            "text": "Another try.",
            "content": [{"type": "text", "text": "Another try."}],
            "created_at": "2025-03-01T10:01:05Z",
            "parent_message_uuid": "m1",
        },
    ]
    if not branched:
        for message in messages:
            del message["parent_message_uuid"]
    found: dict[str, Any] = {
        "uuid": "claude-1",
        "name": "Notes",
        "created_at": "2025-03-01T10:00:00Z",
        "updated_at": "2025-03-01T10:02:00Z",
        "account": {"uuid": "someone"},
        "chat_messages": messages,
    }
    return found | ({"current_leaf_message_uuid": "m2"} if branched else {})


# --- LM Studio ---------------------------------------------------------------------------


def lmstudio() -> dict[str, Any]:
    def user(text: str) -> dict[str, Any]:
        piece = {"type": "text", "text": text}
        return {"type": "singleStep", "role": "user", "content": [piece]}

    def reply(text: str, reason: str = "eosFound") -> dict[str, Any]:
        stats = {
            "stopReason": reason,
            "tokensPerSecond": 20.0,
            "timeToFirstTokenSec": 0.4,
            "promptTokensCount": 30,
            "predictedTokensCount": 40,
        }
        block = {
            "type": "contentBlock",
            "content": [{"type": "text", "text": text, "fromDraftModel": False, "tokensCount": 40}],
            "genInfo": {"identifier": "qwen/qwen3-4b", "stats": stats},
        }
        return {
            "type": "multiStep",
            "role": "assistant",
            "senderInfo": {"senderName": "qwen3-4b"},
            "steps": [block, {"type": "toolCall", "what": "unknown"}],
        }

    return {
        "name": "Rivers",
        "pinned": True,
        "createdAt": 1_740_000_000_000,
        "tokenCount": 100,
        "systemPrompt": "Be brief.",
        "messages": [
            {"versions": [user("Name a river"), user("Name two rivers")], "currentlySelected": 1},
            {
                "versions": [
                    reply("<think>\nWhich?\n</think>\n\nThe Nile."),
                    reply("Nile, Rhine.", "userStopped"),
                ],
                "currentlySelected": 1,
            },
            {"versions": [user("Thanks")], "currentlySelected": 0},
        ],
        "usePerChatPredictionConfig": True,
        "perChatPredictionConfig": {"fields": []},
        "lastUsedModel": {"identifier": "qwen/qwen3-4b"},
        "notes": [],
    }


# --- Open WebUI --------------------------------------------------------------------------


def openwebui(wrapped: bool = True) -> dict[str, Any]:
    reasoning = (
        '<details type="reasoning" done="true" duration="2">\n<summary>Thought for 2 seconds'
        "</summary>\n&gt; I think &amp; so\n&gt; it is\n</details>\n"
    )
    call = (
        '<details type="tool_calls" done="true" id="c9" name="weather" '
        'arguments="{&quot;city&quot;: &quot;Rome&quot;}" result="sunny">\n'
        "<summary>Tool Executed</summary>\n</details>\n"
    )
    messages = {
        "u": {
            "id": "u",
            "parentId": None,
            "childrenIds": ["a", "b"],
            "role": "user",
            "content": "Weather in Rome?",
            "timestamp": 1_730_000_000,
            "files": [{"type": "image", "url": "data:image/png;base64," + _base64(png())}],
        },
        "a": {
            "id": "a",
            "parentId": "u",
            "childrenIds": [],
            "role": "assistant",
            "content": f"{reasoning}{call}It is sunny. <details> is a tag.",
            "model": "qwen3:4b",
            "done": True,
            "timestamp": 1_730_000_003,
        },
        "b": {
            "id": "b",
            "parentId": "u",
            "childrenIds": [],
            "role": "assistant",
            "content": "I do not know.",
            "model": "qwen3:4b",
            "timestamp": 1_730_000_006,
        },
    }
    chat = {
        "title": "Rome",
        "models": ["qwen3:4b"],
        "system": "Answer shortly.",
        "history": {"currentId": "a", "messages": messages},
        "messages": [],
    }
    if not wrapped:
        return {"id": "w1", **chat}
    return {
        "id": "w1",
        "title": "Rome",
        "chat": chat,
        "meta": {"tags": ["travel"]},
        "pinned": True,
        "folder_id": None,
        "created_at": 1_730_000_000,
        "updated_at": 1_730_000_010,
    }


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


# --- llama.cpp ---------------------------------------------------------------------------


def llamacpp() -> dict[str, Any]:
    def message(key: str, parent: str | None, role: str, content: str, **more: Any) -> Any:
        return {
            "id": key, "convId": "c1", "type": "text", "role": role, "content": content,
            "timestamp": 1_750_000_000_000, "parent": parent, "children": [], **more,
        }  # fmt: skip

    return {
        "conv": {"id": "c1", "name": "Plain", "lastModified": 1_750_000_010_000, "currNode": "a2"},
        "messages": [
            message("r", None, "system", "", type="root"),
            message(
                "u1",
                "r",
                "user",
                "Hello",
                extra=[{"type": "TEXT", "name": "a.txt", "content": "text of a file"}],
            ),
            message("a1", "u1", "assistant", "One", thinking="Hm.", model="gemma"),
            message("a2", "u1", "assistant", "Two", reasoningContent="Well."),
        ],
    }


def trace() -> bytes:
    lines = [
        {"type": "session", "harness": "llama.cpp", "id": "s1", "name": "First"},
        {"type": "message", "message": {"role": "user", "content": "Hi", "timestamp": 1_750e9}},
        {"type": "compaction", "what": "nobody knows"},
        {
            "type": "message",
            "message": {
                "role": "assistant",
                "content": "Hello",
                "reasoningContent": "A greeting.",
                "toolCalls": [{"id": "c", "function": {"name": "look", "arguments": "{}"}}],
                "model": "gemma",
            },
        },
        {"type": "message", "message": {"role": "tool", "content": "seen", "toolName": "look"}},
        {"type": "session", "harness": "llama.cpp", "id": "s2"},
        {
            "type": "message",
            "message": {"role": "user", "content": [{"type": "text", "text": "B"}]},
        },
    ]
    return b"\n".join(dumps(line) for line in lines) + b"\n"


# --- Jan, Gemini, lists ------------------------------------------------------------------


def jan() -> dict[str, bytes]:
    thread = {
        "id": "t1",
        "title": "Bread",
        "created": 1_735_000_000,
        "updated": 1_735_000_100,
        "assistants": [{"instructions": "Bake.", "model": {"id": "llama3.2-3b"}}],
    }

    def message(key: str, role: str, text: str, time: int) -> dict[str, Any]:
        content = [{"type": "text", "text": {"value": text, "annotations": []}}]
        return {
            "id": key, "thread_id": "t1", "role": role, "content": content, "created_at": time,
            "completed_at": time, "status": "ready", "metadata": {},
        }  # fmt: skip

    lines = [
        message("1", "user", "How long does bread bake?", 1_735_000_001_000),
        message("2", "assistant", "<think>Bread.</think>40 minutes.", 1_735_000_002_000),
    ]
    return {
        "threads/t1/thread.json": dumps(thread),
        "threads/t1/messages.jsonl": b"\n".join(map(dumps, lines)),
    }


def gemini() -> list[dict[str, Any]]:
    def record(title: str, time: str, answer: str = "") -> dict[str, Any]:
        found: dict[str, Any] = {
            "header": "Gemini Apps",
            "title": title,
            "time": time,
            "products": ["Gemini Apps"],
        }
        return found | ({"safeHtmlItem": [{"html": answer}]} if answer else {})

    table = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    code = "<pre><code>x = 1\ny  = 2\n</code></pre>"
    return [
        record("Prompted Later question", "2026-02-02T12:00:00Z", "<p>Later.</p>"),
        record("Gave feedback", "2026-02-01T10:11:00Z"),
        record(
            "Prompted And then?",
            "2026-02-01T10:10:00.5Z",
            f"<h2>Then</h2><ul><li>one</li><li><b>two</b></li></ul>{code}{table}",
        ),
        record("Prompted What first?", "2026-02-01T10:00:00Z", "<p>First <i>this</i>.</p>"),
    ]


def studio() -> dict[str, Any]:
    return {
        "runSettings": {"model": "models/gemini-2.5-pro"},
        "systemInstruction": {"parts": [{"text": "Be exact."}]},
        "chunkedPrompt": {
            "chunks": [
                {"text": "Why?", "role": "user"},
                {"driveDocument": {"id": "x"}, "role": "user"},
                {"text": "Because of that.", "role": "model", "isThought": True},
                {"text": "Therefore.", "role": "model"},
            ]
        },
    }


def sharegpt() -> dict[str, Any]:
    return {
        "conversations": [
            {"from": "system", "value": "You are kind."},
            {"from": "human", "value": "Hello"},
            {"from": "gpt", "value": "Hello to you"},
        ]
    }


def openai_lines() -> bytes:
    messages = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": [{"type": "text", "text": "Q"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "name": "f", "content": "42"},
        {"role": "assistant", "content": "A", "reasoning_content": "R"},
    ]
    return dumps({"messages": messages}) + b"\n" + dumps(sharegpt()) + b"\n"


# every format, as one file each
FILES: dict[str, Callable[[], bytes]] = {
    "chatgpt": lambda: dumps([chatgpt()]),
    "claude": lambda: dumps([claude()]),
    "lm-studio": lambda: dumps(lmstudio()),
    "open-webui": lambda: dumps([openwebui()]),
    "llama.cpp": lambda: dumps(llamacpp()),
    "trace": trace,
    "jan": lambda: jan()["threads/t1/messages.jsonl"],
    "gemini": lambda: dumps(gemini()),
    "ai-studio": lambda: dumps(studio()),
    "list": openai_lines,
    "gpt4all": gpt4all,
}
