"""Entries of tool servers in files of other programs: ten shapes, gaps, secrets, any text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from headstart.core.errors import EnvironmentProblem
from headstart.core.tool_servers.entry import Variable, check_entry
from headstart.core.tool_servers.imports import read_config
from headstart.tools.places import known_places
from tests.support.server_entries import json_of_entries

LOCAL = {
    "command": "npx",
    "args": ["-y", "a-server", "/my files"],
    "env": {"API_KEY": "k", "L": "x"},
}
SHAPES = {
    "Claude Desktop": json.dumps({"mcpServers": {"files": LOCAL}, "globalShortcut": ""}),
    "Claude Code": json.dumps({"projects": {"/a": {"mcpServers": {"files": LOCAL}}}}),
    "Cursor": json.dumps({"mcpServers": {"files": {**LOCAL, "type": "stdio"}}}),
    "LM Studio": json.dumps({"mcpServers": {"files": LOCAL}}),
    "VS Code": '{\n// mine\n"servers": {"files": ' + json.dumps(LOCAL) + ",},}",
    "VS Code, settings": json.dumps({"editor.x": 1, "mcp": {"servers": {"files": LOCAL}}}),
    "Zed": json.dumps({"theme": "x", "context_servers": {"files": {"source": "custom", **LOCAL}}}),
    "Zed, before": json.dumps({"context_servers": {"files": {"command": {
        "path": "npx", "args": LOCAL["args"], "env": LOCAL["env"],
    }}}}),
    "Codex": (
        'model = "x"\n[mcp_servers.files]\ncommand = "npx"\n'
        'args = ["-y", "a-server", "/my files"]\n[mcp_servers.files.env]\nAPI_KEY = "k"\nL = "x"\n'
    ),
    "OpenCode": json.dumps({"$schema": "x", "mcp": {"files": {
        "type": "local", "command": ["npx", *LOCAL["args"]], "environment": LOCAL["env"],
    }}}),
    "Windsurf": json.dumps({"mcpServers": {"files": {**LOCAL, "disabledTools": []}}}),
    "Cline": json.dumps({"mcpServers": {"files": {**LOCAL, "alwaysAllow": ["x"]}}}),
    "a guide": '"files": ' + json.dumps(LOCAL),
    "bare": json.dumps({"files": LOCAL}),
}  # fmt: skip


@pytest.mark.parametrize("program", SHAPES)
def test_entries_of_each_program_are_found(program: str) -> None:
    [found] = read_config(SHAPES[program]).servers
    assert found.server.name == "files"
    assert found.server.target == "npx -y a-server '/my files'"
    assert found.server.environment == (Variable("API_KEY", "", True), Variable("L", "x"))
    assert found.secrets == {"API_KEY": "k"}
    assert not found.off


@pytest.mark.parametrize(
    ("entry", "url", "secrets"),
    [
        ({"url": "https://a.example/mcp"}, "https://a.example/mcp", {}),
        ({"type": "http", "url": "http://a/mcp", "headers": {"Authorization": "Bearer x"}},
         "http://a/mcp", {"Authorization": "Bearer x"}),
        ({"serverUrl": "https://a.example/mcp"}, "https://a.example/mcp", {}),
        ({"httpUrl": "https://a.example/mcp", "headers": {"X-Api-Key": "k"}},
         "https://a.example/mcp", {"X-Api-Key": "k"}),
        ({"type": "remote", "url": "https://a.example/mcp", "enabled": True},
         "https://a.example/mcp", {}),
    ],
)  # fmt: skip
def test_addresses_are_found(entry: dict[str, Any], url: str, secrets: dict[str, str]) -> None:
    [found] = read_config(json.dumps({"mcpServers": {"one": entry}})).servers
    assert (found.server.url, found.secrets) == (url, secrets)


def test_entries_that_cannot_be_taken_over_say_why() -> None:
    entries = {
        "old": {"type": "sse", "url": "https://a.example/events"},
        "nothing": {"args": ["x"]},
        "odd": {"command": "x", "env": {"A=B": "c"}},
        "off": {"command": "x", "disabled": True},
        "gap": {"command": "x", "env": {"K": "${input:key}"}},
    }
    found = read_config(json.dumps({"mcpServers": entries}))
    assert [name for name, _ in found.left_out] == ["old", "nothing", "odd"]
    assert all(why.text for _, why in found.left_out)
    off, gap = found.servers
    assert off.off
    assert gap.gaps == ("${input:key}",)
    # a placeholder may stand for a secret
    assert gap.server.environment == (Variable("K", "", True),)


def test_what_other_programs_keep_elsewhere_is_a_gap_to_fill_in() -> None:
    codex = (
        '[mcp_servers.web]\nurl = "https://a.example/mcp"\nbearer_token_env_var = "T"\n'
        '[mcp_servers.web.env_http_headers]\nX-Team = "TEAM"\n'
        '[mcp_servers.files]\ncommand = "x"\nenv_vars = ["HOME_KEY"]\n'
    )
    web, files = read_config(codex).servers
    assert [(one.name, one.secret) for one in web.server.headers] == [
        ("X-Team", True), ("Authorization", True),
    ]  # fmt: skip
    assert files.server.environment == (Variable("HOME_KEY", "", True),)
    assert (web.gaps, files.gaps) == (("X-Team", "Authorization"), ("HOME_KEY",))
    assert web.secrets == files.secrets == {}
    opencode = {"mcp": {"mcp": {"type": "local", "command": ["x"], "environment": {
        "A": "{env:A}", "B": "{file:~/b}", "C": "plain",
    }}}}  # fmt: skip
    [found] = read_config(json.dumps(opencode)).servers
    assert found.server.name == "mcp"
    assert found.gaps == ("{env:A}", "{file:~/b}")
    vscode = {"mcp.servers": {"one": {"command": "x", "envFile": "/a/.env"}}}
    [found] = read_config(json.dumps(vscode)).servers
    assert found.gaps == ("/a/.env",)


@pytest.mark.parametrize("name", ["mcp", "servers", "mcpServers", "context_servers"])
def test_a_server_may_have_any_name(name: str) -> None:
    both = {"mcpServers": {name: LOCAL, "other": {"command": "b"}}}
    assert [one.server.name for one in read_config(json.dumps(both)).servers] == [name, "other"]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OPENAPI_MCP_HEADERS", '{"Authorization": "Bearer ntn_12345678"}'),
        ("MONGODB_URI", "mongodb://localhost"),
        ("DATABASE", "postgres://me:pass@host/db"),
        ("PLAIN", "sk-abcdefgh12345678"),
        ("PLAIN", "ghp_abcdefgh12345678"),
    ],
)
def test_secrets_are_told_by_their_names_and_values(variable: str, value: str) -> None:
    entry = {"command": "x", "env": {variable: value, "LEVEL": "debug"}}
    [found] = read_config(json.dumps({"mcpServers": {"one": entry}})).servers
    assert found.secrets == {variable: value}
    assert value not in repr(found.server)
    shown = {"command": "x", "args": ["--header", "Authorization: Bearer abc"]}
    [found] = read_config(json.dumps({"mcpServers": {"one": shown}})).servers
    assert found.public


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, ' + "/" * 4_000,
        '{"a": 1, ' + "/* */ " * 4_000,
        '{"a": "' + "\\" * 9_000,
        "/*" * 9_000,
        "," * 50_000,
        '"' * 50_001,
    ],
)
def test_hostile_texts_are_read_in_time(text: str) -> None:
    with pytest.raises(EnvironmentProblem):
        read_config(text)


@pytest.mark.parametrize("text", ["", "hello", "[]", "{}", '{"theme": "dark"}', "a = 1", "{" * 900])
def test_other_texts_are_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(EnvironmentProblem) as problem:
        read_config(text)
    assert problem.value.told.text


@given(json_of_entries)
def test_any_json_is_read_or_refused(value: Any) -> None:
    try:
        found = read_config(json.dumps(value))
    except EnvironmentProblem:
        return
    for one in found.servers:
        check_entry(one.server)


def test_places_of_ten_programs_are_known_on_every_system() -> None:
    for platform in ("linux", "darwin", "win32"):
        # absolute on the system that this runs on
        found = list(known_places(Path("/home/me").absolute(), {}, platform))
        assert len({program for program, _ in found}) == 10
        assert all(path.is_absolute() for _, path in found)
