"""Long results are cut by tokens and kept whole; calls and loops end in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from headstart.chat.agent import stream
from headstart.chat.agent.shortening import LEAST_TOKENS, Count, Shortening
from headstart.chat.agent.stream import MOST_SECONDS, MOST_STEPS
from headstart.chat.agent.toolbox import ToolOutcome
from headstart.chat.reply_parts import parts_of
from headstart.chat.requests import Asked
from headstart.core.chats.parts import (
    CallEnd,
    Origin,
    OriginRun,
    PartKind,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    needed_blobs,
    origins_of,
    text_of,
)
from headstart.core.chats.values import Message, MessageStatus
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    CallStep,
    ContextUse,
    Finished,
    GenerationEvent,
    TextAdded,
    TextPiece,
    ToolDone,
)
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import ChatOptions
from headstart.exchange import own_format
from headstart.exchange.tree import ChatNode, ExchangeChat
from headstart.storage.worker import Store
from headstart.ui.reply_text import ReplyText
from tests.support.answers import Answer, Talk, stats

TERM = ("calculate", '{"term": "1 + 1"}')


async def _four(texts: Sequence[str]) -> Sequence[int] | None:
    return [-(-len(text) // 4) for text in texts]


async def _nobody(_texts: Sequence[str]) -> Sequence[int] | None:
    return None


async def _allow(talk: Talk, chat_id: str, *tools: str) -> None:
    await talk.choices.set_options(chat_id, ChatOptions(tools=tools))
    talk.preferences.update(allowed_tools=tools)


async def _result(talk: Talk, chat_id: str) -> ToolResultPart:
    reply = (await talk.branches.whole(chat_id))[-1]
    return next(part for part in reply.parts if isinstance(part, ToolResultPart))


@pytest.mark.parametrize("count", [_four, _nobody])
@pytest.mark.parametrize("letter", ["a", "é", "字", "\n"])
async def test_a_result_is_cut_by_tokens_and_kept_whole(
    talk: Talk, chat: str, count: Count, letter: str
) -> None:
    shortening = Shortening(talk.databases)
    text = letter * 100_000
    kept, whole = await shortening.fit(chat, text, 1_000, count)
    assert whole is not None
    body, _, note = kept.rpartition("\n")
    assert text.startswith(body)
    assert note == f"[{len(text) - len(body)} more characters were left out]"
    assert 500 <= len(body) <= 4_000
    stored = await talk.databases.run(chat, lambda store: store.blobs.get(whole))
    assert stored.decode() == text


async def test_a_result_that_fits_stays(talk: Talk, chat: str) -> None:
    shortening = Shortening(talk.databases)
    for text in ("", "short", "x" * LEAST_TOKENS, "x" * 4 * LEAST_TOKENS):
        assert await shortening.fit(chat, text, 0, _four) == (text, None)


async def test_a_result_of_20_megabytes_takes_a_quarter_of_the_free_context(
    talk: Talk, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _allow(talk, chat, "calculate")
    text = "A line of a long result.\n" * 800_000

    async def long(*_given: object) -> ToolOutcome:
        return ToolOutcome(text)

    monkeypatch.setattr(talk.toolbox, "run", long)

    class Used(Answer):
        async def __aiter__(self) -> AsyncIterator[GenerationEvent]:
            yield ContextUse(2_000, 10_000)
            async for event in super().__aiter__():
                yield event

    talk.answerer.answers = [Used(calls=[TERM]), Answer(["Long."])]
    await talk.say(chat, "Compute.")
    result = await _result(talk, chat)
    assert result.whole is not None
    assert result.whole.size == len(text)
    # four characters a token: a quarter of 8,000
    assert 6_000 < len(result.text) <= 8_100
    reply = (await talk.branches.whole(chat))[-1]
    assert needed_blobs(reply.parts) == [result.whole.digest]
    blob = result.whole
    stored = await talk.databases.run(chat, lambda store: store.blobs.get(blob))
    assert len(stored) == len(text)


async def test_a_tool_that_never_ends_is_ended(
    talk: Talk, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _allow(talk, chat, "calculate")
    monkeypatch.setattr(stream, "CALL_SECONDS", 0.01)

    async def endless(*_given: object) -> ToolOutcome:
        await asyncio.Event().wait()
        return ToolOutcome("")

    monkeypatch.setattr(talk.toolbox, "run", endless)
    talk.answerer.answers = [Answer(calls=[TERM]), Answer(["Then not."])]
    await talk.say(chat, "Compute.")
    result = await _result(talk, chat)
    assert result.failed
    assert "did not end" in result.text
    assert (await talk.texts(chat))[-1].endswith("Then not.")


async def test_a_long_loop_pauses(talk: Talk, chat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await _allow(talk, chat, "calculate")

    async def slow(*_given: object) -> ToolOutcome:
        talk.clock.now += MOST_SECONDS / 2
        return ToolOutcome("2")

    monkeypatch.setattr(talk.toolbox, "run", slow)
    talk.answerer.answers = [Answer(calls=[TERM]) for _ in range(9)]
    await talk.say(chat, "Compute.")
    reply = (await talk.branches.whole(chat))[-1]
    assert reply.status is MessageStatus.STOPPED
    results = [part for part in reply.parts if isinstance(part, ToolResultPart)]
    assert len(results) == 3
    assert results[0].seconds == MOST_SECONDS / 2


async def test_one_call_is_stopped_and_the_reply_goes_on(
    talk: Talk, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _allow(talk, chat, "calculate")
    began = asyncio.Event()

    async def endless(*_given: object) -> ToolOutcome:
        began.set()
        await asyncio.Event().wait()
        return ToolOutcome("")

    monkeypatch.setattr(talk.toolbox, "run", endless)
    talk.answerer.answers = [Answer(calls=[TERM]), Answer(["Then not."])]
    await talk.conversation.send(chat, "Compute.")
    await began.wait()
    talk.running.stop(chat, 1)
    await talk.written(chat)
    result = await _result(talk, chat)
    assert (result.end, result.failed) == (CallEnd.STOPPED, True)
    reply = (await talk.branches.whole(chat))[-1]
    assert reply.status is MessageStatus.COMPLETE
    # it has ended: nothing happens
    talk.running.stop(chat, 1)


def test_parts_keep_where_arguments_came_from_and_how_calls_ended() -> None:
    def step(step: CallStep, text: str, origin: Origin = Origin.TARGET) -> TextPiece:
        return TextPiece(PartKind.TOOL_CALL, text, origin, "now", 1, step)

    events: list[TextPiece | ToolDone] = [
        step(CallStep.BEGAN, ""),
        step(CallStep.MORE, '{"a"'),
        step(CallStep.MORE, ": 1}", Origin.DRAFT),
        step(CallStep.WHOLE, '{"a": 1}'),
        ToolDone(1, "now", "noon", True, CallEnd.STOPPED, 2.5),
    ]
    call, result = parts_of(events, "m")
    assert isinstance(call, ToolCallPart)
    assert [(run.length, run.origin) for run in call.origins] == [
        (4, Origin.TARGET), (4, Origin.DRAFT)
    ]  # fmt: skip
    assert isinstance(result, ToolResultPart)
    assert (result.end, result.seconds) == (CallEnd.STOPPED, 2.5)
    # journaled in pieces, the beginning is missing: no origins, rather than wrong ones
    (late,) = parts_of(events[2:4], "m")
    assert late.origins == ()
    (cut,) = parts_of([*events[:2], step(CallStep.CUT, '{"a": null}')], "m")
    assert isinstance(cut, ToolCallPart)
    assert cut.cut


async def test_parts_of_calls_come_back_from_the_database_and_from_a_file(
    talk: Talk, chat: str
) -> None:
    await talk.say(chat, "Hello.")
    reply = (await talk.branches.whole(chat))[-1]
    whole = await talk.databases.run(chat, lambda store: store.blobs.put(b"all", "text/plain"))
    parts = (
        TextPart("First."),
        *parts_of(
            [
                TextPiece(PartKind.TOOL_CALL, "{", Origin.DRAFT, "now", 1, CallStep.MORE),
                TextPiece(PartKind.TOOL_CALL, "{", Origin.TARGET, "now", 1, CallStep.CUT),
                ToolDone(1, "now", "a", False, CallEnd.RETURNED, 1.5, whole),
                ToolDone(2, "now", "b", True, CallEnd.DENIED),
            ],
            reply.id,
        ),
        TextPart("Last."),
    )
    await talk.databases.run(
        chat,
        lambda store: store.messages.finish(reply.id, parts, MessageStatus.COMPLETE, None, None),
    )
    stored: Message = (await talk.branches.whole(chat))[-1]
    assert stored.parts == parts
    node = ChatNode(reply.id, None, reply.role, parts, reply.created_at)
    (again,) = own_format.from_json(
        own_format.to_json(ExchangeChat("", "c", "Sums", (node,)))
    ).nodes
    assert again.parts == parts
    # what a chat is searched for stands between its calls, not in them
    found = await talk.finding.in_chat(chat, "first.last", everywhere=False)
    assert not found


async def test_a_killed_reply_keeps_its_calls(talk: Talk, chat: str) -> None:
    """The journal has calls and results, and not their words only."""
    await talk.say(chat, "Hello.")
    reply = (await talk.branches.whole(chat))[-1]
    whole = await talk.databases.run(chat, lambda store: store.blobs.put(b"all", "text/plain"))
    parts = (
        ReasoningPart("Hm."),
        TextPart("Let me see.", (OriginRun(11, Origin.DRAFT),)),
        ToolCallPart("a", "calculate", '{"term": "2+2"}', origins=(OriginRun(3, Origin.DRAFT),)),
        ToolResultPart("a", "calculate", "4", seconds=1.5, whole=whole),
        ToolCallPart("b", "now", "{}", cut=True),
        ToolResultPart("b", "now", "no", True, CallEnd.DENIED),
    )

    def killed(store: Store) -> int:
        store.messages.reopen(reply.id)
        for part in parts:
            store.messages.journal(reply.id, [part])
        return store.messages.recover()

    assert await talk.databases.run(chat, killed) == 1
    again = (await talk.branches.whole(chat))[-1]
    assert again.parts[-len(parts) :] == parts
    assert again.status is MessageStatus.INTERRUPTED
    assert not again.error


async def test_a_count_can_be_stopped(
    talk: Talk, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _allow(talk, chat, "calculate")
    began = asyncio.Event()

    async def long(*_given: object) -> ToolOutcome:
        return ToolOutcome("x" * 100_000)

    async def stuck(*_given: object) -> Sequence[int]:
        began.set()
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr(talk.toolbox, "run", long)
    monkeypatch.setattr(talk.answerer, "count", stuck)
    talk.answerer.answers = [Answer(calls=[TERM])]
    await talk.conversation.send(chat, "Compute.")
    await began.wait()
    talk.replies.stop(chat)
    await talk.written(chat)
    assert (await _result(talk, chat)).end is CallEnd.STOPPED


async def test_a_full_disk_is_a_result(
    talk: Talk, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _allow(talk, chat, "calculate")

    async def full(*_given: object) -> None:
        raise EnvironmentProblem("disk-full")

    monkeypatch.setattr(talk.desk.shortening, "fit", full)
    talk.answerer.answers = [Answer(calls=[TERM]), Answer(["Then not."])]
    await talk.say(chat, "Compute.")
    assert (await _result(talk, chat)).failed
    reply = (await talk.branches.whole(chat))[-1]
    assert reply.status is MessageStatus.COMPLETE
    assert reply.text == "Yes.\n\nThen not."


async def test_broken_letters_of_a_model_are_no_damage(talk: Talk, chat: str) -> None:
    await _allow(talk, chat, "read_attachment")
    half = ("read_attachment", '{"name": "\\ud83d"}')
    talk.answerer.answers = [Answer(calls=[half]), Answer(["I see."])]
    await talk.say(chat, "Read it.")
    reply = (await talk.branches.whole(chat))[-1]
    assert not reply.error
    assert "\N{REPLACEMENT CHARACTER}" in (await _result(talk, chat)).text


@pytest.mark.parametrize(
    "numbers",
    [
        ((1, CallStep.WHOLE), (2, CallStep.CUT)),
        ((1, CallStep.WHOLE), (2, CallStep.WITHDRAWN)),
        ((1, CallStep.WITHDRAWN), (1, CallStep.WHOLE)),
    ],
)
async def test_every_call_has_a_number_of_its_own(
    talk: Talk, chat: str, numbers: Sequence[tuple[int, CallStep]]
) -> None:
    await _allow(talk, chat, "calculate")

    class Cut(Answer):
        async def __aiter__(self) -> AsyncIterator[GenerationEvent]:
            for number, step in numbers:
                piece = TextPiece(PartKind.TOOL_CALL, TERM[1], Origin.TARGET, TERM[0], number, step)
                yield TextAdded((piece,), number, 0.1)
            yield Finished(stats())

    calls = [Answer([], calls=[TERM]) for _ in range(MOST_STEPS - 1)]
    talk.answerer.answers = [Cut(), *calls]
    await talk.say(chat, "Compute.")
    # the loop pauses, and goes on in the same reply
    reply = (await talk.branches.whole(chat))[-1]
    talk.answerer.answers = [Answer([], calls=[TERM]), Answer(["Done."])]
    await talk.conversation.continue_reply(chat, reply.id)
    await talk.written(chat)
    parts = (await talk.branches.whole(chat))[-1].parts
    ids = [part.id for part in parts if isinstance(part, ToolCallPart)]
    kept = sum(step is not CallStep.WITHDRAWN for _, step in numbers)
    assert len(set(ids)) == len(ids) == kept + MOST_STEPS


async def test_a_stop_between_two_steps_stops_the_next(
    talk: Talk, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _allow(talk, chat, "calculate")
    answer, asked = talk.answerer.answer, []

    async def slow(model: ModelRef, question: Asked) -> Answer:
        asked.append(question)
        if len(asked) == 2:
            talk.replies.stop(chat)
            return Answer(["Never."], hold=True)
        return await answer(model, question)

    monkeypatch.setattr(talk.answerer, "answer", slow)
    talk.answerer.answers = [Answer(calls=[TERM])]
    await talk.say(chat, "Compute.")
    assert (await talk.branches.whole(chat))[-1].status is MessageStatus.STOPPED


@pytest.mark.parametrize("before", [["Hi.", "\n\n"], ["Hi.\n\n"], ["\n\n"], [" ", "\n"], ["Hi."]])
def test_white_space_before_a_call_belongs_to_its_mark(before: list[str]) -> None:
    """The same text however its pieces came, on the screen and in the database."""
    call = TextPiece(PartKind.TOOL_CALL, "{}", Origin.TARGET, "now", 1)
    after = TextPiece(PartKind.TEXT, "AB", Origin.LOOKUP)
    pieces = [TextPiece(PartKind.TEXT, text, Origin.DRAFT) for text in before]
    stored = tuple(parts_of([*pieces, call, ToolDone(1, "now", "noon"), after], "m"))
    live = ReplyText((), [*pieces, call, ToolDone(1, "now", "noon"), after]).sections
    assert live.text == text_of(stored) == ("Hi.\n\nAB" if "Hi." in before[0] else "AB")
    assert sum(run.length for run in live.origins) == len(live.text)
    assert live.origins == origins_of(stored)
