"""The tokenizer of a model folder: text to token ids and back, templates, tokens that end a reply.

Loaded from `tokenizer.json` by the tokenizers library. Control tokens in plain text stay text; the
prompt encoder inserts real ones. Engine thread.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from headstart.core.errors import ModelProblem
from headstart.core.models.described import Vocabulary, spelled, tokenizer_kind
from headstart.core.strange_json import decoded
from headstart.engine.decoder import SpecialToken

_TURN_STARTS = frozenset(("<|im_start|>", "<start_of_turn>", "<|start_header_id|>"))
# control tokens that end a turn, as a folder may name only one of several
_TURN_ENDS = frozenset(
    ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|end|>", "<|endoftext|>", "</s>",
     "<reponame>", "<|repo_name|>", "<|file_sep|>")
)  # fmt: skip


class FolderTokenizer:
    """A folder's tokenizer. Raises ModelProblem if it cannot be read."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        self._folder = folder
        self._own = _json(folder / "tokenizer_config.json")
        raw = _tokenizer_json(folder)
        self.kind = tokenizer_kind(raw)
        _no_space_in_front(raw.get("pre_tokenizer"))
        self.begin_text, self.end_text = self._text("bos_token"), self._text("eos_token")
        for token in raw.get("added_tokens") or ():
            if self._is_control(token, config):
                # even if the file does not declare it: a user's text must not become one
                token["special"] = True
        self._tokenizer = Tokenizer.from_str(json.dumps(raw))
        self._tokenizer.encode_special_tokens = True
        # drop limits that were set for training
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        added = self._tokenizer.get_added_tokens_decoder()
        self.special = tuple(
            SpecialToken(id_, token.content, token.lstrip, token.rstrip)
            for id_, token in sorted(added.items())
            if token.special
        )
        self.added = tuple(
            SpecialToken(id_, token.content, token.lstrip, token.rstrip)
            for id_, token in sorted(added.items())
            if not token.special
        )
        self._control = {token.id for token in self.special}
        self._added = {
            # SentencePiece spells runs of spaces in its own way
            id_: token.content.encode()
            if token.special or self.kind == "bpe"
            else spelled(self.kind, token.content.encode())
            for id_, token in added.items()
        }
        words = self._tokenizer.get_vocab(with_added_tokens=True)
        self.size = 1 + max(words.values(), default=-1)
        # the size without added tokens
        self.base = 1 + max((id_ for id_ in words.values() if id_ not in added), default=-1)
        self.ends = self._ends(config)
        self.suppressed = self._suppressed()

    def _suppressed(self) -> tuple[int, ...]:
        """The tokens that a reply never contains."""
        named = _json(self._folder / "generation_config.json").get("suppress_tokens")
        known = range(self.size)
        return tuple(token for token in named if token in known) if isinstance(named, list) else ()

    def limit(self, rows: int) -> None:
        """Limit the vocabulary to the model's `rows` tokens; it never gets others."""
        self.size = min(self.size, rows)
        self.special = tuple(token for token in self.special if token.id < self.size)
        self.added = tuple(token for token in self.added if token.id < self.size)
        self.ends = frozenset(token for token in self.ends if token < self.size)
        self.suppressed = tuple(token for token in self.suppressed if token < self.size)

    def _is_control(self, token: dict[str, Any], config: dict[str, Any]) -> bool:
        text = token.get("content")
        if not isinstance(text, str):
            return False
        ends = config.get("eos_token_id")
        named = ends if isinstance(ends, list) else [ends]
        return (
            token.get("id") in named
            or text in (self.begin_text, self.end_text)
            or text in _TURN_ENDS
            or text in _TURN_STARTS
        )

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def piece(self, token: int) -> bytes:
        """The bytes of a token's text; empty for control tokens."""
        return b"" if token in self._control else self._bytes(token)

    @property
    def begin_token(self) -> int | None:
        """The token that the tokenizer puts in front of every text, if any."""
        first = self._tokenizer.encode("", add_special_tokens=True).ids[:1]
        begin = self._tokenizer.token_to_id(self.begin_text) if self.begin_text else None
        return begin if begin is not None and first == [begin] else None

    @property
    def chat_template(self) -> str | None:
        """The template from its own file, or from the configuration; of several named ones the
        default."""
        with contextlib.suppress(OSError, ValueError):
            return (self._folder / "chat_template.jinja").read_text(encoding="utf-8")
        found = self._own.get("chat_template")
        if found is None:
            found = _json(self._folder / "chat_template.json").get("chat_template")
        if isinstance(found, list):
            named = {item.get("name"): item.get("template") for item in found}
            found = named.get("default")
        return found if isinstance(found, str) else None

    def vocabulary(self) -> Vocabulary:
        texts = tuple(self._bytes(token) for token in range(self.size))
        begin, end = (
            self._tokenizer.token_to_id(text) if text else None
            for text in (self.begin_text, self.end_text)
        )
        return Vocabulary(self.kind, texts, begin, end)

    def _bytes(self, token: int) -> bytes:
        own = self._added.get(token)
        if own is not None:
            return own
        return spelled(self.kind, (self._tokenizer.id_to_token(token) or "").encode())

    def _text(self, name: str) -> str:
        found = self._own.get(name)
        if isinstance(found, dict):
            found = found.get("content")
        return found if isinstance(found, str) else ""

    def _ends(self, config: dict[str, Any]) -> frozenset[int]:
        named = config.get("eos_token_id")
        ids = set(named if isinstance(named, list) else [] if named is None else [named])
        texts = {token.text: token.id for token in self.special}
        ends = _TURN_ENDS
        if "<|return|>" in texts or "<|flush|>" in texts:
            # in these models it ends a part of a reply, and other tokens end the reply
            ends = (ends - {"<|end|>"}) | {"<|return|>", "<|call|>", "<|calls|>", "<|flush|>"}
        ids |= {id_ for text, id_ in texts.items() if text in ends}
        end = self._tokenizer.token_to_id(self.end_text) if self.end_text else None
        return frozenset(ids if end is None else ids | {end})


def _tokenizer_json(folder: Path) -> dict[str, Any]:
    raw = _json(folder / "tokenizer.json")
    if not raw:
        raise ModelProblem("tokenizer-unreadable", name=folder.name)
    return raw


def _json(path: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        found = decoded(path.read_bytes())
        if isinstance(found, dict):
            return found
    return {}


def _no_space_in_front(part: Any) -> None:
    """Keep the tokenizer from adding a space: a prompt is encoded in pieces, and only the first
    begins a text, after a control token."""
    if isinstance(part, dict):
        if part.get("prepend_scheme") == "first":
            part["prepend_scheme"] = "never"
        for inner in part.get("pretokenizers", ()):
            _no_space_in_front(inner)
