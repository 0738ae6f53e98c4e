"""Tool servers as values: names, offers, structured values, forms."""

from __future__ import annotations

import re
import sys
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
from tests.support.server_entries import json_of_entries

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
        approval_key(one.binding, replace(tool, schema='{"type": "string"}').digest),
        approval_key(one.binding, replace(tool, title="Read").digest),
        approval_key(one.binding, replace(tool, name="write").digest),
    ]
    assert len({approval_key(one.binding, tool.digest), *others}) == 7
    # a name, a hint and the order of keys change nothing
    ordered = replace(tool, schema='{"properties": {}, "type": "object"}')
    assert ordered.digest == tool.digest
    same = replace(one, name="B", off=("x",))
    assert approval_key(same.binding, replace(tool, reads_only=True).digest) not in others


def test_a_search_finds_tools_by_most_of_its_words() -> None:
    tools = _lists("read_file", "write_file", "list_folder").tools
    assert search_tools(tools, "file write").splitlines()[0].startswith("write_file")
    assert len(search_tools(tools, "").splitlines()) == 3
    assert search_tools(tools, "weather") == "No tool has one of these words."


def test_a_typed_command_is_divided_like_in_a_terminal() -> None:
    # a terminal of Windows knows one kind of quotes
    single = ("'a", "b'") if sys.platform == "win32" else ("a b",)
    assert split_command("npx -y 'a b' \"c d\"") == ("npx", ("-y", *single, "c d"))
    for text in ("", "   ", 'npx "a'):
        with pytest.raises(EnvironmentProblem):
            split_command(text)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:3000/mcp", ""),
        ("http://localhost/mcp", ""),
        ("http://[::1]:3000/mcp", ""),
        ("http://app.localhost/mcp", "app.localhost"),
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


@given(json_of_entries)
def test_any_schema_is_a_form(value: Any) -> None:
    found = fields_of({"properties": value, "required": value})
    assert all(isinstance(one, FormField) for one in found)


@pytest.mark.parametrize("odd", [1 << 63, -(1 << 63), 10**400, 1e300, float("nan"), True, "x"])
def test_a_number_of_a_form_that_no_field_can_have_is_none(odd: object) -> None:
    given = {"type": "integer", "minimum": odd, "maximum": odd, "default": odd}
    number, text = fields_of(
        {"properties": {"n": given, "t": {"type": "string", "minLength": odd, "maxLength": odd}}}
    )
    assert (number.least, number.most) == (None, None)
    assert number.initial is (odd if isinstance(odd, bool | str) else None)
    assert (text.shortest, text.longest) == (0, 0)
