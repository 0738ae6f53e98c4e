"""Marks of reasoning, by family of models; one table. Pure.

A format is chosen by what the model's chat template contains. Its marks are either tokens of
their own or plain text; some stand alone (`<think>`), some enclose a header that says what comes
next (`<|channel|>analysis<|message|>`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from enum import Enum

from msgspec import Struct, field
from msgspec.structs import replace

from headstart.core.requests import WrittenSoFar
from headstart.engine.markup.calls import CALLS, CallMarks


class Mark(Enum):
    """Meaning of a mark."""

    REASONING = "reasoning"
    TEXT = "text"
    # words about what comes, not shown, up to a BODY
    HEADER = "header"
    # words about what has ended, up to a BODY
    CLOSING = "closing"
    # the words of the header
    BODY = "body"
    # the same as before; the mark alone is left out
    SAME = "same"
    # a call of a tool, what is in it, and its end
    CALL, IN_CALL, CALLED = "call", "in call", "called"


class ReplyFormat(Struct, frozen=True):
    """The marks of one family.

    `opens`, `turns` and `begins` are written before reasoning, between reasoning and text, and
    before text without reasoning, when a reply is gone on with.
    """

    name: str
    marks: Mapping[str, Mark]
    opens: str
    turns: str
    begins: str = ""
    # words of a header after which reasoning comes, and the other words that headers have
    thinking: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    # marks that are plain text count everywhere, not only where a reply or its text begins
    anywhere: bool = False
    # a header that is none of these words is the beginning of a thought, not of the answer
    nameless_thoughts: bool = False
    # how calls of tools are written
    calls: CallMarks | None = None
    # the template is of this family when it contains all of these; the marks that open otherwise
    signs: tuple[str, ...] = field(default=())

    def fits(self, template: str) -> bool:
        signs = self.signs or (self.opens.strip(),)
        return all(sign in template for sign in signs)

    def going_on(self, so_far: WrittenSoFar, opened: bool) -> list[tuple[str, bool]]:
        """A reply's beginning as the model would have written it: pieces, and whether each is a
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
        signs=("<|channel|>", "<|message|>"),
    ),
    # Muse Glimmer: the recipient of a message says what it is
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
        # it leaves the name out, too
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
    # Hunyuan A13B: its template takes the tags around an answer away again
    _tags(
        "<think>",
        "</think>",
        {"<answer>": Mark.TEXT, "</answer>": Mark.SAME},
        "<answer>\n",
        ("<think>", "<answer>", "</answer>"),
    ),
    # K2: the tag says how long it thinks
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
    # Functionary: whom a text is for
    ReplyFormat(
        "addressee",
        {">>>": Mark.HEADER, "\n": Mark.BODY},
        opens="",
        turns="",
        begins="all\n",
        words=frozenset({"all"}),
        signs=(">>>all",),
    ),
    THINK,
)


@functools.lru_cache(maxsize=16)
def format_of(template: str) -> ReplyFormat:
    """The format of a model with this template; `<think>` where it tells none, because models
    made from others often write that all the same."""
    form = next((known for known in FORMATS if known.fits(template)), THINK)
    calls = next((known for known in CALLS if known.fits(template)), None)
    if calls is None or form.name == "harmony":
        return form
    marks = {calls.opens: Mark.CALL, **dict.fromkeys(calls.inside, Mark.IN_CALL)}
    if calls.closes:
        marks[calls.closes] = Mark.CALLED
    return replace(form, marks=marks | dict(form.marks), calls=calls)
