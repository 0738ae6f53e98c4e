"""Reasoning and text are told apart in every family's own markup, however a reply is cut."""

from __future__ import annotations

import pytest

from headstart.core.chats.parts import PartKind
from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage, WrittenSoFar
from headstart.engine.markup.formats import FORMATS, format_of
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.template import choose
from tests.models.llama_source import templates
from tests.support.reply_samples import SAMPLES, ReplySample, read, template_of

NAMES = [f"{index} {sample.template}" for index, sample in enumerate(SAMPLES)]


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_kinds_are_right_and_no_markup_is_left(sample: ReplySample, size: int) -> None:
    assert read(sample, size) == (sample.reasoning, sample.text)


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_marks_that_are_tokens_give_the_same(sample: ReplySample) -> None:
    form = format_of(template_of(sample.template))
    marks = [mark for mark in form.marks if mark != "\n"]
    stream = TextStream(form=form, tokens=marks)
    stream.follow(sample.prompt)
    rest = sample.raw
    while rest:
        at, mark = min(
            ((at, mark) for mark in marks if (at := rest.find(mark)) >= 0),
            default=(len(rest), ""),
            key=lambda found: (found[0], -len(found[1])),
        )
        for byte in rest[:at].encode():
            stream.push(bytes([byte]))
        if mark:
            stream.push(b"", mark=mark)
        rest = rest[at + len(mark) :]
    stream.finish()
    assert (stream.reasoning.strip(), stream.text.strip()) == (sample.reasoning, sample.text)


def test_every_format_has_a_sample_and_a_template() -> None:
    shown = {format_of(template_of(sample.template)).name for sample in SAMPLES}
    assert {form.name for form in FORMATS} == shown


@pytest.mark.parametrize("name", sorted(templates()))
def test_every_template_takes_a_chat_with_all_its_texts(name: str) -> None:
    chosen = choose(templates()[name], "<s>", "</s>", frozenset())
    assert chosen.fallback is None
    system, first, reply, second = "Answer in rhymes.", "Where is Lisbon?", "In Portugal.", "And?"
    shown = chosen.render(
        [
            PromptMessage(Role.SYSTEM, system),
            PromptMessage(Role.USER, first),
            PromptMessage(Role.ASSISTANT, reply, reasoning="It lies by the sea."),
            PromptMessage(Role.USER, second),
        ]
    )
    for text in (system, first, reply, second):
        assert shown.count(text) == 1
    assert shown.count("It lies by the sea.") <= 1


@pytest.mark.parametrize("name", sorted(templates()))
def test_every_template_takes_a_chat_that_the_model_begins(name: str) -> None:
    """Of characters and imports; also two questions behind each other."""
    chosen = choose(templates()[name], "<s>", "</s>", frozenset())
    welcome = PromptMessage(Role.ASSISTANT, "Welcome, stranger.", "a")
    asked = [PromptMessage(Role.USER, text, text) for text in ("Who are you?", "And where?")]
    for before in ([], [PromptMessage(Role.SYSTEM, "Be Mara.", "s")]):
        messages = [*before, welcome, *asked]
        shown = chosen.render(messages)
        assert [shown.count(one.text) for one in messages] == [1] * len(messages)


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_a_reply_goes_on_where_it_stopped(sample: ReplySample) -> None:
    """In the thought, after it, and in the text: what is written then is read as it was meant."""
    form = format_of(template_of(sample.template))
    start = TextStream(form=form)
    start.follow(sample.prompt)
    for so_far, goes_on in (
        (WrittenSoFar("It is"), PartKind.REASONING),
        (WrittenSoFar("It is", closed=True), PartKind.TEXT),
        (WrittenSoFar("It is", "Four", closed=True), PartKind.TEXT),
        (WrittenSoFar("", "Four", closed=True), PartKind.TEXT),
    ):
        if so_far.reasoning and not form.opens:
            continue
        begun = "".join(text for text, _ in form.going_on(so_far, start.reasons))
        stream = TextStream(form=form)
        stream.follow(sample.prompt, begun)
        (piece,) = stream.push(b" more") + stream.finish()
        assert (piece.kind, piece.text) == (goes_on, " more")
