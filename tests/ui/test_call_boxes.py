"""Tool calls in the transcript: in their order, folded, tinted, cut, walked through by keyboard."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from headstart.chat.agent.permissions import Permission
from headstart.core.chats.parts import (
    BlobRef,
    CallEnd,
    Origin,
    OriginRun,
    Part,
    PartKind,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from headstart.core.chats.sections import CallState
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.core.events import CallStep, TextPiece, ToolAsked, ToolDone, ToolStarted
from headstart.ui.kit.focus import stops_in
from headstart.ui.reply_text import ReplyText
from headstart.ui.transcript.call_text import LINES
from headstart.ui.transcript.message import MessageWidget
from headstart.ui.transcript.view import TranscriptView
from tests.support.plain import plain

LONG = "\n".join(f"line {number}" for number in range(40))
WHOLE = BlobRef("a" * 64, 20_000_000, "text/plain")
PARTS: tuple[Part, ...] = (
    ReasoningPart("First thought."),
    TextPart("I look.\n\n- one\n- two"),
    ToolCallPart("1", "calculate", '{"term": "1 + 1"}', origins=(OriginRun(8, Origin.DRAFT),)),
    ToolCallPart("2", "search_chats", json.dumps({"words": "sea", "more": [1, 2]})),
    ToolResultPart("1", "calculate", "2"),
    ToolResultPart("2", "search_chats", LONG, seconds=2.0, whole=WHOLE),
    ReasoningPart("Second thought."),
    TextPart("Between."),
    ToolCallPart("3", "foreign", "{}"),
    ToolResultPart("3", "foreign", "denied", True, CallEnd.DENIED),
    TextPart("Last."),
)


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TranscriptView]:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(700, 900)
    view.show()
    yield view
    view.host.highlighter.close()


def reply(parts: tuple[Part, ...], status: MessageStatus = MessageStatus.COMPLETE) -> Message:
    return Message("m1", "c", None, Role.ASSISTANT, status, parts, 1_700_000_000_000, model="M")


def shown(view: TranscriptView, message: Message) -> MessageWidget:
    view.set_branch([message], same_chat=False)
    QApplication.processEvents()
    widget = view.widget_of("m1")
    assert widget is not None
    return widget


def in_order(widget: MessageWidget) -> list[str]:
    """Everything that is shown, from top to bottom; nothing lies over anything."""
    found = [(block.geometry(), block.document.toPlainText()) for block in widget.text.widgets()]
    found += [(box.geometry(), box.call.name) for box in widget.body.calls.values()]
    found += [
        (one.toggle.geometry(), "thought")
        for one in widget.body.thoughts
        if not one.toggle.isHidden()
    ]
    found.sort(key=lambda one: one[0].top())
    for (above, _), (below, name) in itertools.pairwise(found):
        # cards of neighbours share a line
        assert above.bottom() <= below.top() + 1, name
    return [name for _, name in found]


def test_everything_stands_where_it_was_written(view: TranscriptView) -> None:
    widget = shown(view, reply(PARTS))
    order = [
        "thought", "I look.", "one", "two", "calculate", "search_chats", "thought", "Between.",
        "foreign", "Last.",
    ]  # fmt: skip
    assert in_order(widget) == order
    for box in widget.body.calls.values():
        box.head.click()
        QApplication.processEvents()
        assert in_order(widget) == order
    # a search and a selection count through the whole message
    view.select_all()
    assert view.selecting.text().endswith("Between.\n\nLast.")
    view.reaching.look_for("Last")
    place = view.host.finding.spans_in(widget.message)[0][0]
    block = widget.text.widget(widget.text.at_source(place))
    assert block.document.toPlainText() == "Last."
    assert view.host.finding.marks_in(block)


def test_a_long_text_is_folded_and_its_whole_can_be_opened(view: TranscriptView) -> None:
    widget = shown(view, reply(PARTS))
    box = widget.body.calls[2]
    low = box.height()
    box.head.click()
    QApplication.processEvents()
    folded = box.height()
    assert low < folded
    assert box.result.edit.toPlainText().count("\n") == LINES - 1
    assert box.result.more.isVisible()
    box.result.more.click()
    QApplication.processEvents()
    assert box.result.edit.toPlainText() == LONG
    assert box.height() > folded
    opened: list[tuple[str, BlobRef]] = []
    view.host.result_opened.connect(lambda name, whole: opened.append((name, whole)))
    assert box.whole_button is not None
    box.whole_button.click()
    assert opened == [("search_chats", WHOLE)]
    box.head.click()
    QApplication.processEvents()
    assert box.height() == low
    assert not box.whole_button.isVisible()


def test_a_line_says_what_a_call_came_to(view: TranscriptView) -> None:
    widget = shown(view, reply(PARTS))
    words = {
        number: tuple(plain(word) for word in box.head.words)
        for number, box in widget.body.calls.items()
    }
    assert words[1] == ("Calculator", "1 + 1", "2", "")
    assert words[2][0] == "Search in your chats"
    assert words[2][2].startswith("line 0 line 1")
    assert words[2][3] == "20 MB · 2.0 s"
    assert words[3] == ("foreign", "", "You denied it", "")
    for box in widget.body.calls.values():
        assert plain(box.head.accessibleName()).startswith(plain(box.head.words[0]))
    alone = shown(view, reply((ToolCallPart("1", "calculate", '{"term": "1'),)))
    assert plain(alone.body.calls[1].head.words[2]) == "Interrupted: it has no result"


def test_drafted_arguments_are_tinted(view: TranscriptView) -> None:
    widget = shown(view, reply(PARTS))
    box = widget.body.calls[1]
    assert box.arguments.edit.extraSelections() == []
    view.host.set_tinted(True)
    (mark,) = box.arguments.edit.extraSelections()
    assert mark.cursor.selectedText() == '{"term":'
    view.host.set_tinted(False)
    assert box.arguments.edit.extraSelections() == []


def test_an_editor_takes_the_place_of_everything_but_the_first_thought(
    view: TranscriptView,
) -> None:
    widget = shown(view, reply(PARTS))
    view.begin_edit("m1")
    QApplication.processEvents()
    assert not any(box.isVisible() for box in widget.body.calls.values())
    assert not widget.body.thoughts[1].toggle.isVisible()
    assert widget.editor is not None
    assert widget.editor.toPlainText() == "I look.\n\n- one\n- two\n\nBetween.\n\nLast."
    QTest.keyClick(widget.editor, Qt.Key.Key_Escape)
    QApplication.processEvents()
    assert len(in_order(widget)) == 10


def test_a_call_grows_asks_runs_and_ends_in_its_place(view: TranscriptView) -> None:
    def step(step: CallStep, text: str = "") -> TextPiece:
        return TextPiece(PartKind.TOOL_CALL, text, Origin.TARGET, "calculate", 1, step)

    widget = shown(view, reply((), MessageStatus.OPEN))
    live = ReplyText()
    answers: list[tuple[int, Permission]] = []
    stops: list[int] = []
    view.host.call_answered.connect(lambda number, answer: answers.append((number, answer)))
    view.host.call_stopped.connect(stops.append)

    def paint(event: TextPiece | ToolAsked | ToolStarted | ToolDone) -> None:
        live.add(event)
        view.reply.show("m1", live.sections)
        view.reply.paint()
        QApplication.processEvents()

    paint(TextPiece(PartKind.TEXT, "I look.", Origin.TARGET))
    paint(step(CallStep.BEGAN))
    box = widget.body.calls[1]
    box.head.click()
    paint(step(CallStep.MORE, '{"term": "1'))
    assert box.arguments.text == '{"term": "1'
    paint(step(CallStep.MORE, ' + 1"}'))
    paint(step(CallStep.WHOLE, '{"term": "1 + 1"}'))
    paint(ToolAsked(1, "calculate", "{}"))
    assert [plain(one.text()) for one in box.answers.values()] == [
        "Allow once", "In this chat", "Always", "Deny"
    ]  # fmt: skip
    assert all(button.isVisible() for button in box.answers.values())
    # every answer is reached in reading order
    stops_of = [one for one in stops_in(widget) if one in box.answers.values()]
    assert stops_of == list(box.answers.values())
    for permission, button in box.answers.items():
        button.click()
        assert answers[-1] == (1, permission)
    paint(ToolStarted(1, "calculate"))
    assert not any(button.isVisible() for button in box.answers.values())
    assert box.stop_button is not None
    box.stop_button.click()
    assert stops == [1]
    paint(ToolDone(1, "calculate", "2"))
    paint(TextPiece(PartKind.TEXT, "Two.", Origin.TARGET))
    assert in_order(widget) == ["I look.", "calculate", "Two."]
    assert widget.body.calls[1] is box
    assert box.call.state is CallState.DONE
    # the stored reply changes nothing
    before = widget.height()
    stored = (
        TextPart("I look."), ToolCallPart("x", "calculate", '{"term": "1 + 1"}'),
        ToolResultPart("x", "calculate", "2"), TextPart("Two."),
    )  # fmt: skip
    view.set_message(replace(reply(stored), status=MessageStatus.COMPLETE))
    QApplication.processEvents()
    assert widget.body.calls[1] is box
    assert in_order(widget) == ["I look.", "calculate", "Two."]
    assert abs(widget.height() - before) < 60


@pytest.mark.parametrize("width", [200, 330, 700])
def test_nothing_of_a_question_is_out_of_sight(view: TranscriptView, width: int) -> None:
    view.resize(width, 900)
    widget = shown(view, reply((), MessageStatus.OPEN))
    live = ReplyText()
    live.add(ToolDone(1, "calculate", "x" * 500))
    live.add(TextPiece(PartKind.TOOL_CALL, "{}", Origin.TARGET, "calculate", 2, CallStep.WHOLE))
    live.add(ToolAsked(2, "calculate", "{}"))
    view.reply.show("m1", live.sections)
    view.reply.paint()
    QApplication.processEvents()
    box = widget.body.calls[2]
    for button in box.answers.values():
        corner = button.geometry().bottomRight()
        assert box.rect().contains(corner - QPoint(1, 1))
    places = [button.geometry() for button in box.answers.values()]
    assert not any(one.intersects(other) for one in places for other in places if one != other)
