"""Entries for tool servers in the configuration files of other programs. Pure.

Files are recognized by content. Each found entry is shown whole before it is taken over; nothing
starts.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told
from headstart.core.tool_servers.entry import ToolServer, Variable, check_entry, looks_secret

# characters of a file, entries of one, and levels of objects that are looked through
_LONGEST, _MOST, _DEEPEST = 4_000_000, 500, 4
# placeholders of VS Code, OpenCode and shells
_GAP = re.compile(r"\$\{[^}]{1,200}\}|\{(?:env|file):[^}]{1,200}\}|^\$[A-Za-z_]\w{0,100}$")
# keys under which programs keep servers
_KEYS = ("mcpServers", "context_servers", "mcp_servers", "mcp.servers", "servers", "mcp")
# each takes time in proportion to the text
_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(r'"(?:\\.|[^"\\\n])*+"?|,(?=\s*[}\]])')


class FoundServer(Struct, frozen=True):
    """An entry of a file. `server` has no id, no prefix, and no values of secrets: these are in
    `secrets` by name. `off`: it is switched off there. `gaps`: placeholders to be filled in.
    `public`: its command or address holds what looks like a secret, which the settings then hold.
    """

    server: ToolServer
    secrets: dict[str, str] = {}
    off: bool = False
    gaps: tuple[str, ...] = ()
    public: bool = False


class FoundServers(Struct, frozen=True):
    """The entries of a file, and those that cannot be taken over, by name with the reason."""

    servers: tuple[FoundServer, ...] = ()
    left_out: tuple[tuple[str, Told], ...] = ()


def read_config(text: str) -> FoundServers:
    """The entries of a file or a pasted piece of one; raises EnvironmentProblem where there are
    none."""
    if len(text) > _LONGEST:
        raise EnvironmentProblem("tool-config-unreadable")
    value = _parsed(text.lstrip("\ufeff"))
    found: list[FoundServer] = []
    left_out: list[tuple[str, Told]] = []
    for name, entry in _entries(value):
        if len(found) + len(left_out) >= _MOST:
            break
        try:
            found.append(_entry(name, entry))
        except EnvironmentProblem as problem:
            left_out.append((name, problem.told))
    if not found and not left_out:
        raise EnvironmentProblem("tool-config-empty")
    return FoundServers(tuple(_each_once(found)), tuple(left_out))


def _parsed(text: str) -> Any:
    for parse in (json.loads, _with_comments, tomllib.loads):
        try:
            found = parse(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    # a piece without its braces, as it stands in a guide
    try:
        return _with_comments("{" + text + "}")
    except (ValueError, RecursionError):
        raise EnvironmentProblem("tool-config-unreadable") from None


def _with_comments(text: str) -> Any:
    """JSON with comments and trailing commas."""
    for pattern in (_COMMENT, _COMMA):
        text = pattern.sub(lambda it: it[0] if it[0].startswith('"') else " ", text)
    return json.loads(text)


def _entries(value: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All entries at any level that programs use, such as under projects."""
    if depth == 0 and _is_entry(value):
        yield "", value
        return
    known = [key for key in _KEYS if isinstance(value.get(key), dict)]
    for key in known:
        inside = value[key]
        if any(isinstance(inside.get(one), dict) and not _is_entry(inside[one]) for one in _KEYS):
            # VS Code's settings: mcp, then servers
            yield from _entries(inside, depth + 1)
            continue
        for name, entry in inside.items():
            if isinstance(entry, dict):
                yield str(name), entry
    if not known and depth == 0 and value and all(map(_is_entry, value.values())):
        yield from value.items()
        return
    if depth < _DEEPEST:
        for key, inside in value.items():
            if key not in known and isinstance(inside, dict):
                yield from _entries_below(inside, depth + 1)


