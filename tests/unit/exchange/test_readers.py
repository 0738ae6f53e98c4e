"""Each format as it is found in the wild, and what comes in of it."""

from __future__ import annotations

import json
import zipfile
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
from headstart.core.chats.values import FinishReason, MessageStatus, Role
from headstart.exchange.tree import ChatNode, ExchangeChat
from tests.support import conversation_files as files
from tests.support.conversations import read_all, read_bytes


def one(data: bytes, folder: Path, name: str = "file") -> ExchangeChat:
    found, report = read_bytes(data, folder, name)
    assert len(found) == 1, (found, report.lines)
    return found[0]


def texts(nodes: list[ChatNode]) -> list[str]:
    return [
        "".join(part.text for part in node.parts if isinstance(part, TextPart)) for node in nodes
    ]


@pytest.mark.parametrize("kind", list(files.FILES))
def test_every_format_is_known_by_its_content(kind: str, tmp_path: Path) -> None:
    found, report = read_bytes(files.FILES[kind](), tmp_path, "whatever")
    assert {conversation.source for conversation in found} == {kind}
    assert "import-not-known" not in report.counts
    for conversation in found:
        ids = [node.id for node in conversation.nodes]
        assert len(set(ids)) == len(ids)
        assert all(node.parent is None or node.parent in ids for node in conversation.nodes)
        assert conversation.branch()


def test_chatgpt_keeps_versions_thoughts_and_calls(tmp_path: Path) -> None:
    chat = one(files.dumps([files.chatgpt()]), tmp_path)
    assert (chat.title, chat.pinned, chat.updated_at) == (
        "A vector, please",
        True,
        1_700_000_005_250,
    )
    branch = chat.branch()
    question, reply, thanks = branch
    assert texts([question]) == [f"How do I make a vector?\n\n{files.FENCE}"]
    assert [part.kind.value for part in reply.parts] == [
        "reasoning", "tool call", "tool result", "text",
    ]  # fmt: skip
    assert reply.parts[0] == ReasoningPart("Looking\nA vector is a list.")
    assert reply.parts[1] == ToolCallPart("c2", "python", "print(1)")
    assert reply.parts[2] == ToolResultPart("o2", "python", "1")
    assert texts([reply, thanks]) == [f"The second answer.\n\n{files.LATEX}", "Thanks"]
    assert reply.model is not None
    assert reply.model.name == "gpt-5"
    (other,) = chat.other_branches(branch)
    assert texts(other) == ["The first answer."]


@pytest.mark.parametrize("form", ["array", "object", "shards", "zip"])
def test_chatgpt_comes_in_several_wrappings(form: str, tmp_path: Path) -> None:
    first, second = files.chatgpt(), files.chatgpt(conversation_id="conv-2", title=None)
    if form == "array":
        (tmp_path / "conversations.json").write_bytes(files.dumps([first, second]))
    elif form == "object":
        (tmp_path / "c.json").write_bytes(files.dumps({"conversations": [first, second]}))
    elif form == "shards":
        (tmp_path / "conversations-000.json").write_bytes(files.dumps([first]))
        (tmp_path / "conversations-001.json").write_bytes(files.dumps([second]))
        (tmp_path / "export_manifest.json").write_bytes(b'{"files": []}')
        (tmp_path / "chat.html").write_bytes(b"<html>")
    else:
        with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
            archive.writestr("conversations.json", files.dumps([first, second]))
            archive.writestr("user.json", b'{"id": "me"}')
    source = tmp_path / "export.zip" if form == "zip" else tmp_path
    found, report = read_all(source, tmp_path)
    assert found[0].title == "A vector, please"
    # without a title the first words
    assert found[1].title.startswith("How do I make a vector?")
    assert len(found) == 2
    assert not report.lines


def test_chatgpt_finds_images_by_what_their_bytes_are(tmp_path: Path) -> None:
    chat = files.chatgpt_image("sediment://file_0001")
    (tmp_path / "conversations.json").write_bytes(files.dumps([chat]))
    (tmp_path / "file_0001-whatever.dat").write_bytes(files.png())
    (found,), report = read_all(tmp_path, tmp_path)
    image, text = found.branch()[0].parts
    assert isinstance(image, ImagePart)
    assert (image.width, image.height, image.blob.media_type) == (3, 2, "image/png")
    assert found.blobs[image.blob.digest] == files.png()
    assert text == TextPart("What is this?")
    assert not report.lines
    (tmp_path / "file_0001-whatever.dat").unlink()
    (found,), report = read_all(tmp_path, tmp_path)
    assert [type(part) for part in found.branch()[0].parts] == [TextPart]
    assert report.counts["import-file-missing"] == 1


