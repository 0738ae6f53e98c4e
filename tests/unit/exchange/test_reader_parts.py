"""Thoughts, tools, images and files of formats that have them in a way of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.core.chats.parts import (
    FilePart,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from headstart.core.errors import EnvironmentProblem
from headstart.exchange.fields import Fields
from headstart.exchange.readers.common import each
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat
from tests.support import conversation_files as files
from tests.support.conversations import read_all, read_bytes
from tests.support.program_files import PICTURE, lines
from tests.unit.exchange.test_readers import one, texts


def test_lm_studio_thinks_in_blocks_and_calls_tools(tmp_path: Path) -> None:
    def block(*content: object, **more: object) -> dict[str, object]:
        return {"type": "contentBlock", "content": content, **more}

    call = {"type": "toolCallRequest", "callId": "t", "name": "look", "parameters": {"q": 1}}
    inside = json.dumps([{"type": "text", "text": "found"}])
    result = {"type": "toolCallResult", "toolCallId": "t", "content": inside}
    image = {"type": "file", "fileIdentifier": "17.png", "fileType": "image"}
    steps = [
        block({"type": "text", "text": "Hm."}, style={"type": "thinking", "ended": True}),
        block(call),
        {"type": "toolStatus", "callId": "t"},
        block(result, role="tool"),
        block({"type": "text", "text": "So."}),
    ]
    words = {"type": "text", "text": "Q"}
    question = {"type": "singleStep", "role": "user", "content": [words, image]}
    reply = {"type": "multiStep", "role": "assistant", "steps": steps}
    chat = {"name": "C", "lastUsedModel": {}, "messages": [
        {"versions": [question]}, {"versions": [reply]}]}  # fmt: skip
    folder = tmp_path / "lmstudio"
    (folder / "user-files").mkdir(parents=True)
    (folder / "user-files/17.png").write_bytes(files.png())
    (folder / "1.conversation.json").write_bytes(files.dumps(chat))
    (found,), report = read_all(folder, tmp_path)
    assert not report.lines
    asked, said = found.branch()
    assert [type(part) for part in asked.parts] == [TextPart, ImagePart]
    assert said.parts == (
        ReasoningPart("Hm."),
        ToolCallPart("t", "look", '{"q": 1}'),
        ToolResultPart("t", "look", "found"),
        TextPart("So."),
    )


def test_jan_has_reasoning_images_and_tools(tmp_path: Path) -> None:
    def line(key: str, role: str, content: list[object], **metadata: object) -> dict[str, object]:
        return {"id": key, "thread_id": "t", "role": role, "content": content,
                "created_at": int(key), "metadata": metadata}  # fmt: skip

    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
    thought = {"type": "reasoning", "text": {"value": "Hm."}}
    words = {"type": "text", "text": {"value": "So."}}
    call = {"id": "c", "function": {"name": "wind", "arguments": "{}"}}
    tools = [{"tool": call, "response": {"content": [{"type": "text", "text": "5 m/s"}]}}]
    data = lines(
        line("1", "user", [image]), line("2", "assistant", [thought, words], tool_calls=tools)
    )
    chat = one(data, tmp_path)
    assert [type(part) for part in chat.branch()[0].parts] == [ImagePart]
    assert chat.branch()[1].parts == (
        ReasoningPart("Hm."), ToolCallPart("c", "wind", "{}"), ToolResultPart("c", "wind", "5 m/s"),
        TextPart("So."),
    )  # fmt: skip


def test_ai_studio_holds_files_and_code(tmp_path: Path) -> None:
    chunks = [
        {"role": "user", "text": "Q"},
        {"role": "user", "inlineImage": {"mimeType": "image/png", "data": PICTURE}},
        {"role": "model", "executableCode": {"language": "PYTHON", "code": "1 + 1"}},
        {"role": "model", "codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
        {"role": "model", "text": "Two."},
        {"role": "model", "hologram": {"x": 1}},
    ]
    found, report = read_bytes(
        files.dumps({"chunkedPrompt": {"chunks": chunks, "pendingInputs": [{"text": "later"}]}}),
        tmp_path,
    )
    asked, said = found[0].branch()
    assert [type(part) for part in asked.parts] == [TextPart, ImagePart]
    assert said.parts == (
        ToolCallPart("", "python", "1 + 1"), ToolResultPart("", "code", "2"), TextPart("Two."),
    )  # fmt: skip
    assert report.counts == {"import-piece-unknown": 1, "import-unsent": 1}


def test_claude_has_images_voices_and_sources(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "data": PICTURE}}
    cited = {"type": "text", "text": "At nine. Or ten.", "citations": [
        {"end_index": 8, "details": {"url": "https://a.example/x", "type": "web"}}]}  # fmt: skip
    messages = [
        {"uuid": "1", "sender": "human", "content": [{"type": "voice_note", "text": "V"}]},
        {"uuid": "2", "sender": "assistant", "content": [cited, image, {"type": "hologram"}]},
    ]
    found, report = read_bytes(files.dumps([{"uuid": "c", "chat_messages": messages}]), tmp_path)
    asked, said = found[0].branch()
    assert asked.parts == (TextPart("V"),)
    assert said.parts[0] == TextPart("At nine. ([a.example](https://a.example/x)) Or ten.")
    assert isinstance(said.parts[1], ImagePart)
    assert report.counts == {"import-piece-unknown": 1}


@pytest.mark.parametrize("quotes", [0, 1, 2])
def test_open_webui_quotes_arguments_more_than_once(quotes: int, tmp_path: Path) -> None:
    arguments = '{"q": 1}'
    for _ in range(quotes):
        arguments = json.dumps(arguments)
    chat = files.openwebui()
    reply = chat["chat"]["history"]["messages"]["a"]
    attribute = arguments.replace("&", "&amp;").replace('"', "&quot;")
    reply["content"] = (
        f'<details type="tool_calls" id="c" name="look" arguments="{attribute}" result="r">\n'
        "<summary>x</summary>\n</details>\nSo."
    )
    found = one(files.dumps([chat]), tmp_path)
    parts = [part for node in found.nodes for part in node.parts]
    assert ToolCallPart("c", "look", '{"q": 1}') in parts


def test_takeout_in_other_languages(tmp_path: Path) -> None:
    def record(title: str, minute: int) -> dict[str, object]:
        return {"header": "Gemini-Apps", "title": title, "time": f"2026-03-01T10:{minute:02}:00Z",
                "safeHtmlItem": [{"html": "<p>A</p>"}]}  # fmt: skip

    german = one(files.dumps([record("Eingegebener Prompt: Wie lang?", 1)]), tmp_path)
    assert texts(german.branch())[0] == "Wie lang?"
    other = [record(f"Kysymys kirjattu: {word}", at) for at, word in enumerate("abc")]
    assert texts(one(files.dumps(other), tmp_path).branch())[::2] == ["a", "b", "c"]


@pytest.mark.logs("the conversations of a file could not be told apart")
def test_conversations_before_a_fault_of_ours_come_in() -> None:
    def found() -> Iterator[Fields]:
        yield Fields({"title": "first"})
        raise TypeError("ours")

    report = Report()
    made = each(
        found(),
        lambda fields: ExchangeChat("list", "1", fields.text("title"), ()),
        report,
        "a.json",
    )
    assert [chat.title for chat in made] == ["first"]
    assert [line.why.code for line in report.lines] == ["import-unreadable"]


def test_a_problem_of_the_surroundings_ends_the_import() -> None:
    def found() -> Iterator[Fields]:
        yield Fields({})
        raise EnvironmentProblem("import-unreadable")

    with pytest.raises(EnvironmentProblem):
        list(each(found(), lambda _: None, Report(), "a.json"))


def test_a_page_that_only_speaks_of_cells_is_told(tmp_path: Path) -> None:
    found, report = read_bytes(b"<p>Gemini has an outer-cell</p>", tmp_path, "MyActivity.html")
    assert not found
    assert report.counts


def test_one_file_of_an_export_has_what_lies_beside_it_and_nothing_else(tmp_path: Path) -> None:
    """As a file dialog gives it, from a folder that the export was unpacked into."""
    folder = tmp_path / "Downloads"
    folder.mkdir()
    (folder / "file-AAAA-recipe.txt").write_text("Two eggs.", encoding="utf-8")
    (folder / "secret.txt").write_text("My own.", encoding="utf-8")
    attachments = [
        {"id": "file-AAAA", "name": "recipe.txt", "mime_type": "text/plain"},
        {"id": "secret.txt", "name": "secret.txt", "mime_type": "text/plain"},
    ]
    question = {
        "id": "m", "author": {"role": "user"}, "metadata": {"attachments": attachments},
        "content": {"content_type": "text", "parts": ["What is it?"]},
    }  # fmt: skip
    chat = {
        "id": "c", "title": "Recipe", "current_node": "b",
        "mapping": {"a": {"id": "a", "children": ["b"]},
                    "b": {"id": "b", "parent": "a", "children": [], "message": question}},
    }  # fmt: skip
    path = folder / "conversations.json"
    path.write_bytes(files.dumps([chat]))
    (found,), report = read_all(path, tmp_path)
    (asked,) = found.branch()
    assert [part.name for part in asked.parts if isinstance(part, FilePart)] == ["recipe.txt"]
    assert ["secret.txt" in str(line) for line in report.lines] == [True]


def test_another_programs_file_beside_the_chosen_one_is_not_told(tmp_path: Path) -> None:
    folder = tmp_path / "Downloads"
    folder.mkdir()
    (folder / "projects.json").write_bytes(b'{"broken": [1, 2')
    chat = {"uuid": "c", "name": "Ferry", "chat_messages": [
        {"uuid": "m", "sender": "human", "text": "When does it leave?"}]}  # fmt: skip
    path = folder / "conversations.json"
    path.write_bytes(files.dumps([chat]))
    found, report = read_all(path, tmp_path)
    assert [one.title for one in found] == ["Ferry"]
    assert not report.lines
