"""Tokens to text: no cut characters, no stop strings, no lost words."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.core.chats.parts import Origin, PartKind
from headstart.core.requests import WrittenSoFar
from headstart.engine.markup.formats import THINK, with_calls
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.markup.tool_calls.forms import GENERIC


def _feed(stream: TextStream, chunks: list[bytes]) -> list[tuple[PartKind, str]]:
    pieces = [piece for chunk in chunks for piece in stream.push(chunk)]
    pieces += stream.finish()
    joined: list[tuple[PartKind, str]] = []
    for piece in pieces:
        if joined and joined[-1][0] is piece.kind:
            joined[-1] = (piece.kind, joined[-1][1] + piece.text)
        else:
            joined.append((piece.kind, piece.text))
    return joined


def _cut(data: bytes, sizes: list[int]) -> list[bytes]:
    chunks, at = [], 0
    for size in sizes:
        chunks.append(data[at : at + size])
        at += size
    return [*chunks, data[at:]]


@given(st.text(max_size=60), st.lists(st.integers(1, 5), max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_cut_of_the_bytes_gives_the_same_text(text: str, sizes: list[int]) -> None:
    text = text.replace("<", "")
    got = _feed(TextStream(), _cut(text.encode(), sizes))
    assert "".join(piece for _, piece in got) == text


@given(st.text("ab<|>", max_size=40), st.lists(st.integers(1, 4), max_size=40))
@settings(max_examples=300, deadline=None)
def test_text_ends_before_the_first_stop_string_however_it_is_cut(
    text: str, sizes: list[int]
) -> None:
    stop = ("a<|b", "bb>")
    stream = TextStream(stop)
    got = "".join(piece for _, piece in _feed(stream, _cut(text.encode(), sizes)))
    ends = [at for mark in stop if (at := text.find(mark)) >= 0]
    if not ends:
        assert (got, stream.stopped) == (text, False)
        return
    # cut into pieces the stream stops at the mark that is complete first
    assert stream.stopped
    assert text.startswith(got)
    assert len(got) in ends or len(got) == min(ends)


def test_a_character_of_four_tokens_comes_whole() -> None:
    stream = TextStream()
    data = "🙂".encode()
    assert [stream.push(data[i : i + 1]) for i in range(3)] == [[], [], []]
    (piece,) = stream.push(data[3:])
    assert piece.text == "🙂"


def test_a_possible_stop_string_is_held_back_and_let_go() -> None:
    stream = TextStream(("STOP",))
    assert stream.push(b"ab ST")[0].text == "ab "
    assert stream.push(b"AR")[0].text == "STAR"
    assert not stream.stopped


def test_reasoning_is_told_apart_even_when_the_tag_is_cut() -> None:
    data = "<think>\nWell, 2+2.\n</think>\n\nFour. <think> is a tag."
    for size in range(1, 9):
        chunks = [data.encode()[at : at + size] for at in range(0, len(data), size)]
        assert _feed(TextStream(), chunks) == [
            (PartKind.REASONING, "Well, 2+2.\n"),
            (PartKind.TEXT, "Four. <think> is a tag."),
        ]


def test_a_prompt_that_opens_the_tag_begins_in_reasoning() -> None:
    stream = TextStream()
    stream.follow("<|assistant|>\n<think>\n")
    got = _feed(stream, [b"Hm.</think>Yes."])
    assert got == [(PartKind.REASONING, "Hm."), (PartKind.TEXT, "Yes.")]


def test_every_piece_keeps_the_origin_of_its_token() -> None:
    stream = TextStream(("XYZ",))
    pieces = stream.push(b"one X", Origin.TARGET) + stream.push(b"Y two", Origin.DRAFT)
    pieces += stream.finish()
    assert [(piece.text, piece.origin) for piece in pieces] == [
        ("one ", Origin.TARGET),
        ("X", Origin.TARGET),
        ("Y two", Origin.DRAFT),
    ]


def test_half_a_character_is_dropped_when_the_reply_is_stopped() -> None:
    stream = TextStream()
    pieces = stream.push(b"ok \xf0\x9f")
    assert stream.incomplete == 2
    pieces += stream.finish(ended=False)
    assert "".join(piece.text for piece in pieces) == stream.text == "ok "


def test_a_reply_that_goes_on_takes_a_tag_for_text() -> None:
    stream = TextStream()
    stream.follow("", "It says ")
    assert _feed(stream, [b"<think> is", b" a tag"]) == [(PartKind.TEXT, "<think> is a tag")]


def test_broken_bytes_become_a_replacement_and_nothing_is_lost() -> None:
    got = _feed(TextStream(), [b"a\xff", b"b\xe2\x82"])
    assert got == [(PartKind.TEXT, "a\ufffdb\ufffd")]


def test_a_mark_that_is_a_token_counts_only_as_one() -> None:
    """A model that writes about tags spells them in other tokens."""
    stream = TextStream(form=THINK, tokens=("<think>", "</think>"))
    pieces = stream.push(b"<think> is a tag. ")
    pieces += stream.push(b"<think>", mark="<think>")
    pieces += stream.push(b"</think> closes it.")
    pieces += stream.push(b"</think>", mark="</think>")
    pieces += stream.push(b"So.")
    assert [(piece.kind, piece.text) for piece in pieces] == [
        (PartKind.TEXT, "<think> is a tag. "),
        (PartKind.REASONING, "</think> closes it."),
        (PartKind.TEXT, "So."),
    ]


def test_what_was_written_so_far_is_told_with_what_is_held_back() -> None:
    stream = TextStream()
    stream.push(b"<think>\nHm. </thi")
    assert stream.so_far == WrittenSoFar("Hm. </thi")
    stream.push(b"nk>\n\nYes")
    assert stream.so_far == WrittenSoFar("Hm. ", "Yes", closed=True)


THOUGHT = "<think>\nOne. STOP Two.\n</think>\n\n"


@given(st.lists(st.integers(1, 4), max_size=40))
@settings(max_examples=100, deadline=None)
def test_a_stop_string_sleeps_in_thoughts(sizes: list[int]) -> None:
    stream = TextStream(("STOP",))
    got = _feed(stream, _cut(f"{THOUGHT}Three. STOP Four.".encode(), sizes))
    assert got == [(PartKind.REASONING, "One. STOP Two.\n"), (PartKind.TEXT, "Three. ")]
    assert (stream.stopped, stream.stopped_by) == (True, "STOP")


def test_a_stop_string_sleeps_in_thoughts_whose_marks_are_tokens() -> None:
    stream = TextStream(("STOP",), tokens=("<think>", "</think>"))
    pieces = stream.push(b"<think>", mark="<think>") + stream.push(b"One. STOP")
    pieces += stream.push(b"</think>", mark="</think>") + stream.push(b"Two. STOP Three.")
    assert [(one.kind, one.text) for one in pieces] == [
        (PartKind.REASONING, "One. STOP"), (PartKind.TEXT, "Two. "),
    ]  # fmt: skip


@given(st.sampled_from(["\n", "\n\n"]), st.lists(st.integers(1, 4), max_size=40))
@settings(max_examples=100, deadline=None)
def test_the_line_breaks_behind_thoughts_are_no_stop_string(stop: str, sizes: list[int]) -> None:
    stream = TextStream((stop,))
    got = _feed(stream, _cut(f"{THOUGHT}Three.\n\nFour.".encode(), sizes))
    assert got[-1] == (PartKind.TEXT, "Three.")
    assert stream.stopped


def test_the_models_own_end_counts_in_thoughts() -> None:
    """Of a template in whose vocabulary the end of a turn is no token."""
    stream = TextStream(("STOP",), ends=("<|end|>",))
    got = _feed(stream, [b"<think>\nOne. STOP", b" Two.<|e", b"nd|><|user|>"])
    assert got == [(PartKind.REASONING, "One. STOP Two.")]
    assert stream.stopped_by == "<|end|>"


def test_a_turn_that_the_models_own_end_ends_is_over() -> None:
    """A call in thoughts that it never closed is one."""
    call = b'<tool_call>{"name": "lamp", "arguments": {}}</tool_call>'
    stream = TextStream(form=with_calls(THINK, GENERIC), tools={"lamp": {}}, ends=("<|end|>",))
    stream.push(b"<think>\nHm." + call + b"<|end|>")
    stream.finish(ended=False)
    assert stream.calls == [("lamp", "{}")]
