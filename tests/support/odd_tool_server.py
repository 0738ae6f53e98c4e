"""A tool server whose lists and answers are odd, broken or far too large.

`python odd_tool_server.py WHAT`: a key of LISTS or of ANSWERS, over standard input and output;
`... WHAT http|events` over HTTP, after a line with the port. The tool `echo` is always sound; `odd`
gives the answer.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

OBJECT = {"type": "object"}
ECHO = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {}}}}
ODD = {"name": "odd", "inputSchema": OBJECT}


def _tools(*more: Any) -> dict[str, Any]:
    return {"tools": [ECHO, ODD, *more]}


def _deep(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        found = {"a": found}
    return found


# odd lists by name; the entry that is odd is called "bad"
LISTS: dict[str, dict[str, Any]] = {
    "no schema": _tools({"name": "bad", "description": "d"}),
    "null schema": _tools({"name": "bad", "inputSchema": None}),
    "text as schema": _tools({"name": "bad", "inputSchema": "{}"}),
    "list as type": _tools({"name": "bad", "inputSchema": {"type": "array"}}),
    "number as name": _tools({"name": 5, "title": "bad", "inputSchema": OBJECT}),
    "number as description": _tools({"name": "bad", "description": 5, "inputSchema": OBJECT}),
    "odd hints": _tools({"name": "bad", "annotations": [1], "inputSchema": OBJECT}),
    "odd icons": _tools({"name": "bad", "icons": "x.png", "inputSchema": OBJECT}),
    "long name": _tools({"name": "bad" * 100, "inputSchema": OBJECT}),
    "long schema": _tools({"name": "bad", "inputSchema": {**OBJECT, "$comment": "x" * 300_000}}),
    "deep schema": _tools({"name": "bad", "inputSchema": {**OBJECT, "properties": _deep(200)}}),
    "odd prompt": {"prompts": [{"name": "good"}, {"name": "bad", "title": [1]}]},
    "prompts as text": {"prompts": "bad"},
    "odd argument": {"prompts": [{"name": "bad", "arguments": [{"name": "a"}, {"no": 1}, 7]}]},
    "odd resource": {
        "resources": [{"uri": "bad", "name": None}, {"uri": "file:///a", "name": "a"}]
    },
    "odd template": {"resourceTemplates": [{"name": "bad"}, {"uriTemplate": "a{b}", "name": "a"}]},
}
# odd, but nothing needs to be left out of it
SOUND: dict[str, dict[str, Any]] = {
    "no type": _tools({"name": "bad", "inputSchema": {"properties": {"a": {}}}}),
    "null description": _tools({"name": "bad", "description": None, "inputSchema": OBJECT}),
    "list as result": _tools({"name": "bad", "inputSchema": OBJECT, "outputSchema": {"type": "a"}}),
    "no name": _tools({"description": "bad", "inputSchema": OBJECT}),
    "no object": _tools("bad", None, 7, []),
    "odd cursor": {**_tools(), "nextCursor": 7},
    "odd abilities": {"capabilities": {"tools": True, "prompts": None, "logging": 5}},
    "no introduction": {"serverInfo": None},
}  # fmt: skip
_EMOJI = "😀".encode()
_TEXT = b'{"type":"text","text":""}'
_IMAGE = b'{"type":"image","data":"","mimeType":"image/png"}'


def _result(number: Any, inside: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"result":{"content":[%s]}}' % (number, inside)


def _structured(number: Any, value: bytes) -> bytes:
    head = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":' % number
    return head + value + b"}}"


# answers that cannot be read, by name; each gets the number of the request
ANSWERS: dict[str, Callable[[Any], bytes]] = {
    "texts": lambda n: _result(n, b",".join([_TEXT] * 1_000_000)),
    "images": lambda n: _result(n, b",".join([_IMAGE] * 500_000)),
    "lists": lambda n: _structured(n, b'{"a":[' + b"[]," * 10_000_000 + b"1]}"),
    "numbers": lambda n: _structured(n, b'{"a":[' + b"1," * 10_000_000 + b"1]}"),
    "deep": lambda n: _structured(n, b'{"a":' * 100_000),
    "long text": lambda n: _result(n, b'{"type":"text","text":"' + b"x" * 60_000_000 + b'"}'),
    "emoji": lambda n: _result(n, b'{"type":"text","text":"%s"}' % (_EMOJI * 5_000_000)),
    "id at the end": lambda n: b'{"jsonrpc":"2.0","result":{"content":[' + b"[]," * 1_000_000
        + b'1]},"id":%d}' % n,
    "cut": lambda n: b'{"jsonrpc":"2.0","id":%d,"result":{"content":[' % n,
    "no result": lambda n: b'{"jsonrpc":"2.0","id":%d,"result":null}' % n,
    "a list": lambda n: b'{"jsonrpc":"2.0","id":%d,"result":[1]}' % n,
    "text as error": lambda n: b'{"jsonrpc":"2.0","id":%d,"error":"no"}' % n,
    "digits": lambda n: _structured(n, b'{"a":' + b"9" * 20_000 + b"}"),
}  # fmt: skip
# answers up to the bounds, which are read
LARGE: dict[str, Callable[[Any], bytes]] = {
    "text to the bound": lambda n: _result(n, b'{"type":"text","text":"%s"}' % (b"x" * 33_000_000)),
    "emoji to the bound": lambda n: _result(
        n, b'{"type":"text","text":"%s%s"}' % (b"x" * 4_000_000, _EMOJI * 2_000_000)
    ),
    "picture to the bound": lambda n: _result(
        n, b'{"type":"image","mimeType":"image/png","data":"%s"}' % (b"AAAA" * 8_000_000)
    ),
    "structure to the bound": lambda n: _structured(n, b'{"a":[' + b'{"b":{}},' * 66_000 + b"1]}"),
    "texts to the bound": lambda n: _result(n, b",".join([_TEXT] * 60_000)),
}
# odd answers that are read nevertheless, with the text that comes of them
READ: dict[str, tuple[Callable[[Any], bytes], str]] = {
    "other bytes": (lambda n: _result(n, b'{"type":"text","text":"caf\xe9"}'), "caf\ufffd"),
    "half": (lambda n: _result(n, b'{"type":"text","text":"a\\ud83d"}'), "a\ufffd"),
    "odd part": (lambda n: _result(n, b'{"type":"text"},{"type":"text","text":"on"}'), "on"),
    "text as content": (
        lambda n: b'{"jsonrpc":"2.0","id":%d,"result":{"content":"on"}}' % n, "on",
    ),
    "no version": (lambda n: b'{"id":%d,"result":{"content":[%s]}}' % (n, _TEXT), ""),
    "a list as structure": (lambda n: _structured(n, b"[1,2]"), '{"result": [1, 2]}'),
    "odd structure": (lambda n: _structured(n, b'{"a": NaN, "b": 1e999}'), "Infinity"),
    "a large number": (lambda n: _structured(n, b'{"a": ' + b"9" * 5_000 + b"}"), "Infinity"),
}  # fmt: skip


def _answer(request: Any, what: str) -> bytes | None:
    number, method = request.get("id"), request.get("method")
    lists = {**LISTS.get(what, {}), **SOUND.get(what, {})}
    result: dict[str, Any]
    if number is None:
        return None
    if method == "initialize":
        result = {
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
            "serverInfo": {"name": "odd", "version": "1"},
            **{key: lists[key] for key in ("capabilities", "serverInfo") if key in lists},
        }
    elif method == "tools/list":
        result = {
            **_tools(),
            **{key: lists[key] for key in ("tools", "nextCursor") if key in lists},
        }
    elif method == "prompts/list":
        result = {"prompts": lists.get("prompts", [])}
    elif method == "resources/list":
        result = {"resources": lists.get("resources", [])}
    elif method == "resources/templates/list":
        result = {"resourceTemplates": lists.get("resourceTemplates", [])}
    elif method == "tools/call" and request["params"]["name"] == "odd":
        made = {**ANSWERS, **LARGE}.get(what)
        return READ[what][0](number) if made is None else made(number)
    elif method == "tools/call":
        said = request["params"]["arguments"]["text"]
        result = {"content": [{"type": "text", "text": said}]}
    else:
        error = {"code": -32601, "message": "no such method"}
        return json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()


def _serve(what: str, form: str) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["content-length"])
            found = _answer(json.loads(self.rfile.read(size)), what)
            data = found or b""
            if form == "events" and found is not None:
                data = b"event: message\ndata: " + data + b"\n\n"
            kind = "text/event-stream" if form == "events" else "application/json"
            self.send_response(200 if found is not None else 202)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(data)

        def do_GET(self) -> None:
            self.send_response(405)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


def main() -> None:
    what = sys.argv[1]
    if len(sys.argv) > 2:
        _serve(what, sys.argv[2])
        return
    for line in sys.stdin:
        found = _answer(json.loads(line), what)
        if found is not None:
            sys.stdout.buffer.write(found + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
