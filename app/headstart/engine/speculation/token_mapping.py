"""Maps between the target's tokens and the draft's: by the same ids, mapped ids, or text. Engine
thread.

A mapping keeps the text so far as the draft's tokens (`tokens`), and converts draft tokens back
into the target's. It follows a growing text; `begin` starts again with another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from headstart.core.models.described import Vocabulary
from headstart.engine.decoder import Decoder, Prediction
from headstart.engine.speculation.compatibility import FIRST_WORD, VocabularyMatch, compare

# tokens before a boundary that are tokenized again with the text after it
LOOK_BEHIND = 10
# seconds per token, measured on a slow core: copied, looked up, converted to text and tokenized
_COPIED, _MAPPED, _TOKENIZED = 2e-8, 6e-7, 6e-6


class DraftToken(Struct, frozen=True):
    """A draft token as the target's id; `second` is -1 if there is none."""

    token: int
    second: int
    margin: float


class TokenMapping(Protocol):
    tokens: list[int]

    @property
    def names(self) -> list[int] | None:
        """The target's id for each of the draft's, -1 for a token that must not be drafted; None:
        the same."""
        ...

    @property
    def greedy(self) -> bool:
        """True if the turn's noise is of no use: re-tokenized text has no tokens at the same
        positions."""
        ...

    def begin(self, tokens: Sequence[int]) -> None:
        """Follow another text; a prefix shared with the previous one is not mapped again."""
        ...

    def seconds(self, tokens: Sequence[int]) -> float:
        """Estimated seconds of `begin` with these tokens."""
        ...

    def extend(self, more: Sequence[int]) -> int:
        """Follow the text; returns the index from which `self.tokens` changed."""
        ...

    @property
    def shift(self) -> int:
        """Number of additional tokens in the target's version of the text: positions are the
        target's."""
        ...

    @property
    def ready(self) -> bool:
        """True if the draft has the whole text (no character is incomplete)."""
        ...

    def to_target(self, predictions: Sequence[Prediction]) -> list[DraftToken]: ...


def make_mapping(target: Decoder, draft: Decoder) -> tuple[TokenMapping | None, VocabularyMatch]:
    """The mapping that the two loaded models allow; None if they have nothing in common."""
    mine, other = target.vocabulary(), draft.vocabulary()
    match = compare(mine, other)
    if match.tier == "none":
        return None, match
    if match.tier == "text":
        return RetokenizedText(target, draft), match
    if match.tier == "same" and len(mine.texts) == len(other.texts):
        return SameTokens(), match
    return MappedTokens(draft, mine, other, by_id=match.tier != "mapped"), match


class SameTokens:
    """The mapping for one shared vocabulary, with equal ids."""

    names = None
    greedy = False
    ready = True
    shift = 0

    def __init__(self) -> None:
        self.tokens: list[int] = []

    def begin(self, tokens: Sequence[int]) -> None:
        self.tokens = list(tokens)

    def seconds(self, tokens: Sequence[int]) -> float:
        return _COPIED * len(tokens)

    def extend(self, more: Sequence[int]) -> int:
        at = len(self.tokens)
        self.tokens.extend(more)
        return at

    def to_target(self, predictions: Sequence[Prediction]) -> list[DraftToken]:
        return [
            DraftToken(prediction.token, prediction.second, prediction.margin)
            for prediction in predictions
        ]


class MappedTokens:
    """The mapping by text: most tokens have a counterpart with the same text; the others are never
    drafted."""

    greedy = False
    ready = True

    def __init__(self, draft: Decoder, mine: Vocabulary, other: Vocabulary, by_id: bool) -> None:
        self.tokens: list[int] = []
        self.shift = 0
        self._source: list[int] = []
        self._draft = draft
        self._texts = mine.texts
        self._known: dict[int, tuple[int, ...]] = {}
        if by_id:
            size = len(mine.texts)
            self.names: list[int] | None = [
                index if index < size and (index < FIRST_WORD or text == mine.texts[index]) else -1
                for index, text in enumerate(other.texts)
            ]
        else:
            ids = {text: index for index, text in reversed(list(enumerate(mine.texts)))}
            self.names = [ids.get(text, -1) for text in other.texts]
        for index, name in enumerate(self.names):
            if name >= 0:
                self._known.setdefault(name, (index,))

    def begin(self, tokens: Sequence[int]) -> None:
        if not _begins_with(tokens, self._source):
            self.tokens, self.shift, self._source = [], 0, []
        self.extend(tokens[len(self._source) :])

    def seconds(self, tokens: Sequence[int]) -> float:
        same = len(self._source) if _begins_with(tokens, self._source) else 0
        return _MAPPED * (len(tokens) - same)

    def extend(self, more: Sequence[int]) -> int:
        at = len(self.tokens)
        self._source.extend(more)
        for token in more:
            known = self._known.get(token)
            if known is None:
                text = self._texts[token].decode("utf-8", "ignore")
                known = self._known[token] = tuple(self._draft.encode(text)) if text else ()
            self.tokens.extend(known)
            self.shift += 1 - len(known)
        return at

    def to_target(self, predictions: Sequence[Prediction]) -> list[DraftToken]:
        names = self.names
        assert names is not None
        result = []
        for prediction in predictions:
            token, second = names[prediction.token], names[prediction.second]
            if token < 0:
                break
            result.append(DraftToken(token, second if second != token else -1, prediction.margin))
        return result


