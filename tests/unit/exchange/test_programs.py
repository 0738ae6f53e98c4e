"""Files of many chat programs: each is known, comes in whole, and what is left out is told."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from headstart.core.chats.parts import (
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from headstart.core.chats.values import Role
from headstart.exchange.fields import time_of
from headstart.exchange.tree import ChatNode, ExchangeChat
from tests.support import program_files as files
from tests.support.conversation_files import dumps
from tests.support.conversations import read_all, read_bytes

WORD = re.compile(r"\bw\d+\b")


def everything(chats: list[ExchangeChat]) -> str:
    words = [chat.options.system_prompt or "" for chat in chats]
    return "\n".join(
        words + [part.text for chat in chats for node in chat.nodes for part in node.parts]
    )


def shape(nodes: list[ChatNode]) -> list[tuple[str, str]]:
    """Each message as its author, and its parts as words with the kind before them."""
    return [
        (
            node.role.value,
            " ".join(f"{part.kind.value}:{' '.join(part.text.split())}" for part in node.parts),
        )
        for node in nodes
    ]


@pytest.mark.parametrize("name", list(files.PROGRAMS))
def test_a_file_is_known_and_comes_in_whole(name: str, tmp_path: Path) -> None:
    source, make = files.PROGRAMS[name]
    data = make()
    chats, report = read_bytes(data, tmp_path, "whatever")
    assert {chat.source for chat in chats} == {source}, report.lines
    assert not set(report.counts) - {"import-lines-left-out"}, report.lines
    planted = set(WORD.findall(data.decode()))
    assert planted
    assert planted == set(WORD.findall(everything(chats)))
    for chat in chats:
        assert chat.branch()
        roles = [node.role for node in chat.branch()]
        assert all(one is not other for one, other in pairwise(roles))


_BRANCHES = {
    "DeepSeek": [("user", "file:w2 text:w1"), ("assistant", "reasoning:w4 text:w5")],
    "Grok": [("user", "text:w1"), ("assistant", "reasoning:w3 text:w2")],
    "Le Chat": [("user", "text:w1"), ("assistant", "text:w3"), ("user", "text:w4")],
    "LibreChat": [
        ("user", "text:w1"),
        ("assistant", 'reasoning:w3 tool call:{"q": "w4"} tool result:w5 text:w6'),
    ],
    "LibreChat, nested": [
        ("user", "text:w1"),
        ("assistant", 'reasoning:w3 tool call:{"q": "w4"} tool result:w5 text:w6'),
    ],
    "SillyTavern": [
        ("assistant", "text:w1"),
        ("user", "text:w2"),
        ("assistant", "reasoning:w5 text:w3"),
    ],
    "character card": [("assistant", "text:w3")],
    "Claude Code": [
        ("user", "text:w1"),
        ("assistant", 'reasoning:w2 tool call:{"path": "w3"} tool result:w4 text:w5'),
    ],
    "Codex": [
        ("user", "text:w1"),
        ("assistant", 'reasoning:w2 tool call:{"cmd": "w3"} tool result:w4 text:w5'),
    ],
    "Qwen": [("user", "text:w1"), ("assistant", "reasoning:w2 text:w3")],
    "aider": [
        ("user", "text:w1 w2"), ("assistant", "text:w3"), ("user", "text:w4"),
        ("assistant", "text:w5"),
    ],
    "Zed, text": [("user", "text:é w1"), ("assistant", "text:w2")],
    "Gemini page": [
        ("user", "text:w1"), ("assistant", "text:w2"),
        ("user", "text:w3"), ("assistant", "text:w4"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", list(_BRANCHES))
def test_the_branch_on_show_is_the_one_that_was(name: str, tmp_path: Path) -> None:
    (chat, *_), _report = read_bytes(files.PROGRAMS[name][1](), tmp_path, "whatever")
    assert shape(chat.branch()) == _BRANCHES[name]


@pytest.mark.parametrize(
    ("name", "versions"),
    [("DeepSeek", 2), ("Grok", 2), ("HuggingChat", 2), ("LibreChat", 2), ("SillyTavern", 2)],
)
def test_versions_of_a_reply_are_branches(name: str, versions: int, tmp_path: Path) -> None:
    (chat,), _report = read_bytes(files.PROGRAMS[name][1](), tmp_path, "whatever")
    assert chat.branches() == versions


def test_facts_of_a_chat_come_along(tmp_path: Path) -> None:
    def one(name: str) -> ExchangeChat:
        return read_bytes(files.PROGRAMS[name][1](), tmp_path, "whatever")[0][0]

    libre, grok, typing = one("LibreChat"), one("Grok"), one("TypingMind")
    assert (libre.title, libre.options.system_prompt) == ("Fjords", "w7")
    assert libre.model is not None
    assert libre.model.name == "gpt-4o"
    assert grok.nodes[0].created_at == 1_769_940_001_000
    assert typing.folder == "Kitchen"
    assert one("Claude Code").title == "Rename"
    assert one("Perplexity").branch()[1].parts == (TextPart("w2 [1](https://example.org/a)."),)


def test_results_of_tools_belong_to_the_reply_and_have_their_name(tmp_path: Path) -> None:
    (chat,), _report = read_bytes(files.anthropic(), tmp_path)
    question, reply, picture = chat.branch()
    assert [type(part) for part in reply.parts] == [
        ReasoningPart, TextPart, ToolCallPart, ToolResultPart,
    ]  # fmt: skip
    assert [part.name for part in reply.parts if isinstance(part, ToolResultPart)] == ["look"]
    assert [type(part) for part in picture.parts] == [ImagePart]
    assert (question.role, picture.role) == (Role.USER, Role.USER)


@pytest.mark.parametrize(
    "piece",
    [
        {"type": "hologram", "data": "x"},
        {"type": "text"},
        {"type": "image", "url": "https://example.org/a.png"},
    ],
)
def test_what_cannot_come_in_is_told(piece: dict[str, str], tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "a b"}, {"role": "assistant", "content": [piece]}]
    if piece == {"type": "text"}:
        messages[1] = {"role": "assistant", "payload": "two words", "content": ""}
    chats, report = read_bytes(dumps({"messages": messages}), tmp_path)
    assert len(chats) == 1
    assert report.counts.total() == 1, report.lines


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (files.lines({"type": "rain", "at": 1}, {"type": "rain", "at": 2}), "a.jsonl", "known"),
        (dumps({"anything": [1, 2]}), "a.json", "known"),
        (dumps([1, 2, 3]), "a.json", "known"),
        (dumps({"messages": [{"role": "user", "content": "x"}]})[:-4], "a.json", "unreadable"),
        (b"\x1f\x8b\x08\0", "a.json", "known"),
        (b"no JSON at all", "a.json", "unreadable"),
        (b"<html><script>var jsonData = [];</script>", "chat.html", "page"),
    ],
)  # fmt: skip
def test_only_what_is_damaged_is_called_so(
    data: bytes, name: str, code: str, tmp_path: Path
) -> None:
    chats, report = read_bytes(data, tmp_path, name)
    assert not chats
    wanted = {"known": "import-not-known", "unreadable": "import-unreadable", "page": "import-page"}
    assert set(report.counts) == {wanted[code]}


def test_a_project_has_its_instructions_and_documents(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    project = {"uuid": "p", "name": "Travel", "prompt_template": "w1",
               "docs": [{"filename": "plan.md", "content": "w2"}]}  # fmt: skip
    message = {"uuid": "m", "sender": "human", "content": [{"type": "text", "text": "w3"}]}
    chat = {"uuid": "c", "name": "Ferry", "project_uuid": "p", "chat_messages": [message]}
    (folder / "projects.json").write_bytes(dumps([project]))
    (folder / "conversations.json").write_bytes(dumps([chat]))
    (found,), report = read_all(folder, tmp_path)
    assert not report.lines
    assert (found.folder, found.options.system_prompt) == ("Travel", "w1")
    assert shape(found.branch()) == [("user", "file:w2 text:w3")]


def test_marks_of_sources_become_links_or_go(tmp_path: Path) -> None:
    mark = "\ue200cite\ue202turn0search1\ue201"
    place = '\ue200entity\ue202["city","Oslo"]\ue201'
    old = "\u30104\u2020source\u3011"
    alt = {"matched_text": mark, "alt": "([a](https://a.example))", "items": []}
    node = files_node(f"One.{mark} In {place}. Two{old}.", {"content_references": [alt]})
    chat = {"id": "c", "mapping": {"1": node}, "current_node": "1"}
    (found,), _report = read_bytes(dumps([chat]), tmp_path)
    assert found.branch()[0].parts == (TextPart("One.([a](https://a.example)) In Oslo. Two."),)


def files_node(text: str, metadata: dict[str, object]) -> dict[str, object]:
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": "assistant"}, "content": content, "metadata": metadata}
    return {"id": "1", "parent": None, "children": [], "message": message}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_an_export_in_another_unicode_comes_in(encoding: str, tmp_path: Path) -> None:
    data = files.typingmind().decode().replace("w2", "wörter 語").encode(encoding)
    (chat,), report = read_bytes(data, tmp_path, "a.json")
    assert not report.lines
    assert chat.branch()[1].parts == (TextPart("wörter 語"),)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("January 1, 2026 10:01am", "2026-01-01T10:01:00Z"),
        ("2026-01-01@10h00m05s", "2026-01-01T10:00:05Z"),
        ("2/3/2026, 1:05:09 PM", "2026-02-03T13:05:09Z"),
        ("02/03/2026, 13:05:09", "2026-03-02T13:05:09Z"),
        ("13/2/2026, 10:00:00", "2026-02-13T10:00:00Z"),
        ("2026/3/1 10:00:00", "2026-03-01T10:00:00Z"),
        ("Mar 1, 2026, 12:00:00\u202fAM UTC", "2026-03-01T00:00:00Z"),
        ("Sun, 1 Mar 2026 10:00:00 GMT", "2026-03-01T10:00:00Z"),
        ("yesterday", ""),
        ("Foo 1 2026 10:00", ""),
    ],
)
def test_dates_as_programs_write_them(text: str, moment: str) -> None:
    assert time_of(text) == time_of(moment)
    assert bool(time_of(text)) == bool(moment)


def test_a_page_beside_the_conversations_is_not_told(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "chat.html").write_bytes(b"<html><script>var jsonData = [];</script>")
    (folder / "conversations.json").write_bytes(files.deepseek())
    found, report = read_all(folder, tmp_path)
    assert (len(found), report.lines) == (1, [])
