"""Known attacks in bytes: heads of model files, answers of servers."""

from __future__ import annotations

import json
import struct

from tests.support.gguf_files import make_gguf


def ggufs() -> list[bytes]:
    def head(version: int, tensors: int, pairs: int, rest: bytes = b"") -> bytes:
        return b"GGUF" + struct.pack("<IQQ", version, tensors, pairs) + rest

    most = 2**64 - 1
    key = struct.pack("<Q", 3) + b"key"
    array = struct.pack("<I", 9)
    nested = key + array + (array + struct.pack("<Q", 1)) * 5_000
    return [
        head(3, 0, 0),
        head(3, most, 0),
        head(3, 0, most),
        head(3, most, most, b"\xff" * 64),
        head(0, 1, 1),
        head(2**32 - 1, 1, 1),
        head(3, 0, 1, struct.pack("<Q", most)),
        head(3, 0, 1, struct.pack("<Q", 1 << 40) + b"x"),
        head(3, 0, 1, key + struct.pack("<I", 8) + struct.pack("<Q", most)),
        head(3, 0, 1, key + struct.pack("<I", 250)),
        head(3, 0, 1, key + array + struct.pack("<IQ", 8, most)),
        head(3, 0, 1, key + array + struct.pack("<IQ", 0, 1 << 50)),
        head(3, 0, 1, key + array + struct.pack("<IQ", 77, 5)),
        head(3, 0, 1, nested),
        head(3, 1, 0, key + struct.pack("<I", 2**32 - 1)),
        head(3, 1, 0, key + struct.pack("<IQQ", 2, most, most) + struct.pack("<IQ", 0, 0)),
        head(3, 1, 0, key + struct.pack("<IQ", 1, 4) + struct.pack("<IQ", 9999, most)),
        make_gguf({"general.architecture": 7}),
        make_gguf({"general.architecture": "../../evil"}),
        make_gguf({"llama.block_count": 0}),
        make_gguf({"llama.context_length": 2**32 - 1, "llama.embedding_length": 2**32 - 1}),
        make_gguf({"general.name": "\u202e" * 5_000}),
        make_gguf({"split.count": 9999, "split.no": 77}),
        make_gguf({"tokenizer.chat_template": "{{ ''.__class__ }}"}),
        b"GGUF",
        b"",
    ]


def _event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def answers() -> list[bytes]:
    ok = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

    def said(delta: object, **more: object) -> bytes:
        return _event({"id": "c", "choices": [{"index": 0, "delta": delta, **more}]})

    done = b"data: [DONE]\n\n"
    return [
        b"",
        b"\0" * 5_000,
        b"HTTP/1.1 99999 What\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 5_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 500_000 + b"\r\n\r\n",
        b"HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:9/\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\nnot gzip",
        b"HTTP/1.1 401 No\r\nContent-Length: 12\r\n\r\n<b>secret</b>",
        b"HTTP/1.1 500 No\r\nConnection: close\r\n\r\n" + b"e" * 2_000_000,
        ok,
        ok + done,
        ok + b"data: {\n\n" + done,
        ok + b"data: " + b"[" * 50_000 + b"\n\n" + done,
        ok + _event(None) + done,
        ok + _event([]) + done,
        ok + _event({"choices": None}) + done,
        ok + _event({"choices": [None]}) + done,
        ok + _event({"choices": [{"delta": "text"}]}) + done,
        ok + said({"content": 7}) + done,
        ok + said({"content": ["a", {"b": 1}]}) + done,
        ok + said({"content": "x" * 1_000_000}) + done,
        ok + said({"content": "<think>" * 5_000}) + done,
        ok + said({"content": "![a](https://example.invalid/a.png)"}) + done,
        ok + said({"content": "a", "role": {"a": 1}}, finish_reason=["no"]) + done,
        ok + said({"tool_calls": [{"index": 10**9, "function": {"arguments": 7}}]}) + done,
        ok + said({"tool_calls": {"a": 1}}) + done,
        ok + said({"reasoning_content": {"a": 1}}) + done,
        ok + _event({"error": {"message": "\0<b>no</b>" * 3_000}}) + done,
        ok + _event({"error": "no"}) + done,
        ok + _event({"choices": [], "usage": {"prompt_tokens": -5, "total": "x"}}) + done,
        ok + _event({"choices": [], "timings": {"predicted_ms": "nan"}}) + done,
        ok + b": comment\n\n" * 20_000 + done,
        ok + b"event: x\nid: \0\nretry: 99999999\n\n" + done,
        ok + b"data: \xff\xfe\n\n" + done,
        ok + said({"content": "a"}) * 5_000,
        ok + b"data:" + b" " * 100_000,
    ]