def _entries_below(value: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Entries under keys that are surely theirs: `servers` alone may be anything here."""
    inside = value.get("mcpServers")
    if isinstance(inside, dict):
        for name, entry in inside.items():
            if isinstance(entry, dict):
                yield str(name), entry
    if depth < _DEEPEST:
        for key, one in value.items():
            if key != "mcpServers" and isinstance(one, dict):
                yield from _entries_below(one, depth + 1)


def _is_entry(value: object) -> bool:
    return isinstance(value, dict) and any(
        isinstance(value.get(key), str | list) for key in ("command", "url", "serverUrl", "httpUrl")
    )


def _entry(name: str, given: Mapping[str, Any]) -> FoundServer:
    command, arguments = given.get("command"), given.get("args", given.get("arguments"))
    environment = given.get("env", given.get("environment"))
    if isinstance(command, dict):
        # Zed, before 2026
        arguments, environment = command.get("args"), command.get("env")
        command = command.get("path")
    words = [str(one) for one in command] if isinstance(command, list) else []
    if words:
        command, arguments = words[0], [*words[1:], *_list(arguments)]
    url = next((given[key] for key in ("url", "serverUrl", "httpUrl") if _filled(given, key)), "")
    kind = str(given.get("type", given.get("transport", ""))).casefold()
    if url and not command and (kind == "sse" or str(url).rstrip("/").endswith("/sse")):
        raise EnvironmentProblem("tool-server-sse")
    headers = given.get("headers", given.get("http_headers"))
    environment, headers = _variables(environment), _variables(headers)
    token = given.get("bearer_token")
    if isinstance(token, str) and token:
        headers = {**headers, "Authorization": f"Bearer {token}"}
    # values that the program took from its own environment, which no server gets here
    missing = _named_elsewhere(given)
    headers = {**headers, **{name: "" for name in missing.headers if name not in headers}}
    environment = {
        **environment, **{name: "" for name in missing.environment if name not in environment},
    }  # fmt: skip
    text = command if isinstance(command, str) else ""
    target = "" if text else str(url)
    server = ToolServer(
        id="",
        name=(name or _name_of(text, _list(arguments), target))[:100],
        command=text,
        arguments=() if target else tuple(_list(arguments)),
        folder=str(given.get("cwd") or "") if not target else "",
        environment=() if target else tuple(_without_value(environment)),
        url=target,
        headers=tuple(_without_value(headers)) if target else (),
    )
    check_entry(server)
    values = headers if target else environment
    secrets = {one.name: values[one.name] for one in server.variables if one.secret}
    secrets = {name: value for name, value in secrets.items() if value}
    off = given.get("disabled") is True or given.get("enabled") is False
    texts = [server.command, *server.arguments, server.folder, server.url, *values.values()]
    found = [gap for one in texts for gap in _GAP.findall(one)]
    gaps = tuple(dict.fromkeys([*found, *missing.all]))
    public = any(looks_secret("", one) for one in (*server.arguments, server.url))
    return FoundServer(server, secrets, off, gaps, public)


class _Missing(Struct):
    """Names of variables and headers whose values are elsewhere, and a file with more."""

    environment: list[str]
    headers: list[str]
    file: str = ""

    @property
    def all(self) -> list[str]:
        return [*self.environment, *self.headers, *filter(None, (self.file,))]


def _named_elsewhere(given: Mapping[str, Any]) -> _Missing:
    """Codex names variables of its environment, VS Code and Cursor a file."""
    environment = [str(one) for one in _list(given.get("env_vars")) if one]
    named = given.get("env_http_headers")
    headers = [str(name) for name in named] if isinstance(named, dict) else []
    if _filled(given, "bearer_token_env_var"):
        headers.append("Authorization")
    file = given.get("envFile")
    return _Missing(environment, headers, file if isinstance(file, str) else "")


def _without_value(values: Mapping[str, str]) -> list[Variable]:
    return [
        Variable(name, "", True)
        if looks_secret(name, value) or not value or _GAP.search(value)
        else Variable(name, value)
        for name, value in values.items()
    ]


def _filled(given: Mapping[str, Any], key: str) -> bool:
    return isinstance(given.get(key), str) and bool(given[key].strip())


def _list(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(one) for one in value] if isinstance(value, list) else []


def _variables(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {
        str(name): one if isinstance(one, str) else json.dumps(one)
        for name, one in value.items()
        if one is not None
    }


def _name_of(command: str, arguments: list[str], url: str) -> str:
    """A name for an entry that has none: its package, its program or its host."""
    if url:
        return url.partition("://")[2].partition("/")[0]
    words = [one for one in arguments if not one.startswith("-")]
    last = (words[0] if words else command).replace("\\", "/").rstrip("/")
    return last.rpartition("/")[2].partition("@")[0] or command


def _each_once(found: list[FoundServer]) -> list[FoundServer]:
    """The same command under several projects is one entry."""
    kept: dict[tuple[str, str], FoundServer] = {}
    for one in found:
        kept.setdefault((one.server.name, one.server.binding), one)
    return list(kept.values())
