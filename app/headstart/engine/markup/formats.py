"""The marks of reasoning by family of models, in one table. Pure.

A format is chosen by signs in the model's chat template. Its marks are either special tokens or
plain text; some stand alone (`<think>`), some enclose a header that names the next part
(`<|channel|>analysis<|message|>`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum

from msgspec import Struct, field
from msgspec.structs import replace

from headstart.core.requests import WrittenSoFar
from headstart.engine.markup.tool_calls.forms import CallForm, form_of


class Mark(Enum):
    """Meaning of a mark."""

    REASONING = "reasoning"
    TEXT = "text"
    # begins a hidden header for the next part, up to a BODY
    HEADER = "header"
    # begins a hidden header for the part that ended, up to a BODY
    CLOSING = "closing"
    # ends a header
    BODY = "body"
    # changes nothing; only the mark is omitted
    SAME = "same"
    # a call of a tool begins; a mark inside one
    CALL, IN_CALL = "call", "in call"


class ThoughtsEnd(Enum):
    """The end of a family's reasoning. A call before it is only considered, and a part of the
    reasoning; if the end never comes, the call is one."""

    # a mark: tags, or plain words
    MARK = "mark"
    # that of their message, or any other one, as a call's, which a header announces
    MESSAGE = "message"
    # that of their section, which other sections stand inside
    SECTION = "section"


class ReplyFormat(Struct, frozen=True):
    """The marks of one family.

    `opens`, `turns` and `begins` are inserted before reasoning, between reasoning and text, and
    before text without reasoning, when a reply is continued.
    """

    name: str
    marks: Mapping[str, Mark]
    opens: str
    turns: str
    begins: str = ""
    # header words that announce reasoning, and all words known in headers
    thinking: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    # plain-text marks count everywhere, not only at the start of a reply or of its text
    anywhere: bool = False
    # a header of other words is the start of reasoning, not of the answer
    nameless_thoughts: bool = False
    # finds the name of the called tool in a header
    caller: str = ""
    # the form of tool calls
    calls: CallForm | None = None
    # the end of reasoning, before which calls are a part of it
    thoughts_end: ThoughtsEnd = ThoughtsEnd.MARK
    # the template is of this family if it contains all of these; `opens` if empty
    signs: tuple[str, ...] = field(default=())

    def fits(self, template: str) -> bool:
        signs = self.signs or (self.opens.strip(),)
        return all(sign in template for sign in signs)

    @property
    def nested(self) -> bool:
        """True if headers stand within reasoning, too."""
        return self.thoughts_end is ThoughtsEnd.SECTION

    def tool_in(self, header: str) -> str | None:
        """The tool that a message with this header calls, "" where its text says it; None where
        the message is for the user."""
        found = re.search(self.caller, header.strip()) if self.caller else None
        return None if found is None else found[1]

    def is_header(self, text: str, much: Callable[[Iterable[bool]], bool] = all) -> bool:
        """True if all words of a header are known, or as many as `much` asks for."""
        return much(word in self.words or word.startswith("to=") for word in text.split())

    def going_on(self, so_far: WrittenSoFar, opened: bool) -> list[tuple[str, bool]]:
        """A reply's beginning as the model would have written it: pieces, each with True for a
        mark. `opened`: the prompt ends within reasoning."""
        pieces: list[tuple[str, bool]] = []
        if so_far.reasoning:
            pieces += [] if opened else [(self.opens, True)]
            closed = so_far.closed or bool(so_far.text)
            pieces.append((so_far.reasoning.rstrip() if closed else so_far.reasoning, False))
            if closed:
                pieces += [(self.turns, True), (so_far.text, False)]
        elif so_far.text:
            pieces += [(self.turns if opened else self.begins, True), (so_far.text, False)]
        return [piece for piece in pieces if piece[0]]


def _tags(
    opening: str,
    closing: str,
    more: Mapping[str, Mark] | None = None,
    begins: str = "",
    signs: tuple[str, ...] = (),
) -> ReplyFormat:
    marks = {opening: Mark.REASONING, closing: Mark.TEXT, **(more or {})}
    turns = f"\n{closing}\n\n{begins}"
    return ReplyFormat(opening, marks, f"{opening}\n", turns, begins, signs=signs or (opening,))


# text without a chat template: nothing in it is a mark
UNMARKED = ReplyFormat("plain", {}, "", "")

THINK = _tags("<think>", "</think>")

FORMATS = (
    # gpt-oss
    ReplyFormat(
        "harmony",
        {
            "<|start|>": Mark.HEADER,
            "<|channel|>": Mark.HEADER,
            "<|constrain|>": Mark.HEADER,
            "<|message|>": Mark.BODY,
            "<|end|>": Mark.HEADER,
        },
        opens="<|channel|>analysis<|message|>",
        turns="<|end|><|start|>assistant<|channel|>final<|message|>",
        begins="<|channel|>final<|message|>",
        thinking=frozenset({"analysis"}),
        words=frozenset({"assistant", "analysis", "final", "commentary"}),
        anywhere=True,
        caller=r"to=(?!assistant\b|user\b)(?:functions\.)?(\S+)",
        thoughts_end=ThoughtsEnd.MESSAGE,
        signs=("<|channel|>", "<|message|>"),
    ),
    # Muse Glimmer: a message's recipient determines its kind
    ReplyFormat(
        "recipients",
        {
            "<|start|>": Mark.HEADER,
            "<|message|>": Mark.BODY,
            "<|eom|>": Mark.HEADER,
        },
        opens=" to=self<|message|>",
        turns="<|eom|><|start|>assistant to=user<|message|>",
        begins=" to=user<|message|>",
        thinking=frozenset({"to=self"}),
        words=frozenset({"assistant", "to=self", "to=user"}),
        anywhere=True,
        caller=r"to=(?!self\b|user\b|assistant\b)(\S+)",
        thoughts_end=ThoughtsEnd.MESSAGE,
        signs=("<|start|>", "<|message|>", "<|eom|>"),
    ),
    # Solar Open
    ReplyFormat(
        "content",
        {
            "<|begin|>": Mark.HEADER,
            "<|think|>": Mark.REASONING,
            "<|content|>": Mark.TEXT,
            "<|end|>": Mark.HEADER,
        },
        opens="<|think|>",
        turns="<|end|><|begin|>assistant<|content|>",
        begins="<|content|>",
        words=frozenset({"assistant"}),
        anywhere=True,
        signs=("<|begin|>", "<|think|>", "<|content|>"),
    ),
    # GigaChat 3
    ReplyFormat(
        "roles",
        {"<|message_sep|>": Mark.HEADER, "<|role_sep|>": Mark.BODY},
        opens="",
        turns="",
        words=frozenset({"assistant"}),
        anywhere=True,
        caller=r"\Afunction call()\Z",
        thoughts_end=ThoughtsEnd.MESSAGE,
        signs=("<|message_sep|>", "<|role_sep|>"),
    ),
    # Kimi K3
    ReplyFormat(
        "sections",
        {
            "<|open|>": Mark.HEADER,
            "<|close|>": Mark.CLOSING,
            "<|sep|>": Mark.BODY,
            "<|end_of_msg|>": Mark.SAME,
        },
        opens="<|open|>think<|sep|>",
        turns="<|close|>think<|sep|><|open|>response<|sep|>",
        begins="<|open|>response<|sep|>",
        thinking=frozenset({"think"}),
        words=frozenset({"think", "response", "message", 'role="assistant"'}),
        anywhere=True,
        caller=r'\Acall tool="([^"]+)"',
        thoughts_end=ThoughtsEnd.SECTION,
        signs=("<|open|>", "<|close|>", "<|sep|>"),
    ),
    # Gemma 4: a channel's name ends with its line
    ReplyFormat(
        "channel",
        {"<|channel>": Mark.HEADER, "\n": Mark.BODY, "<channel|>": Mark.TEXT},
        opens="<|channel>thought\n",
        turns="\n<channel|>",
        thinking=frozenset({"thought"}),
        words=frozenset({"thought"}),
        anywhere=True,
        # the model may omit the name
        nameless_thoughts=True,
        signs=("<|channel>", "<channel|>"),
    ),
    # Cohere: text is enclosed as well
    _tags(
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        {"<|START_RESPONSE|>": Mark.TEXT, "<|END_RESPONSE|>": Mark.SAME},
        "<|START_RESPONSE|>",
        ("<|START_THINKING|>", "<|START_RESPONSE|>"),
    ),
    _tags(
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        {"<|START_TEXT|>": Mark.TEXT, "<|END_TEXT|>": Mark.SAME},
        "<|START_TEXT|>",
        ("<|START_THINKING|>", "<|START_TEXT|>"),
    ),
    _tags("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    _tags("[THINK]", "[/THINK]"),  # Mistral
    _tags("<seed:think>", "</seed:think>", signs=("seed:think",)),
    _tags("<mm:think>", "</mm:think>", signs=("mm:think",)),  # MiniMax
    _tags("<think:opensource>", "</think:opensource>", signs=("think", ":opensource")),  # Hunyuan
    # Apriel: plain words
    ReplyFormat(
        "final response",
        {
            "Here are my reasoning steps:": Mark.REASONING,
            "[BEGIN FINAL RESPONSE]": Mark.TEXT,
            "[END FINAL RESPONSE]": Mark.SAME,
        },
        opens="Here are my reasoning steps:\n",
        turns="\n[BEGIN FINAL RESPONSE]\n",
        signs=("[BEGIN FINAL RESPONSE]",),
    ),
    # Granite 3.2: plain words
    ReplyFormat(
        "thought process",
        {
            "Here is my thought process:": Mark.REASONING,
            "Here is my response:": Mark.TEXT,
        },
        opens="Here is my thought process:\n",
        turns="\n\nHere is my response:\n",
        signs=("Here is my thought process:", "Here is my response:"),
    ),
    # Hunyuan A13B: its template removes the tags around an answer
    _tags(
        "<think>",
        "</think>",
        {"<answer>": Mark.TEXT, "</answer>": Mark.SAME},
        "<answer>\n",
        ("<think>", "<answer>", "</answer>"),
    ),
    # K2: the tag depends on the amount of thinking
    ReplyFormat(
        "<think_fast>",
        {
            "<think>": Mark.REASONING,
            "</think>": Mark.TEXT,
            "<think_fast>": Mark.REASONING,
            "</think_fast>": Mark.TEXT,
            "<think_faster>": Mark.REASONING,
            "</think_faster>": Mark.TEXT,
        },
        opens="<think>\n",
        turns="\n</think>\n\n",
        signs=("<think>", "<think_fast"),
    ),
    # Granite 3.3
    _tags(
        "<think>",
        "</think>",
        {"<response>": Mark.TEXT, "</response>": Mark.SAME},
        "<response>",
        ("<think>", "<response>"),
    ),
    # Functionary: the header names a text's recipient
    ReplyFormat(
        "addressee",
        {">>>": Mark.HEADER, "\n": Mark.BODY},
        opens="",
        turns="",
        begins="all\n",
        words=frozenset({"all"}),
        caller=r"\A(?!all\Z)([\w.\-]+)\Z",
        thoughts_end=ThoughtsEnd.MESSAGE,
        signs=(">>>all",),
    ),
    THINK,
)


@functools.lru_cache(maxsize=16)
def format_of(template: str) -> ReplyFormat:
    """The format of a model with this template; `<think>` by default, because derived models often
    write it although their template does not mention it."""
    form = next((known for known in FORMATS if known.fits(template)), THINK)
    return with_calls(form, form_of(template))


def with_calls(form: ReplyFormat, calls: CallForm | None, offered: bool = False) -> ReplyFormat:
    """The format with calls in this form. A call that begins like any JSON counts only if tools
    are `offered`."""
    if calls is None or (calls.bare and not offered):
        return form
    marks = dict.fromkeys(calls.marks, Mark.IN_CALL) | dict.fromkeys(calls.opens, Mark.CALL)
    return replace(form, marks=marks | dict(form.marks), calls=calls)