def test_chatgpt_without_a_current_node_shows_what_was_written_last(tmp_path: Path) -> None:
    chat = one(files.dumps([files.chatgpt(current_node="gone")]), tmp_path)
    assert texts(chat.branch())[-1] == "Thanks"


def test_a_circle_of_parents_loses_no_words(tmp_path: Path) -> None:
    value = files.chatgpt()
    value["mapping"]["u1"]["parent"] = "u2"
    found, report = read_bytes(files.dumps([value]), tmp_path)
    (chat,) = found
    every = "".join(part.text for node in chat.nodes for part in node.parts)
    for word in ("How do I make", "first answer", "second answer", "Thanks", "A vector is a list"):
        assert word in every
    assert report.counts["import-mended"]


def test_claude_has_attachments_thoughts_and_tools(tmp_path: Path) -> None:
    found, report = read_bytes(files.dumps([files.claude()]), tmp_path)
    (chat,) = found
    question, reply = chat.branch()
    file, text = question.parts
    assert isinstance(file, FilePart)
    assert (file.name, file.text) == ("notes.txt", "Some notes.")
    # of other files the export has the names only
    assert text == TextPart("[file: photo.png]\n\nRead this")
    assert reply.parts == (
        ReasoningPart("Notes."),
        ToolCallPart("c1", "search", '{"query": "notes"}'),
        ToolResultPart("c1", "search", "found"),
        TextPart("Notes, it says."),
    )
    assert question.created_at == 1_740_823_200_123
    assert report.counts == {"import-file-missing": 1}
    assert len(chat.other_branches(chat.branch())) == 1


def test_claude_of_before_is_a_line(tmp_path: Path) -> None:
    chat = one(files.dumps([files.claude(branched=False)]), tmp_path)
    # two replies in a row are one that went on
    assert [node.role for node in chat.branch()] == [Role.USER, Role.ASSISTANT]
    assert texts(chat.branch())[-1].endswith("Another try.")


def test_lm_studio_versions_are_branches(tmp_path: Path) -> None:
    folder = tmp_path / "conversations" / "Travel"
    folder.mkdir(parents=True)
    (folder / "1740000000000.conversation.json").write_bytes(files.dumps(files.lmstudio()))
    (chat,), report = read_all(tmp_path, tmp_path)
    assert (chat.folder, chat.title, chat.pinned) == ("Travel", "Rivers", True)
    assert chat.options.system_prompt == "Be brief."
    branch = chat.branch()
    assert texts(branch) == ["Name two rivers", "Nile, Rhine.", "Thanks"]
    assert branch[1].status is MessageStatus.STOPPED
    stats = branch[1].stats
    assert stats is not None
    assert (stats.generated_tokens, stats.finish) == (40, FinishReason.CANCELLED)
    assert stats.generate_seconds == 2.0
    others = [node for way in chat.other_branches(branch) for node in way]
    assert texts(others) == ["Name a river", "The Nile."]
    assert others[1].parts[0] == ReasoningPart("Which?")
    assert report.counts == {"import-step-unknown": 2}


@pytest.mark.parametrize("wrapped", [True, False])
def test_open_webui_takes_reasoning_and_calls_out_of_the_text(
    wrapped: bool, tmp_path: Path
) -> None:
    chat = one(files.dumps([files.openwebui(wrapped)]), tmp_path)
    question, reply = chat.branch()
    assert isinstance(question.parts[0], ImagePart)
    assert reply.parts == (
        ReasoningPart("I think & so\nit is"),
        ToolCallPart("c9", "weather", '{"city": "Rome"}'),
        ToolResultPart("c9", "weather", "sunny"),
        TextPart("It is sunny. <details> is a tag."),
    )
    assert chat.options.system_prompt == "Answer shortly."
    assert chat.tags == (("travel",) if wrapped else ())
    assert texts(chat.other_branches(chat.branch())[0]) == ["I do not know."]


