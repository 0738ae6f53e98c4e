"""The sections of replies that call tools: their order, their texts, their edits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headstart.core.chats.edited import with_text
from headstart.core.chats.parts import (
    PARAGRAPH,
    CallEnd,
    Origin,
    OriginRun,
    Part,
    PartKind,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    origins_of,
    text_of,
)
from headstart.core.chats.sections import CallState, SaidText, ShownCall, Thought, sections_of
from headstart.core.events import CallStep, TextPiece, ToolAsked, ToolDone, ToolStarted
from headstart.ui.reply_text import ReplyText
from headstart.ui.transcript.sectioned import SectionedMarkdown
from headstart.ui.transcript.streaming import parse_reply

_TEXTS = st.text("ab *\n`|é😀", max_size=12)
_PARTS = st.lists(
    st.one_of(
        st.builds(TextPart, _TEXTS),
        st.builds(ReasoningPart, _TEXTS),
        st.builds(ToolCallPart, st.sampled_from(["", "1", "2", "3"]), st.just("f"), _TEXTS),
        st.builds(
            ToolResultPart,
            st.sampled_from(["", "1", "2", "9"]),
            st.just("f"),
            _TEXTS,
            st.booleans(),
        ),
    ),
    max_size=9,
)


def test_a_reply_is_read_in_the_order_in_which_it_was_written() -> None:
    parts = (
        ReasoningPart("Hm."),
        TextPart("First."),
        ToolCallPart("1", "calculate", "{}"),
        ToolCallPart("2", "now", "{}"),
        ToolResultPart("2", "now", "noon", seconds=2.0),
        ToolResultPart("1", "calculate", "denied", True, CallEnd.DENIED),
        ReasoningPart("So."),
        TextPart("Last."),
        ToolCallPart("3", "now", "{", cut=True),
    )
    found = sections_of(parts)
    assert [type(one) for one in found.all] == [
        Thought, SaidText, ShownCall, ShownCall, Thought, SaidText, ShownCall
    ]  # fmt: skip
    first, second, last = found.calls
    assert (first.number, first.state) == (1, CallState.DENIED)
    assert (second.result, second.seconds, second.state) == ("noon", 2.0, CallState.DONE)
    assert last.state is CallState.CUT
    assert found.text == text_of(parts) == "First.\n\nLast."
    # a call without a result waits while its reply is written, and was interrupted after it
    alone = (ToolCallPart("1", "now", "{}"),)
    assert sections_of(alone).calls[0].state is CallState.INTERRUPTED
    assert sections_of(alone, writing=True).calls[0].state is CallState.WAITING


@given(_PARTS)
def test_sections_have_all_words_calls_and_thoughts(parts: list[Part]) -> None:
    found = sections_of(parts)
    assert found.text == text_of(parts)
    thoughts = "".join(one.text for one in found.all if isinstance(one, Thought))
    said = "".join(part.text for part in parts if isinstance(part, ReasoningPart))
    assert sorted(thoughts) == sorted(said)
    numbers = [one.number for one in found.calls]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= sum(isinstance(part, ToolCallPart) for part in parts)
    results = sum(isinstance(part, ToolResultPart) for part in parts)
    states = (CallState.DONE, CallState.FAILED)
    assert sum(one.state in states for one in found.calls) == results


@given(_PARTS)
def test_blocks_begin_where_they_stand_in_the_text(parts: list[Part]) -> None:
    found = sections_of(parts)
    markdown = SectionedMarkdown()
    markdown.show(found.words)
    for block in markdown.blocks:
        assert found.text.startswith(block.source, block.start)
    if len(found.words) == 1:
        assert markdown.blocks == parse_reply(found.text)


@given(_PARTS, st.integers(1, 5))
def test_a_text_that_grows_has_the_blocks_of_the_whole(parts: list[Part], step: int) -> None:
    """Shown piece by piece, and at once: the unchanged beginning that `show` names is one."""
    words = sections_of(parts).words
    grown = SectionedMarkdown()
    shown: list[str] = []
    for word in words:
        shown.append("")
        for end in range(step, len(word) + step, step):
            shown[-1] = word[:end]
            before = list(grown.blocks)
            changed = grown.show(shown)
            assert grown.blocks[:changed] == before[:changed]
    for word in words:
        grown.finish(word, grown.finished(word))
    at_once = SectionedMarkdown()
    at_once.show(words)
    assert [one.source for one in grown.blocks] == [one.source for one in at_once.blocks]
    assert [one.start for one in grown.blocks] == [one.start for one in at_once.blocks]


@given(_PARTS)
def test_origins_cover_the_text(parts: list[Part]) -> None:
    known = [
        TextPart(part.text, (OriginRun(len(part.text) // 2, Origin.DRAFT),))
        if isinstance(part, TextPart) and len(part.text) > 1
        else part
        for part in parts
    ]
    runs = origins_of(known)
    if runs:
        assert sum(run.length for run in runs) == len(text_of(known))
    if any(part.origins for part in known):
        assert runs


@given(_PARTS, _TEXTS, st.integers(0, 200))
def test_an_edited_reply_has_the_new_text_and_all_calls(
    parts: list[Part], typed: str, at: int
) -> None:
    text = text_of(parts)
    for new in (text, text[:at] + typed + text[at:], typed, text + typed, typed + text):
        found = with_text(parts, new)
        others = [part for part in parts if not isinstance(part, TextPart)]
        assert [part for part in found if not isinstance(part, TextPart)] == others
        assert text_of(found).replace(PARAGRAPH, "") == new.replace(PARAGRAPH, "")
    assert text_of(with_text(parts, text)) == text


def test_an_edit_changes_the_words_that_it_touches() -> None:
    parts = (
        TextPart("First."), ToolCallPart("1", "now", "{}"), ToolResultPart("1", "now", "noon"),
        TextPart("Middle."), ToolCallPart("2", "now", "{}"), TextPart("Last."),
    )  # fmt: skip
    found = with_text(parts, "First.\n\nThe middle.\n\nLast.")
    assert found[3] == TextPart("The middle.")
    assert found[:3] + found[4:] == parts[:3] + parts[4:]


def test_a_live_reply_shows_the_same_as_the_stored_one() -> None:
    def piece(text: str, kind: PartKind = PartKind.TEXT) -> TextPiece:
        return TextPiece(kind, text, Origin.TARGET)

    def step(step: CallStep, text: str = "", call: int = 1) -> TextPiece:
        return TextPiece(PartKind.TOOL_CALL, text, Origin.DRAFT, "now", call, step)

    live = ReplyText()
    for event in (piece("Hm.", PartKind.REASONING), piece("First."), piece("\n")):
        live.add(event)
    live.add(step(CallStep.BEGAN))
    live.add(step(CallStep.MORE, '{"a":'))
    (call,) = live.sections.calls
    assert (call.arguments, call.state) == ('{"a":', CallState.WRITING)
    assert call.origins == (OriginRun(5, Origin.DRAFT),)
    live.add(step(CallStep.MORE, " 1}"))
    live.add(step(CallStep.WHOLE, '{"a": 1}'))
    live.add(step(CallStep.BEGAN, call=2))
    live.add(step(CallStep.WITHDRAWN, call=2))
    assert [one.state for one in live.sections.calls] == [CallState.WAITING]
    live.add(ToolAsked(1, "now", '{"a": 1}'))
    assert live.sections.calls[0].state is CallState.ASKED
    live.add(ToolStarted(1, "now"))
    live.add(ToolDone(1, "now", "noon", seconds=3.0))
    live.add(piece("Last."))
    assert live.sections.text == "First.\n\nLast."
    assert sum(run.length for run in live.sections.origins) == len(live.sections.text)
    assert live.sections.calls[0].result == "noon"
    # taken up in the middle: the parts before, and the events since
    again = ReplyText((TextPart("First."),), [step(CallStep.BEGAN), step(CallStep.MORE, "{")])
    assert again.sections.calls[0].arguments == "{"
