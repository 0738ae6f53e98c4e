"""Long results are cut by tokens and kept whole; calls and loops end in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from headstart.chat.agent import stream
from headstart.chat.agent.shortening import LEAST_TOKENS, Shortening
from headstart.chat.agent.stream import MOST_SECONDS
from headstart.chat.agent.toolbox import ToolOutcome
from headstart.chat.reply_parts import parts_of
from headstart.core.chats.parts import (
    CallEnd,
    Origin,
    PartKind,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    needed_blobs,
)
from headstart.core.chats.values import Message, MessageStatus
from headstart.core.events import CallStep, ContextUse, GenerationEvent, TextPiece, ToolDone
from headstart.core.settings.schema import ChatOptions
from headstart.exchange import own_format
from headstart.exchange.tree import ChatNode, ExchangeChat
from tests.support.answers import Answer, Talk

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
    talk: Talk, chat: str, count: object, letter: str
) -> None:
    shortening = Shortening(talk.databases)
    text = letter * 100_000
    kept, whole = await shortening.fit(chat, text, 1_000, count)  # type: ignore[arg-type]
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