def test_llama_cpp_has_a_root_that_is_no_message(tmp_path: Path) -> None:
    chat = one(files.dumps([files.llamacpp()]), tmp_path)
    question, reply = chat.branch()
    assert [part.kind.value for part in question.parts] == ["file", "text"]
    assert reply.parts == (ReasoningPart("Well."), TextPart("Two"))
    assert texts(chat.other_branches(chat.branch())[0]) == ["One"]


def test_a_trace_has_several_sessions_and_unknown_lines(tmp_path: Path) -> None:
    found, report = read_bytes(files.trace(), tmp_path, "sessions.jsonl")
    first, second = found
    assert first.title == "First"
    assert first.branch()[1].parts == (
        ReasoningPart("A greeting."),
        TextPart("Hello"),
        ToolCallPart("c", "look", "{}"),
        ToolResultPart("", "look", "seen"),
    )
    assert texts(second.branch()) == ["B"]
    assert not report.lines


def test_jan_reads_the_thread_beside_the_messages(tmp_path: Path) -> None:
    for name, data in files.jan().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (chat,), _ = read_all(tmp_path, tmp_path)
    assert (chat.title, chat.id, chat.options.system_prompt) == ("Bread", "t1", "Bake.")
    assert chat.branch()[1].parts == (ReasoningPart("Bread."), TextPart("40 minutes."))


def test_gemini_is_put_together_by_time(tmp_path: Path) -> None:
    found, _ = read_bytes(files.dumps(files.gemini()), tmp_path)
    first, later = found
    assert texts(first.branch()) == [
        "What first?",
        "First *this*.",
        "And then?",
        "## Then\n\n- one\n- **two**\n\n```\nx = 1\ny  = 2\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    ]
    assert texts(later.branch()) == ["Later question", "Later."]


def test_ai_studio_has_thoughts(tmp_path: Path) -> None:
    found, report = read_bytes(files.dumps(files.studio()), tmp_path)
    (chat,) = found
    assert chat.options.system_prompt == "Be exact."
    assert chat.branch()[1].parts == (ReasoningPart("Because of that."), TextPart("Therefore."))
    assert report.counts == {"import-file-missing": 1}


def test_lists_of_messages(tmp_path: Path) -> None:
    found, _ = read_bytes(files.openai_lines(), tmp_path)
    first, second = found
    assert first.options.system_prompt == "S"
    assert first.branch()[1].parts == (
        ToolCallPart("c", "f", "{}"),
        ToolResultPart("c", "f", "42"),
        ReasoningPart("R"),
        TextPart("A"),
    )
    assert texts(second.branch()) == ["Hello", "Hello to you"]
    # an array of messages is one conversation
    plain = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    assert texts(one(files.dumps(plain), tmp_path).branch()) == ["x", "y"]


@pytest.mark.parametrize("version", range(1, 13))
def test_gpt4all_of_every_version(version: int, tmp_path: Path) -> None:
    found, report = read_bytes(files.gpt4all(version), tmp_path, "gpt4all-1.chat")
    (chat,) = found
    assert (chat.id, chat.title, chat.created_at) == ("chat-1", "Ducks", 1_720_000_000_000)
    question, reply = chat.branch()
    assert texts([question, reply]) == ["Do ducks swim?", "They do."]
    if version >= 10:
        assert isinstance(question.parts[0], FilePart)
        assert question.parts[0].name == "ducks all.txt"
        assert question.parts[0].text == "All ducks swim."
    if version == 12:
        assert reply.parts[0] == ReasoningPart("Ducks.")
    assert not report.lines
    # cut short: what was read is there, and the rest is told
    found, report = read_bytes(files.gpt4all(version)[:-3], tmp_path, "gpt4all-1.chat")
    assert report.counts["import-cut-short"] == 1


def test_one_bad_conversation_never_loses_the_others(tmp_path: Path) -> None:
    good = json.dumps(files.chatgpt()).encode()
    bad = b'{"mapping": 5}, 17, {"mapping": {"a": {"message": {"author": 3}}}}'
    found, report = read_bytes(b"[" + good + b"," + bad + b"]", tmp_path)
    assert [chat.title for chat in found] == ["A vector, please"]
    assert report.counts.total() == 3
    # half of a pair of surrogates is no reason to lose the words
    odd = good.replace(b"Thanks", b"Th\\ud83dks")
    found, _ = read_bytes(b"[" + odd + b"]", tmp_path)
    assert texts(found[0].branch())[-1] == "Th?ks"
