"""A hub of our own: speaks what the Hugging Face library asks for, with real files, and with faults
where a test wants them.

Files above the threshold are large files: their address answers with a redirection to another host
name, which must not get the user's key. The server has as many threads as connections.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_LARGE = 64 << 10
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_BLOCK = 64 << 10


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one answer. `at`: after so many bytes of it; `value` in the kind's own
    unit: seconds, a status, bytes a second."""

    kind: str
    at: int = 0
    value: float = 0.0


@dataclass
class Repo:
    """A repository: its files, and what the hub says of it beside them."""

    files: dict[str, bytes]
    says: dict[str, Any] = field(default_factory=dict)
    # who may read it: anyone, or who has this token
    token: str = ""
    gated: bool = False
    commit: str = ""

    def __post_init__(self) -> None:
        digest = hashlib.sha1(usedforsecurity=False)
        for path in sorted(self.files):
            digest.update(path.encode() + self.files[path][:4096])
        self.commit = self.commit or digest.hexdigest()


def etag(data: bytes) -> str:
    if len(data) > _LARGE:
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class HubServer:
    """Serves until `close`. `faults` are taken by the next answers with bytes, one each; None is
    an answer without a fault."""

    def __init__(self, repos: Mapping[str, Repo], fault: Callable[[], Fault | None] | None = None):
        self.repos = dict(repos)
        self._etags: dict[tuple[str, str], str] = {}
        self.faults: list[Fault | None] = []
        self._fault = fault
        self._lock = threading.Lock()
        # bytes of files that went out, requests as (method, path, host, has a key)
        self.sent = 0
        self.requests: list[tuple[str, str, str, bool]] = []
        self.api_fault: Fault | None = None
        # bytes a second of each answer; 0: as fast as it goes
        self.rate = 0.0
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.daemon = True
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def endpoint(self) -> str:
        return f"http://localhost:{self.port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def next_fault(self) -> Fault | None:
        with self._lock:
            if self.faults:
                return self.faults.pop(0)
        return self._fault() if self._fault is not None else None

    def count(self, sent: int) -> None:
        with self._lock:
            self.sent += sent

    def etag(self, repo: str, path: str) -> str:
        key = (repo, path)
        if key not in self._etags:
            self._etags[key] = etag(self.repos[repo].files[path])
        return self._etags[key]

    def info(self, repo: str) -> dict[str, Any]:
        found = self.repos[repo]
        siblings: list[dict[str, Any]] = []
        for path, data in found.files.items():
            name = self.etag(repo, path)
            sibling: dict[str, Any] = {"rfilename": path, "size": len(data), "blobId": name}
            if len(data) > _LARGE:
                sibling["lfs"] = {"sha256": name, "size": len(data), "pointerSize": 134}
            siblings.append(sibling)
        return {
            "id": repo,
            "modelId": repo,
            "author": repo.partition("/")[0],
            "sha": found.commit,
            "lastModified": "2026-11-01T10:00:00.000Z",
            "private": bool(found.token) and not found.gated,
            "gated": "manual" if found.gated else False,
            "likes": 10,
            "downloads": 1000,
            "tags": ["gguf", "license:apache-2.0"],
            "siblings": siblings,
            **found.says,
        }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients go away: that is what many tests are about."""


def _handler(hub: HubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def _answer(self) -> None:
            url = urlsplit(self.path)
            path = unquote(url.path)
            host = (self.headers.get("Host") or "").partition(":")[0]
            key = self.headers.get("Authorization", "")
            hub.requests.append((self.command, path, host, bool(key)))
            if path.startswith("/api/"):
                self._api(path, parse_qs(url.query), key)
            elif path.startswith("/bytes/"):
                repo, _, file = path.removeprefix("/bytes/").partition("/-/")
                self._bytes(hub.repos[repo].files[file])
            elif "/resolve/" in path:
                self._resolve(path, key)
            else:
                self._say(404, {}, b"")

        def _say(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def _refused(self, repo: str, key: str) -> bool:
            found = hub.repos.get(repo)
            if found is None:
                self._say(404, {"X-Error-Code": "RepoNotFound"}, b"{}")
                return True
            if found.token and key != f"Bearer {found.token}":
                code = "GatedRepo" if found.gated else "RepoNotFound"
                self._say(403 if found.gated and key else 401, {"X-Error-Code": code}, b"{}")
                return True
            return False

        def _api(self, path: str, query: Mapping[str, list[str]], key: str) -> None:
            fault = hub.api_fault
            if fault is not None:
                headers = {"Retry-After": str(int(fault.at))} if fault.at else {}
                time.sleep(fault.value if fault.kind == "stall" else 0)
                if fault.kind != "stall":
                    self._say(int(fault.value), headers, b"{}")
                    return
            if path == "/api/whoami-v2":
                known = {f"Bearer {repo.token}" for repo in hub.repos.values() if repo.token}
                if key in known:
                    self._json({"name": "ada", "type": "user"})
                else:
                    self._say(401, {}, b"{}")
                return
            rest = path.removeprefix("/api/models").strip("/")
            if rest:
                repo = "/".join(rest.split("/")[:2])
                # everybody may know what a gated one has
                gated = repo in hub.repos and hub.repos[repo].gated
                if gated or not self._refused(repo, key):
                    self._json(hub.info(repo))
                return
            words = query.get("search", [""])[0].casefold().split()
            wanted = query.get("filter", ["gguf"])
            found = [
                hub.info(repo)
                for repo in hub.repos
                if all(word in repo.casefold() for word in words)
            ]
            found = [info for info in found if all(tag in info["tags"] for tag in wanted)]
            self._json(found)

        def _json(self, value: object) -> None:
            body = json.dumps(value).encode()
            self._say(200, {"Content-Type": "application/json"}, body)

        def _resolve(self, path: str, key: str) -> None:
            front, _, rest = path.strip("/").partition("/resolve/")
            _revision, _, file = rest.partition("/")
            if self._refused(front, key):
                return
            data = hub.repos[front].files.get(file)
            if data is None:
                self._say(404, {"X-Error-Code": "EntryNotFound"}, b"")
                return
            name = hub.etag(front, file)
            headers = {"X-Repo-Commit": hub.repos[front].commit, "ETag": f'"{name}"'}
            if len(data) <= _LARGE:
                if self.command == "HEAD":
                    self.send_response(200)
                    for header, value in headers.items():
                        self.send_header(header, value)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                else:
                    self._bytes(data, headers)
                return
            headers |= {"X-Linked-Etag": f'"{name}"', "X-Linked-Size": str(len(data))}
            headers["Location"] = f"http://127.0.0.1:{hub.port}/bytes/{front}/-/{file}"
            self._say(302, headers, b"")

        def _bytes(self, data: bytes, headers: Mapping[str, str] | None = None) -> None:
            fault = hub.next_fault() or Fault("")
            asked = _RANGE.fullmatch(self.headers.get("Range", ""))
            start, end = 0, len(data)
            if asked and fault.kind != "no-ranges":
                start = int(asked[1])
                end = min(end, int(asked[2]) + 1) if asked[2] else end
            if fault.kind == "status":
                extra = {"Retry-After": str(fault.at)} if fault.at else {}
                self._say(int(fault.value), extra, b"trouble")
                return
            if fault.kind == "page":
                self._say(200, {"Content-Type": "text/html"}, b"<html>Please log in</html>")
                return
            if fault.kind == "redirect":
                self._say(302, {"Location": self.path}, b"")
                return
            if start >= len(data) and data:
                self._say(416, {"Content-Range": f"bytes */{len(data)}"}, b"")
                return
            self._stream(data, start, end, fault, headers or {}, bool(asked))

        def _stream(
            self, data: bytes, start: int, end: int, fault: Fault, headers: Mapping[str, str],
            asked: bool,
        ) -> None:  # fmt: skip
            partial = asked and fault.kind != "no-ranges"
            self.send_response(206 if partial else 200)
            for header, value in headers.items():
                self.send_header(header, value)
            if partial:
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
            self.send_header("Content-Length", str(end - start))
            self.end_headers()
            stop = min(end, start + fault.at) if fault.kind in ("cut", "stall", "drip") else end
            self._send(data, start, stop, fault)
            if fault.kind == "cut":
                self.connection.close()
                self.close_connection = True
            elif fault.kind == "stall":
                time.sleep(fault.value)
                self.close_connection = True
            elif fault.kind == "drip":
                self._drip(data, stop, end, fault.value)

        def _send(self, data: bytes, start: int, end: int, fault: Fault) -> None:
            wrong = start + fault.at if fault.kind == "wrong" else -1
            began = time.monotonic()
            for at in range(start, end, _BLOCK):
                block = data[at : min(at + _BLOCK, end)]
                if at <= wrong < at + len(block):
                    changed = bytearray(block)
                    changed[wrong - at] ^= 0x55
                    block = bytes(changed)
                self.wfile.write(block)
                hub.count(len(block))
                if hub.rate:
                    due = (at + len(block) - start) / hub.rate
                    time.sleep(max(0.0, due - (time.monotonic() - began)))

        def _drip(self, data: bytes, start: int, end: int, rate: float) -> None:
            step = max(1, int(rate / 20))
            for at in range(start, end, step):
                self.wfile.write(data[at : at + step])
                hub.count(step)
                time.sleep(0.05)

    return Handler
