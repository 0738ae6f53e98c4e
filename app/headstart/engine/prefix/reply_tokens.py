"""Token ids of replies whose text tokenizes differently, and of long texts.

Without the first, a restart would lose all state after such a reply; they are rare, because models
mostly write as their tokenizer would. Without the second, it would tokenize the instructions of an
agent again (20,000 tokens: 75 ms). Engine thread.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from headstart.core.prefixes import Traces
from headstart.engine.prefix.keys import pack, unpack
from headstart.engine.prompt import PromptEncoder


class ReplyTokens:
    """Reply tokens of one loaded model; `namespace` distinguishes them from other models'."""

    def __init__(self, traces: Traces | None, namespace: bytes, encoder: PromptEncoder) -> None:
        self._traces = traces
        self._namespace = namespace
        self._encoder = encoder
        # digests of the last prompts' names, by chat
        self._last: dict[str, bytes] = {}
        # chats and digests on disk
        self._kept: set[tuple[str, bytes]] = set()
        encoder.digest = self._digest

    def load(self, chat_id: str | None) -> None:
        """Load a chat's tokens once, before its prompt is tokenized for its audience."""
        own = self._encoder.texts.own
        if self._traces is None or chat_id is None or chat_id in own.loaded:
            return
        own.loaded.add(chat_id)
        for digest, tokens in self._traces.load_reply_tokens(chat_id):
            own.spelled[digest] = tuple(unpack(tokens))
            self._kept.add((chat_id, digest))

    def keep(self, chat_id: str, text: str, tokens: tuple[int, ...]) -> None:
        """Save that the model wrote `text` as `tokens`, which differ from its tokenization."""
        if self._traces is not None:
            self._traces.save_reply_tokens(chat_id, self._digest(text), pack(tokens))

    def keep_all(self, chat_id: str, texts: Iterable[tuple[str, tuple[int, ...]]]) -> None:
        """`keep` each of these."""
        for text, tokens in texts:
            self.keep(chat_id, text, tokens)

    def keep_long(self, chat_id: str, texts: Iterable[tuple[str, tuple[int, ...]]]) -> None:
        """Save the tokens of long texts, each once for a chat."""
        for text, tokens in texts:
            kept = chat_id, self._digest(text)
            if self._traces is not None and kept not in self._kept:
                self._kept.add(kept)
                self._traces.save_reply_tokens(*kept, pack(tokens))

    def keep_last(self, chat_id: str, text: str, tokens: tuple[int, ...]) -> None:
        """Save the tokens of the chat's last prompt under a name; those of the one before go."""
        if self._traces is None or any(token < 0 for token in tokens):
            # marks of images have no text
            return
        before, self._last[chat_id] = self._last.get(chat_id), self._digest(text)
        if before is not None:
            self._traces.forget_reply_tokens(chat_id, before)
        self.keep(chat_id, text, tokens)

    def _digest(self, text: str) -> bytes:
        data = text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=16, key=self._namespace).digest()
