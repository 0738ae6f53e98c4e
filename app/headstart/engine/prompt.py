"""Encodes messages as token ids, so that unchanged text always becomes the same tokens.

Rendered text is cut at control tokens, between which tokenization is independent. Control
tokens written by a user are guarded and stay plain text. The model's own replies are remembered
token by token, because tokenizing their text again can give other tokens.

A template uses more than the vocabulary's control tokens: some files declare `<think>` and similar
marks as words. Those count as control tokens too.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from headstart.core.chats.values import Role
from headstart.core.requests import PromptCall, PromptMessage
from headstart.core.rgb import DecodeImage, no_images
from headstart.core.settings.schema import Thinking
from headstart.core.tools import NO_TOOLS, Tools
from headstart.engine.decoder import Decoder, SpecialToken
from headstart.engine.foreign import CUT, GUARD, IMAGE, Foreign, Guard, bare
from headstart.engine.markup.formats import ReplyFormat
from headstart.engine.markup.tool_way import ToolPrompt
from headstart.engine.prompt_images import PromptImages
from headstart.engine.template import ChatTemplate
from headstart.engine.text_memory import TextMemories
from headstart.engine.token_finder import TokenFinder
from headstart.engine.tool_prompts import ToolPrompts
from headstart.engine.written_replies import frame_of

_MARKUP = re.compile(r"\W.*\W|\S*[<\[|].*", re.DOTALL)
# texts from this length on are worth keeping with their tokens: tokenizing one takes 15 ms or more
LONG_TEXT = 16_000


class PromptEncoder:
    """Renders and tokenizes prompts for one loaded model, on the engine thread."""

    def __init__(
        self, decoder: Decoder, template: ChatTemplate, decode_image: DecodeImage = no_images
    ) -> None:
        facts = decoder.facts
        self.decoder = decoder
        self.images = PromptImages(decoder, decode_image)
        self._template = template
        self._begin = facts.begin_token
        # a larger context than the current one is possible up to this, 0 if unknown
        self.trained = facts.trained
        self._special = {token.text: token for token in facts.special_tokens if token.text}
        self._words = {
            token.text: token for token in facts.added_tokens if is_markup(token, template)
        }
        self._special.update(self._words)
        self._finder = TokenFinder(self._special)
        self._guard = Guard(self._special)
        # texts with their tokens, and calls and replies as they were written
        self.texts = TextMemories(self._recall, self._finder)
        self.tools = ToolPrompts(lambda: self.texts.own.calls, self._guard.value)
        # every token that counts as markup, by id
        self.control = {token.id: token.text for token in self._special.values()}
        # the tokens that are marks of this model's reply format
        self.marks = {
            token.id: text for text, token in self._special.items() if text in template.form.marks
        }
        self.digest: Callable[[str], bytes] = lambda text: text.encode("utf-8", "surrogatepass")

    @property
    def form(self) -> ReplyFormat:
        """Marks of reasoning in this model's replies."""
        return self._template.form

    @contextlib.contextmanager
    def instead(self, template: ChatTemplate) -> Iterator[None]:
        """Use another template inside; the set of markup tokens stays."""
        own, self._template = self._template, template
        try:
            yield
        finally:
            self._template = own

    def form_with(self, tools: Tools) -> ReplyFormat:
        """Marks of replies of a model that was offered these tools."""
        return self.way.format(self.form) if tools else self.form

    def marks_with(self, tools: Tools) -> dict[int, str]:
        """The special tokens that are such marks."""
        if not tools:
            return self.marks
        marks = self.form_with(tools).marks
        return {token.id: text for text, token in self._special.items() if text in marks}

    def pieces(self, text: str) -> list[str | int]:
        """A text divided into text and the ids of special tokens."""
        found: list[str | int] = []
        for index, piece in enumerate(self._finder.split(text)):
            if index % 2:
                found.append(self._special[piece].id)
            elif piece:
                found.append(piece)
        return found

    @property
    def way(self) -> ToolPrompt:
        """The template's way with tools."""
        return self.tools.way(self._template)

    def _recall(self, key: str) -> str | None:
        tokens = self._spelled(key)
        return None if tokens is None else self.as_written(tokens)

    def seen(self, messages: Sequence[PromptMessage], thinking: Thinking, tools: Tools) -> bytes:
        """The digest of the prompt before a step; see `CallMemory`."""
        return self.tools.seen(self._template, self._guarded(messages), thinking, tools)

    def _guarded(self, messages: Sequence[PromptMessage]) -> list[PromptMessage]:
        return [
            msgspec.structs.replace(
                message,
                text=Foreign(self.images.marks(message) + self.guard(message.text), self._guard),
                reasoning=self.guard(message.reasoning),
                name=self.guard(message.name),
                calls=tuple(map(self.safe_call, message.calls)),
            )
            for message in messages
        ]

    def safe_call(self, call: PromptCall) -> PromptCall:
        """A call with guards, as those of prompts."""
        name, arguments = self.guard(call.name), self.guard(call.arguments)
        return msgspec.structs.replace(call, name=name, arguments=arguments)

    def as_written(self, tokens: Sequence[int]) -> str:
        """Generated tokens as a rendered prompt has them: control tokens, and guarded text."""
        found, run = list[str](), list[int]()
        for token in (*tokens, None):
            if token is not None and token not in self.control:
                run.append(token)
                continue
            text = b"".join(self.decoder.piece(each) for each in run)
            found.append(self.guard(text.decode("utf-8", "replace")))
            run = []
            if token is not None:
                found.append(self.control[token])
        return "".join(found)

    def render(
        self,
        messages: Sequence[PromptMessage],
        thinking: Thinking = "auto",
        tools: Tools = NO_TOOLS,
    ) -> str:
        """The prompt as text, guards included; raises TemplateError."""
        guarded = self._guarded(messages)
        if tools.specs:
            rendered = self.tools.render(self._template, guarded, thinking, tools)
        else:
            rendered = self._template.render(guarded, thinking)
        return self.texts.own.replies.restored(rendered, frame_of(self._template, self._finder))

    def end_of(self, rendered: str, messages: Sequence[PromptMessage]) -> str:
        """The end of a rendered prompt, after the last message's text."""
        last = self.guard(messages[-1].text).strip() if messages else ""
        at = rendered.rfind(last) if last else -1
        return rendered[at + len(last) :] if at >= 0 else ""

    def encode(self, rendered: str) -> list[int]:
        """Token ids of a rendered prompt, after the model's begin token if it wants one."""
        tokens = self._encoded(rendered)
        if self._begin is not None and (not tokens or tokens[0] != self._begin):
            tokens.insert(0, self._begin)
        return tokens

    def _encoded(self, rendered: str) -> list[int]:
        tokens: list[int] = []
        pieces = self._split(rendered)
        for index, piece in enumerate(pieces):
            if index % 2:
                tokens.append(self._special[piece].id)
                continue
            if index and self._special[pieces[index - 1]].strip_right:
                piece = piece.lstrip()
            if index + 1 < len(pieces) and self._special[pieces[index + 1]].strip_left:
                piece = piece.rstrip()
            # texts, and between them the digests of images
            for count, part in enumerate(self._plain(piece).split(IMAGE)):
                if count % 2:
                    tokens.extend(self.images.tokens(part))
                elif part:
                    tokens.extend(self._encode_plain(part))
        return tokens

    def remember_reply(
        self, rendered: str, tokens: Sequence[int], stop: str = ""
    ) -> list[tuple[str, tuple[int, ...]]]:
        """Remember that the reply to the prompt `rendered` was generated as `tokens`, up to a stop
        string if there is one, to encode it so again.

        Returns the texts between control tokens, with their tokens, where tokenizing them would
        give others, and the name of the whole reply where prompts may show it in another way.
        """
        head = self._plain(self._split(rendered)[-1]).split(IMAGE)[-1]
        other, run = [], list[int]()
        for token in (*tokens, None):
            if token is not None and token not in self.control:
                run.append(token)
                continue
            written = b"".join(self.decoder.piece(each) for each in run)
            try:
                text = self._plain(self.guard(written.decode()))
            except UnicodeDecodeError:
                # half a character, or an invalid one: decoding does not give the same text back
                text = ""
            if text:
                known = (*(self._encode_plain(head) if head else ()), *run)
                text = head + text
                self.texts.own.put(text, known)
                if known != _tokenized(self.decoder, text):
                    other.append((text, known))
            head, run = "", []
        frame = frame_of(self._template, self._finder)
        replies = self.texts.own.replies
        name, whole = replies.keep(rendered, self.as_written(tokens), frame, stop)
        return [*other, (name, tuple(self._encoded(whole)))] if name else other

    def long_texts(self, rendered: str) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The long texts of a rendered prompt that was encoded, with their tokens."""
        for piece in self._split(rendered)[::2]:
            if len(piece) >= LONG_TEXT:
                for text in self._plain(piece).split(IMAGE)[::2]:
                    known = self.texts.get(text)
                    if known is not None and len(text) >= LONG_TEXT:
                        yield text, known

    def _split(self, rendered: str) -> list[str]:
        """Text and control tokens alternating."""
        pieces = self._finder.split(rendered)
        if GUARD not in rendered:
            return pieces
        # a token of one letter has no place inside for a guard: it stands behind
        found = pieces[:1]
        for mark, text in zip(pieces[1::2], pieces[2::2], strict=True):
            if len(mark) == 1 and text.startswith(GUARD):
                found[-1] += mark + text
            else:
                found += (mark, text)
        return found

    def count(self, text: str, keep: bool = True) -> int:
        """Number of tokens of a text inside a prompt. `keep`: it is counted again soon, for the
        same chat."""
        return len(self._encode_plain(text, keep))

    def _encode_plain(self, text: str, keep: bool = True) -> tuple[int, ...]:
        known = self.texts.get(text)
        if known is None:
            known = self._spelled(text)
            if known is None:
                known = _tokenized(self.decoder, text)
            if keep:
                self.texts.own.put(text, known)
        return known

    def _spelled(self, text: str) -> tuple[int, ...] | None:
        return self.texts.spelled(self.digest(text)) if self.texts.any_spelled else None

    def guard(self, text: str) -> Foreign:
        """`text` with guards in its control tokens, so that they stay plain text in a rendered
        prompt."""
        return self._guard.text(text)

    def _plain(self, text: str) -> str:
        """A text between control tokens as it is tokenized: without guards, and cut where the
        tokenizer would match a word that is one of them."""
        if GUARD not in text:
            return text
        text = bare(text)
        pieces, at = [], 0
        for start, end in self._finder.find(text):
            if text[start:end] in self._words:
                pieces += [text[at : start + 1], CUT]
                at = start + 1
        return "".join([*pieces, text[at:]])


def _tokenized(decoder: Decoder, text: str) -> tuple[int, ...]:
    if CUT not in text:
        return tuple(decoder.encode(text))
    return tuple(token for part in text.split(CUT) for token in decoder.encode(part))


def is_markup(token: SpecialToken, template: ChatTemplate) -> bool:
    """True if a token that the vocabulary declares a word is one of the template's control
    tokens."""
    text = token.text
    if not text.strip():
        return False
    return text in template.form.marks or (
        bool(_MARKUP.fullmatch(text)) and text in template.source
    )


def drop_oldest(messages: Sequence[PromptMessage], turns: int) -> list[PromptMessage]:
    """`messages` without their `turns` oldest turns; system messages and the last turn stay.

    A turn is a user message and all messages up to the next one.
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
    """Number of equal tokens at the beginning."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
