"""Messages to token ids, so that unchanged text always becomes the same tokens.

Rendered text is cut at control tokens, between which tokenization is independent. Control
tokens written by a user are guarded and stay plain text. What the model itself generated is
remembered token by token, because tokenizing its text again can give other tokens.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence

from headstart.core.requests import PromptMessage
from headstart.core.values import Role
from headstart.engine.decoder import Decoder
from headstart.engine.template import ChatTemplate

# a private-use character; text that really contains it loses it, nothing else
GUARD = "\ue0f7"
REMEMBERED_CHARACTERS = 8_000_000


class PromptEncoder:
    """Renders and tokenizes for one loaded model; lives on the engine thread."""

    def __init__(self, decoder: Decoder, template: ChatTemplate) -> None:
        facts = decoder.facts
        self._decoder = decoder
        self._template = template
        self._begin = facts.begin_token
        self._special = {token.text: token for token in facts.special_tokens if token.text}
        longest_first = sorted(self._special, key=len, reverse=True)
        self._pattern = (
            re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")
            if longest_first
            else None
        )
        self._memory: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self._memory_size = 0
        # how replies of earlier starts were written, by `digest` of their text; see `reply_tokens`
        self.spelled: dict[bytes, tuple[int, ...]] = {}
        self.digest: Callable[[str], bytes] = lambda text: text.encode("utf-8", "surrogatepass")

    def render(self, messages: Sequence[PromptMessage]) -> str:
        """The prompt as text, guards included; raises TemplateError."""
        guarded = [
            PromptMessage(message.role, self.guard(message.text), message.key)
            for message in messages
        ]
        return self._template.render(guarded)

    def encode(self, rendered: str) -> list[int]:
        """Token ids of a rendered prompt, the model's begin token in front where it wants one."""
        tokens: list[int] = []
        pieces = self._pattern.split(rendered) if self._pattern else [rendered]
        for index, piece in enumerate(pieces):
            if index % 2:
                tokens.append(self._special[piece].id)
                continue
            if index and self._special[pieces[index - 1]].strip_right:
                piece = piece.lstrip()
            if index + 1 < len(pieces) and self._special[pieces[index + 1]].strip_left:
                piece = piece.rstrip()
            if piece:
                tokens.extend(self._encode_plain(piece.replace(GUARD, "")))
        if self._begin is not None and (not tokens or tokens[0] != self._begin):
            tokens.insert(0, self._begin)
        return tokens

    def remember_reply(
        self, rendered: str, reply: str, tokens: Sequence[int]
    ) -> tuple[str, tuple[int, ...]] | None:
        """`reply`, generated as `tokens`, follows the prompt `rendered`: encode it so again.

        Returns the text and its tokens when tokenizing it would give others.
        """
        open_text = (self._pattern.split(rendered) if self._pattern else [rendered])[-1]
        if self._pattern and self._pattern.search(reply):
            return None
        open_text = open_text.replace(GUARD, "")
        head = self._encode_plain(open_text) if open_text else ()
        text, written = open_text + reply, (*head, *tokens)
        self._remember(text, written)
        return None if written == tuple(self._decoder.encode(text)) else (text, written)

    def _encode_plain(self, text: str) -> tuple[int, ...]:
        known = self._memory.get(text)
        if known is None:
            known = self.spelled.get(self.digest(text)) if self.spelled else None
            if known is None:
                known = tuple(self._decoder.encode(text))
            self._remember(text, known)
        else:
            self._memory.move_to_end(text)
        return known

    def _remember(self, text: str, tokens: tuple[int, ...]) -> None:
        if text not in self._memory:
            self._memory_size += len(text)
        self._memory[text] = tokens
        while self._memory_size > REMEMBERED_CHARACTERS and len(self._memory) > 1:
            old, _ = self._memory.popitem(last=False)
            self._memory_size -= len(old)

    def guard(self, text: str) -> str:
        """`text` with its control tokens marked as words, to be joined to a rendered prompt."""
        text = text.replace(GUARD, "")
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: found[0][:1] + GUARD + found[0][1:], text)


def drop_oldest(messages: Sequence[PromptMessage], turns: int) -> list[PromptMessage]:
    """`messages` without their `turns` oldest turns; system messages and the last turn stay.

    A turn is a user message and what follows it up to the next one.
    """
    starts = [index for index, item in enumerate(messages) if item.role is Role.USER]
    if turns <= 0 or len(starts) < 2:
        return list(messages)
    keep_from = starts[min(turns, len(starts) - 1)]
    return [
        item
        for index, item in enumerate(messages)
        if index >= keep_from or item.role is Role.SYSTEM
    ]


def droppable_turns(messages: Sequence[PromptMessage]) -> int:
    return max(0, sum(item.role is Role.USER for item in messages) - 1)


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """How many tokens at the beginning are the same."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
