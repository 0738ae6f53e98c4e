"""Our own format: what the documentation says of it, and files of every version so far."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from headstart.core.chats.parts import (
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from headstart.core.models.heads import AUTOMATIC
from headstart.core.settings.schema import ChatOptions, Speculation
from headstart.exchange import own_format
from headstart.exchange.fields import Fields
from headstart.exchange.tree import ExchangeChat
from tests.support.conversations import conversations, read_all

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "docs" / "conversation.schema.json").read_text(encoding="utf-8"))
FILES = ROOT / "tests" / "fixtures" / "conversations"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


def test_what_is_written_is_as_documented(validator: jsonschema.Draft202012Validator) -> None:
    @settings(
        deadline=None, max_examples=60, suppress_health_check=list(HealthCheck), database=None
    )
    @given(conversations())
    def check(chat: ExchangeChat) -> None:
        validator.validate(json.loads(own_format.to_json(chat)))

    check()


def test_there_is_a_file_of_every_version() -> None:
    names = sorted(path.name for path in FILES.iterdir())
    assert names == [f"version-{n}.headstart.json" for n in range(1, own_format.VERSION + 1)]


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_a_file_of_every_version_opens_whole(
    path: Path, tmp_path: Path, validator: jsonschema.Draft202012Validator
) -> None:
    validator.validate(json.loads(path.read_bytes()))
    (chat,), report = read_all(path, tmp_path)
    assert not report.lines
    assert (chat.id, chat.title, chat.folder) == ("a" * 32, "Rome", "Travel/Italy")
    assert (chat.pinned, chat.tags) == (True, ("travel",))
    assert chat.options.system_prompt == "Answer shortly."
    assert chat.model is not None
    assert (chat.model.name, chat.model.content) == ("Qwen3-4B", "content-of-a-model")
    question, reply = chat.branch()
    image, _ = question.parts
    assert isinstance(image, ImagePart)
    assert len(chat.blobs[image.blob.digest]) == image.blob.size
    kinds = [type(part) for part in reply.parts]
    assert kinds == [ReasoningPart, ToolCallPart, ToolResultPart, TextPart]
    assert len(chat.other_branches(chat.branch())) == 1
    assert question.created_at == 1_730_000_000_000


@pytest.mark.parametrize("number", [1 << 63, -(1 << 70), 10**30])
def test_numbers_without_room_in_a_database_are_left_aside(number: int) -> None:
    chat = json.loads((FILES / "version-1.headstart.json").read_bytes())
    stats = {"finish": "end", "prompt_tokens": 1, "reused_tokens": 0, "prefill_seconds": 0.1}
    stats |= {"first_token_seconds": 0.1, "generated_tokens": number, "generate_seconds": 0.5}
    message = {"id": "m", "role": "assistant", "parts": [
        {"kind": "text", "text": "x", "origins": [[number, "draft"]]},
        {"kind": "image", "name": "a", "text": "", "width": number, "height": 1,
         "blob": {"digest": "0" * 64, "size": number, "media_type": "image/png"}}],
        "stats": stats}  # fmt: skip
    found = own_format.conversation_of(Fields(chat | {"messages": [message]}))
    stats_read, (text, image) = found.nodes[0].stats, found.nodes[0].parts
    assert stats_read is not None
    assert (stats_read.prompt_tokens, stats_read.generated_tokens) == (1, 0)
    assert text == TextPart("x")
    assert isinstance(image, ImagePart)
    assert (image.width, image.height, image.blob.size) == (0, 1, 0)


def test_a_draft_is_named_without_its_place_and_is_the_automatic_one_elsewhere() -> None:
    chosen = Speculation(draft="/home/ada/models/small.gguf")
    chat = ExchangeChat("", "c", "Title", (), options=ChatOptions(speculation=chosen))
    data = own_format.to_json(chat)
    assert b"ada" not in data
    assert json.loads(data)["options"]["speculation"]["draft"] == "small.gguf"
    back = own_format.from_json(data).options.speculation
    assert back is not None
    assert back.draft == AUTOMATIC