class RetokenizedText:
    """The mapping for models with only the text in common: each tokenizes it separately."""

    names = None
    greedy = True
    shift = 0

    def __init__(self, target: Decoder, draft: Decoder) -> None:
        self.tokens: list[int] = []
        self._source: list[int] = []
        self._target = target
        self._draft = draft
        special = {token.text: token.id for token in draft.facts.special_tokens}
        self._special = {token.id: special.get(token.text) for token in target.facts.special_tokens}
        self._controls = frozenset(special.values())
        self._tail: list[int] = []  # the target's last tokens, back to a control token
        self._cut = b""  # bytes of an incomplete character

    def begin(self, tokens: Sequence[int]) -> None:
        if not _begins_with(tokens, self._source):
            self.tokens, self._tail, self._cut, self._source = [], [], b"", []
        # text between two control tokens is tokenized at once: piece by piece is slower
        self.extend(tokens[len(self._source) :])

    def seconds(self, tokens: Sequence[int]) -> float:
        same = len(self._source) if _begins_with(tokens, self._source) else 0
        return _TOKENIZED * (len(tokens) - same)

    @property
    def ready(self) -> bool:
        return not self._cut

    def extend(self, more: Sequence[int]) -> int:
        changed = len(self.tokens)
        self._source.extend(more)
        data = b""
        for token in more:
            if token in self._special:
                changed = min(changed, self._append(data))
                data = b""
                counterpart = self._special[token]
                if counterpart is not None:
                    self.tokens.append(counterpart)
                self._tail = []
            else:
                data += self._target.piece(token)
                self._tail.append(token)
        changed = min(changed, self._append(data))
        del self._tail[: -2 * LOOK_BEHIND]
        return changed

    def _append(self, data: bytes) -> int:
        """Tokenize `data` with the last tokens before it; returns the index of the first changed
        token."""
        if not data and not self._cut:
            return len(self.tokens)
        start = len(self.tokens)
        while (
            start > 0
            and len(self.tokens) - start < LOOK_BEHIND
            and self.tokens[start - 1] not in self._controls
        ):
            start -= 1
        before = b"".join(self._draft.piece(token) for token in self.tokens[start:])
        while start > 0 and before and before[0] & 0xC0 == 0x80:
            # the look-behind begins in the middle of a character
            start -= 1
            before = self._draft.piece(self.tokens[start]) + before
        text, self._cut = _whole(before + self._cut + data)
        fresh = self._draft.encode(text)
        if start and fresh and self._draft.piece(fresh[0]) == b" " and not text.startswith(" "):
            # SentencePiece puts a space in front of every text
            del fresh[0]
        same = 0
        for old, new in zip(self.tokens[start:], fresh, strict=False):
            if old != new:
                break
            same += 1
        self.tokens[start:] = fresh
        return start + same

    def to_target(self, predictions: Sequence[Prediction]) -> list[DraftToken]:
        """Tokenize the drafted text as the target would after its own last tokens."""
        pieces = [self._draft.piece(prediction.token) for prediction in predictions]
        ended = bool(predictions) and not pieces[-1]
        tail = self._tail[-LOOK_BEHIND:]
        before = b"".join(self._target.piece(token) for token in tail)
        while before and before[0] & 0xC0 == 0x80:
            # the look-behind begins in the middle of a character
            tail = tail[1:]
            before = b"".join(self._target.piece(token) for token in tail)
        text, _ = _whole(before + b"".join(pieces))
        tokens = self._target.encode(text)
        spelled = [self._target.piece(token) for token in tokens]
        # SentencePiece puts a space in front of every text
        extra = len(b"".join(spelled)) - len(text.encode())
        at, length = 0, 0
        while at < len(tokens) and length < len(before) + extra:
            length += len(spelled[at])
            at += 1
        if extra < 0 or length != len(before) + extra:
            # the next word would merge with the last: no token begins at the boundary
            return []
        found = tokens[at:]
        if len(found) > 1 and not ended:
            # the next token could still merge with the last one
            found.pop()
        margins = _spread([prediction.margin for prediction in predictions], pieces, spelled[at:])
        return [
            DraftToken(token, -1, margin) for token, margin in zip(found, margins, strict=False)
        ]


def _begins_with(tokens: Sequence[int], start: Sequence[int]) -> bool:
    return len(start) <= len(tokens) and list(tokens[: len(start)]) == start


def _whole(data: bytes) -> tuple[str, bytes]:
    """The text of `data` up to its last whole character, and the bytes after that."""
    for cut in range(min(4, len(data) + 1)):
        end = len(data) - cut
        try:
            return data[:end].decode("utf-8"), data[end:]
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace"), b""


def _spread(
    margins: Sequence[float], pieces: Sequence[bytes], spelled: Sequence[bytes]
) -> list[float]:
    """For each of the target's tokens, the least margin of the draft's tokens that it consists
    of."""
    ends, total = [], 0
    for piece in pieces:
        total += len(piece)
        ends.append(total)
    result, start = [], 0
    for text in spelled:
        end = start + len(text)
        begins = [0, *ends[:-1]]
        parts = [
            margin
            for margin, begin, stop in zip(margins, begins, ends, strict=True)
            if begin < end and stop > start
        ]
        result.append(min(parts, default=0.0))
        start = end
    return result
