"""Tool servers as values: entries of ten programs, names, offers, structured values, forms."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headstart.core.errors import EnvironmentProblem
from headstart.core.tool_servers.entry import (
    ToolServer,
    Variable,
    approval_key,
    check_entry,
    prefix_for,
    split_command,
)
from headstart.core.tool_servers.imports import read_config
from headstart.core.tool_servers.lists import (
    ServerLists,
    ToolDefinition,
    in_old_order,
    merged,
)
from headstart.core.tool_servers.offer import (
    Offers,
    chosen_servers,
    name_of_tool,
    search_tools,
    split_name,
)
from headstart.core.tool_servers.questions import (
    FieldKind,
    FormField,
    fields_of,
    value_problem,
)
from headstart.core.tool_servers.results import with_structured
from headstart.tools.places import known_places

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


@pytest.mark.parametrize("text", ["", "hello", "[]", "{}", '{"theme": "dark"}', "a = 1", "{" * 900])
def test_other_texts_are_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(EnvironmentProblem) as problem:
        read_config(text)
    assert problem.value.told.text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("mcpServers", "servers", "command", "args", "env", "url", "mcp", "x")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_any_json_is_read_or_refused(value: Any) -> None:
    try:
        found = read_config(json.dumps(value))
    except EnvironmentProblem:
        return
    for one in found.servers:
        check_entry(one.server)


def test_places_of_ten_programs_are_known_on_every_system() -> None:
    for platform in ("linux", "darwin", "win32"):
        found = list(known_places(Path("/home/me"), {}, platform))
        assert len({program for program, _ in found}) == 10
        assert all(path.is_absolute() for _, path in found)


# --- names and offers ------------------------------------------------------------------------


@given(st.text(min_size=1, max_size=200), st.text(max_size=40))
def test_names_are_such_that_models_and_servers_take_them(tool: str, server: str) -> None:
    name = name_of_tool(prefix_for(server, ()), tool)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
    assert split_name(name)[0]


@given(st.lists(st.text(max_size=30), max_size=6))
def test_prefixes_are_different(names: list[str]) -> None:
    taken: list[str] = []
    for name in names:
        taken.append(prefix_for(name, taken))
    assert len(set(taken)) == len(taken)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,20}", one) for one in taken)


def _lists(*names: str) -> ServerLists:
    return ServerLists(tuple(ToolDefinition(name, description=f"Does {name}.") for name in names))


def test_tools_with_alike_names_are_all_offered() -> None:
    server = ToolServer("a", "A", prefix="a", command="x")
    lists = _lists("read file", "read/file", "read_file", "x" * 100, "x" * 101)
    found = Offers().all([server], {"a": lists}, ("a",))
    assert [one.tool for one in found] == [tool.name for tool in lists.tools]
    assert len({one.spec.name for one in found}) == 5


def test_a_choice_names_servers_and_single_tools() -> None:
    one = ToolServer("a", "A", prefix="a", command="x", off=("write",))
    two = replace(one, id="b", prefix="b", off=())
    lists = {"a": _lists("read", "write", "list"), "b": _lists("read", "write")}
    offers = Offers()

    def names(*choice: str) -> list[str]:
        return [found.spec.name for found in offers.all([one, two], lists, choice)]

    assert names() == []
    assert names("a") == ["a__read", "a__list"]
    assert names("b", "a") == ["b__read", "b__write", "a__read", "a__list"]
    assert names("b/write") == ["b__write"]
    # what is off everywhere is in no choice; what is gone offers nothing
    assert names("a/write", "gone", "c/x") == []
    assert chosen_servers(("b/write", "b/read", "a")) == ["b", "a"]
    brief = Offers().all([replace(one, brief=True)], lists, ("a",))
    assert [found.spec.name for found in brief] == [
        "a__search_tools", "a__describe_tool", "a__call_tool",
    ]  # fmt: skip


def test_new_tools_come_after_old_ones() -> None:
    before, now = _lists("a", "b", "c"), _lists("d", "c", "a")
    assert [one.name for one in merged(now, before).tools] == ["a", "c", "d"]
    assert in_old_order(now.tools, ()) == now.tools


def test_an_approval_belongs_to_command_and_definition() -> None:
    one = ToolServer("a", "A", command="x", arguments=("y",))
    tool = ToolDefinition("read", description="Reads.")
    others = [
        approval_key(replace(one, arguments=("z",)).binding, tool.digest),
        approval_key(replace(one, arguments=(), url="https://a/mcp").binding, tool.digest),
        approval_key(one.binding, replace(tool, description="Sends.").digest),
        approval_key(one.binding, replace(tool, schema='{"type": "object"}').digest),
        approval_key(one.binding, replace(tool, title="Read").digest),
        approval_key(one.binding, replace(tool, name="write").digest),
    ]
    assert len({approval_key(one.binding, tool.digest), *others}) == 7
    # a name or a hint changes nothing
    same = replace(one, name="B", off=("x",))
    assert approval_key(same.binding, replace(tool, reads_only=True).digest) not in others


def test_a_search_finds_tools_by_most_of_its_words() -> None:
    tools = _lists("read_file", "write_file", "list_folder").tools
    assert search_tools(tools, "file write").splitlines()[0].startswith("write_file")
    assert len(search_tools(tools, "").splitlines()) == 3
    assert search_tools(tools, "weather") == "No tool has one of these words."


def test_a_typed_command_is_divided_like_in_a_terminal() -> None:
    assert split_command("npx -y 'a b' \"c d\"") == ("npx", ("-y", "a b", "c d"))
    for text in ("", "   ", "npx 'a"):
        with pytest.raises(EnvironmentProblem):
            split_command(text)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:3000/mcp", ""),
        ("http://localhost/mcp", ""),
        ("http://[::1]:3000/mcp", ""),
        ("http://app.localhost/mcp", ""),
        ("https://tools.example.org/mcp", "tools.example.org"),
        ("http://192.168.1.5:80/mcp", "192.168.1.5:80"),
        ("http://127.0.0.1.example.org/mcp", "127.0.0.1.example.org"),
    ],
)
def test_another_computer_is_told_from_this_one(url: str, host: str) -> None:
    assert ToolServer("a", "A", url=url).host == host


@pytest.mark.parametrize(
    "server",
    [
        ToolServer("", "A"),
        ToolServer("", "A", command="x", url="https://a/mcp"),
        ToolServer("", "A", url="ftp://a/mcp"),
        ToolServer("", "A", url="https://me:pass@a/mcp"),
        ToolServer("", "A", url="https://a:b/mcp"),
        ToolServer("", "A", command="x", arguments=("a\0b",)),
        ToolServer("", "A", command="x", environment=(Variable("A=B"),)),
        ToolServer("", "A", url="https://a/mcp", headers=(Variable("A B"),)),
        ToolServer("", "A", url="https://a/mcp", headers=(Variable("A\n"),)),
    ],
)
def test_entries_that_cannot_be_used_are_refused(server: ToolServer) -> None:
    with pytest.raises(EnvironmentProblem):
        check_entry(server)


# --- results and forms -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "structured", "count"),
    [
        (['{"a": 1}'], {"a": 1}, 1),
        (['{\n "b": 2, "a": 1}'], {"a": 1, "b": 2}, 1),
        (["5"], {"result": 5}, 1),
        (["Rain."], {"content": "Rain."}, 1),
        (["a", "b"], {"result": ["a", "b"]}, 1),
        (["two", "lines"], {"result": "two\nlines"}, 1),
        ([], {"a": 1}, 1),
        (["A summary."], {"a": 1}, 2),
        (["1"], {"result": True}, 2),
        (["x"], None, 1),
    ],
)
def test_a_structured_value_comes_once(texts: list[str], structured: object, count: int) -> None:
    found = with_structured(texts, structured)
    assert found[: len(texts)] == texts
    assert len(found) == (count if len(texts) < 2 else len(texts))


def test_fields_of_a_form() -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 5},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "share": {"type": "number"},
            "sure": {"type": "boolean", "default": True},
            "colour": {"type": "string", "enum": ["r", "b"], "enumNames": ["red", "blue"]},
            "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}]},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
            "odd": {"type": "object"},
        },
        "required": ["name"],
    }
    found = {field.name: field for field in fields_of(schema)}
    assert [field.kind for field in found.values()] == [
        FieldKind.TEXT, FieldKind.WHOLE, FieldKind.NUMBER, FieldKind.SWITCH,
        FieldKind.CHOICE, FieldKind.CHOICE, FieldKind.CHOICES, FieldKind.TEXT,
    ]  # fmt: skip
    assert found["colour"].options == (("r", "red"), ("b", "blue"))
    assert found["size"].options == (("s", "Small"),)
    assert value_problem(found["name"], None) == "needed"
    assert value_problem(found["name"], "A") == "length"
    assert value_problem(found["name"], "Anna") == ""
    assert value_problem(found["age"], 200) == "range"
    assert value_problem(found["colour"], None) == ""


@given(json_values)
def test_any_schema_is_a_form(value: Any) -> None:
    found = fields_of({"properties": value, "required": value})
    assert all(isinstance(one, FormField) for one in found)
