"""Tokens that outlive a restart: those of odd replies, and of long texts."""

from __future__ import annotations

from collections.abc import Sequence

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.engine.prefix.reply_tokens import ReplyTokens
from headstart.engine.prompt import LONG_TEXT, PromptEncoder
from tests.support.byte_decoder import byte_encoder

TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"


class Rows:
    """The edge: the database's rows, by chat."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[bytes, bytes]] = {}

    def load(self, chat_id: str) -> bytes | None:
        return None

    def save(self, chat_id: str, data: bytes) -> None:
        pass

    def load_reply_tokens(self, chat_id: str) -> Sequence[tuple[bytes, bytes]]:
        return list(self.rows.get(chat_id, {}).items())

    def save_reply_tokens(self, chat_id: str, digest: bytes, tokens: bytes) -> None:
        self.rows.setdefault(chat_id, {})[digest] = tokens

    def forget_reply_tokens(self, chat_id: str, digest: bytes) -> None:
        self.rows.get(chat_id, {}).pop(digest, None)


def _encoder() -> tuple[PromptEncoder, list[str]]:
    """An encoder, and the texts that it tokenizes."""
    encoder = byte_encoder(TEMPLATE)
    seen: list[str] = []
    encode = encoder.decoder.encode

    def count(text: str) -> list[int]:
        seen.append(text)
        return encode(text)

    encoder.decoder.encode = count  # type: ignore[method-assign]
    return encoder, seen


def test_a_long_text_is_tokenized_once_over_restarts() -> None:
    rows, text = Rows(), "Work well. " * (LONG_TEXT // 8)
    messages = [PromptMessage(Role.SYSTEM, text, "s"), PromptMessage(Role.USER, "Hi.", "u")]
    found = []
    for _start in range(2):
        encoder, seen = _encoder()
        kept = ReplyTokens(rows, b"model", encoder)
        kept.load("chat")
        rendered = encoder.render(messages)
        found.append(encoder.encode(rendered))
        kept.keep_long("chat", encoder.long_texts(rendered))
        assert any(len(one) > LONG_TEXT for one in seen) == (_start == 0)
        assert "Hi." in "".join(seen)
    assert found[0] == found[1]
    assert len(rows.rows["chat"]) == 1
    # a chat that keeps nothing has nothing
    assert set(rows.rows) == {"chat"}
