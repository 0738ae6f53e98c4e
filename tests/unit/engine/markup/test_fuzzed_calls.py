"""Replies with calls in every family's form, cut anywhere: nothing is lost, nothing raises, and
pieces say the same as the whole."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from headstart.core.chats.parts import PartKind
from headstart.core.events import CallStep, TextPiece
from headstart.engine.markup.tool_calls.layout import TagLayout
from tests.support.cut_calls import stream_of
from tests.support.tool_forms import shapes, written

# marks of other forms, quotes, signs of more than one unit, and words about calls
NASTY = (
    "</tool_call>", "<tool_call>", "\"}]", "{'a': \"b\"}", "naïve café", "👩‍👩‍👧",
    "\\n \\u00e9", "a\nb\n\nc", "</parameter>", "<|call|>", "[TOOL_CALLS]", "it's", '"', "{", "}",
    "]", ", ", "=", "<", "日本語", "</function>", "plain words", "", "<|tool_call_end|>", "[ARGS]",
    "<|END_ACTION|>", "</TOOLCALL>", "</tool_calls>", "<｜tool▁call▁end｜>", "<|tools_suffix|>",
    "<|tool_call:end|>", "```",
)  # fmt: skip
PROSE = ("I will look.", "Let me see: ", "Hm… ", "So `x < y`.\n", "A tag such as <b>.", "")


def _arguments(rng: random.Random, own: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    def text() -> str:
        found = " ".join(rng.choice(NASTY) for _ in range(rng.randint(1, 3)))
        for mark in own:
            found = found.replace(mark, "")
        return found

    if rng.random() < 0.5:
        value: dict[str, Any] = {"path": text()}
        if rng.random() < 0.5:
            value["from"] = rng.randint(-5, 10**6)
        return "read_file", value
    return "run", {
        "command": [rng.choice(("ls", "-l", "a b", "日本"))],
        "background": rng.random() < 0.5,
    }


def _said(pieces: list[TextPiece]) -> tuple[str, str, list[tuple[str, Any]]]:
    """Text, reasoning, and calls that are over."""
    text = "".join(one.text for one in pieces if one.kind is PartKind.TEXT)
    thought = "".join(one.text for one in pieces if one.kind is PartKind.REASONING)
    ended = (CallStep.WHOLE, CallStep.CUT)
    calls = [
        (one.name, _json(one.text))
        for one in pieces
        if one.kind is PartKind.TOOL_CALL and one.step in ended
    ]
    return text, thought, calls


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return text


def _pushed(
    name: str, raw: str, sizes: random.Random | None, ended: bool = True
) -> list[TextPiece]:
    stream, data, at, pieces = stream_of(name), raw.encode(), 0, []
    while at < len(data):
        size = len(data) if sizes is None else sizes.choice((1, 1, 2, 3, 5, 8, 40))
        pieces += stream.push(data[at : at + size])
        at += size
    return pieces + stream.finish(ended=ended)


# headers begin a reply there, and text a message of its own
HEADED = ("harmony", "recipients", "sections", "addressee", "role")


def _fuzz(name: str, count: int, seed: int) -> None:
    way, layout, mark = shapes()[name]
    rng = random.Random(f"{name}{seed}")
    own: tuple[str, ...] = ()
    if isinstance(layout, TagLayout):
        # there the tags themselves end a value, in every reader
        marks = tuple(one for one in (*way.form.opens, *way.form.inside) if len(one) > 1)
        ends = (layout.value_end, layout.quote, "KEY", "</parameter>", "</function>", "\\", "\n")
        own = tuple(filter(None, marks + ends))
    headed = way.form.name in HEADED or way.form.bare
    for _ in range(count):
        several = way.several and not headed and rng.random() < 0.4
        calls = [_arguments(rng, own) for _ in range(2 if several else 1)]
        prose = "" if headed else rng.choice(PROSE)
        spelled = [
            (tool, json.dumps(value, ensure_ascii=rng.random() < 0.5)) for tool, value in calls
        ]
        raw = prose + written(way, layout, mark, spelled)
        if way.form.name == "addressee":
            raw = f">>>{raw}"
        whole = _said(_pushed(name, raw, None))
        assert _said(_pushed(name, raw, rng)) == whole, raw
        assert whole[2] == calls, raw
        assert whole[0].strip() == prose.strip(), raw
        # cut anywhere: all prose is there, and calls before the cut are whole
        cut = rng.randint(0, len(raw))
        text, _, some = _said(_pushed(name, raw[:cut], rng, ended=rng.random() < 0.5))
        kept = raw[:cut][: len(prose)].strip()
        assert kept in text.strip() or text.strip().startswith(kept), (raw, cut)
        assert all(one in calls for one in some[:-1]), (raw, cut)
        assert not some or some[-1] in calls or isinstance(some[-1][1], str), (raw, cut)
        assert len(some) <= len(calls)


@pytest.mark.parametrize("name", sorted(shapes()))
def test_replies_with_calls_lose_nothing(name: str) -> None:
    _fuzz(name, 6, 1)


@pytest.mark.proof
@pytest.mark.parametrize("name", sorted(shapes()))
def test_many_replies_with_calls_lose_nothing(name: str) -> None:
    _fuzz(name, 1000, 2)


@pytest.mark.parametrize("name", sorted(shapes()))
def test_prose_about_calls_is_prose(name: str) -> None:
    """What is no call whole is text, word for word; in reasoning it is reasoning."""
    way, _, mark = shapes()[name]
    if way.form.name in HEADED or way.form.bare or not mark:
        return
    for words in (
        f"The mark {mark} begins a call.", f"{mark}{mark}", f"Write {mark} there.",
        f"{mark} x {mark} y",
    ):  # fmt: skip
        text, thought, calls = _said(_pushed(name, words, random.Random(1)))
        assert calls == [], words
        assert (thought + text).split() == words.split(), words
