"""The transcript: long chats stay light, the reader's place is kept, selection crosses blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from headstart.core.chats.parts import (
    BlobRef,
    FilePart,
    ReasoningPart,
    TextPart,
    text_part,
)
from headstart.core.chats.sections import sections_of
from headstart.core.chats.values import FinishReason, Message, MessageStatus, Role, TurnStats
from headstart.ui.transcript.block_stack import EVERYTHING
from headstart.ui.transcript.blocks import open_link
from headstart.ui.transcript.code_block import CodeBlock
from headstart.ui.transcript.editor import MessageEditor
from headstart.ui.transcript.highlight import lex
from headstart.ui.transcript.stack import anchor_at
from headstart.ui.transcript.view import TranscriptView
from headstart.ui.transcript.words import figures_of, figures_text
from tests.conftest import until
from tests.support.plain import plain
from tests.ui.looks import REPLY


def _message(number: int, text: str, status: MessageStatus = MessageStatus.COMPLETE) -> Message:
    role = Role.USER if number % 2 == 0 else Role.ASSISTANT
    return Message(f"m{number}", "c", None, role, status, text_part(text), 0)


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TranscriptView]:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    yield view
    view.host.highlighter.close()


def _widgets(view: TranscriptView) -> int:
    return sum(item.widget is not None for item in view.column.items)


def test_of_five_hundred_messages_only_the_near_ones_are_widgets(view: TranscriptView) -> None:
    view.set_branch([_message(n, REPLY if n % 2 else f"question {n}") for n in range(500)], False)
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum()
    assert 0 < _widgets(view) < 30
    for value in range(0, bar.maximum(), bar.maximum() // 20):
        bar.setValue(value)
    assert _widgets(view) < 30


def test_the_view_follows_the_end_only_while_the_reader_is_there(view: TranscriptView) -> None:
    messages = [_message(n, REPLY if n % 2 else "question") for n in range(20)]
    messages.append(_message(20, "last question"))
    messages.append(_message(21, "", MessageStatus.OPEN))
    view.set_branch(messages, False)
    bar = view.verticalScrollBar()

    def grow(lines: int) -> None:
        view.reply.show("m21", sections_of([TextPart("a line\n\n" * lines)]))
        view.reply.paint()
        view.column.place()

    grow(30)
    assert bar.value() == bar.maximum()
    bar.setValue(bar.maximum() // 2)
    place = anchor_at(view.column.items, bar.value())
    assert place is not None
    for lines in (60, 90, 120):
        grow(lines)
        again = anchor_at(view.column.items, bar.value())
        assert again is not None
        assert again == place
    bar.setValue(bar.maximum())
    grow(150)
    assert bar.value() == bar.maximum()


def test_selection_goes_over_blocks_and_messages(view: TranscriptView) -> None:
    view.set_branch(
        [
            _message(0, "first question"),
            _message(1, "answer **bold** text\n\n```py\ncode = 1\n```"),
        ],
        False,
    )
    view.select_all()
    assert view.selecting.text() == "first question\n\nanswer bold text\n\ncode = 1"
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == view.selecting.text()
    widget = view.widget_of("m1")
    assert widget is not None
    prose, code = widget.text.widgets()
    QTest.mousePress(prose, Qt.MouseButton.LeftButton, pos=QPoint(0, 8))
    assert view.selecting.text() == ""
    view.selecting.extend_to(code.mapTo(view.viewport(), QPoint(60, code.height() - 4)))
    assert view.selecting.text().startswith("answer bold text\n\ncode")


def test_code_has_language_copy_and_colours_and_scrolls_sideways(
    view: TranscriptView, qtbot: QtBot
) -> None:
    code = "def f():\n    return " + " + ".join(["'text'"] * 40)
    view.set_branch([_message(0, "q"), _message(1, f"```python\n{code}\n```")], False)
    widget = view.widget_of("m1")
    assert widget is not None
    (block,) = widget.text.widgets()
    assert isinstance(block, CodeBlock)
    qtbot.waitUntil(lambda: bool(block.spans))
    assert block.document.begin().layout().formats()
    assert not block.bar.isHidden()
    block.copy_button.click()
    assert QGuiApplication.clipboard().text() == code


def test_lexing_covers_the_code_and_survives_unknown_languages() -> None:
    code = "def f(x):\n    # no\n    return 'a' + str(1)\n"
    spans = lex(code, "Python")
    found = {code[start : start + length]: role for start, length, role in spans}
    assert found["def"] == "keyword"
    assert found["# no"] == "comment"
    assert lex(code, "no-such-language") == []
    diff = "-old line\n+new line\n same\n"
    roles = {
        diff[start : start + length].strip(): role for start, length, role in lex(diff, "diff")
    }
    assert roles == {"-old line": "danger", "+new line": "string"}
    assert lex(code, "") == []


async def test_an_edit_in_progress_survives_a_refresh_of_the_branch(view: TranscriptView) -> None:
    messages = [_message(0, "question"), _message(1, "answer")]
    view.set_branch(messages, False)
    widget = view.widget_of("m0")
    assert widget is not None
    widget.begin_edit()
    assert widget.editor is not None
    widget.editor.setPlainText("changed")
    view.set_branch(messages, True)
    await asyncio.sleep(0.05)
    assert view.widget_of("m0") is widget
    assert widget.editor is not None
    assert widget.editor.toPlainText() == "changed"
    QTest.keyClick(widget.editor, Qt.Key.Key_Escape)
    assert not widget.editing
    view.column.place()
    assert widget.text.widgets()[0].isVisible()


async def test_reasoning_is_folded_away_until_it_is_asked_for(view: TranscriptView) -> None:
    parts = (ReasoningPart("first this"), TextPart("then that"))
    reply = Message("m1", "c", None, Role.ASSISTANT, MessageStatus.COMPLETE, parts, 0)
    view.set_branch([_message(0, "q"), reply], False)
    widget = view.widget_of("m1")
    assert widget is not None
    assert widget.reasoning.stack.widgets() == []
    assert plain(widget.reasoning.toggle.text()) == "Thought · “first this”"
    before = widget.height()
    widget.reasoning.toggle.click()
    await until(lambda: widget.height() > before)
    (thought,) = widget.reasoning.stack.widgets()
    assert thought.isVisible()


def test_another_version_keeps_the_readers_place(view: TranscriptView) -> None:
    messages = [_message(n, REPLY * 3 if n % 2 else "question") for n in range(10)]
    view.set_branch(messages, False)
    item = view.column.items[5]
    foot = item.top + item.height
    view.verticalScrollBar().setValue(foot - 200)
    item = view.column.items[5]
    before = item.top + item.height - view.verticalScrollBar().value()
    shorter = Message("other", "c", None, Role.ASSISTANT, MessageStatus.COMPLETE,
                      text_part("Short."), 0)  # fmt: skip
    view.set_branch([*messages[:5], shorter, *messages[6:]], True)
    new = view.column.items[5]
    assert new.message.id == "other"
    assert abs(new.top + new.height - view.verticalScrollBar().value() - before) <= 2


async def test_a_code_block_that_streams_gets_its_colours(
    view: TranscriptView, qtbot: QtBot
) -> None:
    view.set_branch([_message(0, "q"), _message(1, "", MessageStatus.OPEN)], False)
    text = "```python\n"
    for number in range(30):
        text += f"value_{number} = 'text'  # {number}\n"
        view.reply.show("m1", sections_of([TextPart(text)]))
        view.reply.paint()
    widget = view.widget_of("m1")
    assert widget is not None
    (block,) = widget.text.widgets()
    assert isinstance(block, CodeBlock)
    assert block.document.toPlainText() == text.removeprefix("```python\n").rstrip("\n")
    last = block.document.lastBlock()
    await until(lambda: bool(last.layout().formats()))


def test_selecting_five_hundred_messages_makes_no_widgets_for_them(view: TranscriptView) -> None:
    view.set_branch([_message(n, f"text {n}") for n in range(500)], False)
    view.select_all()
    assert view.selecting.text().split("\n\n") == [f"text {n}" for n in range(500)]
    assert _widgets(view) < 60


def test_figures_in_plain_words() -> None:
    stats = TurnStats(FinishReason.END, 1236, 1204, 0.05, 0.0934, 101, 4.0)
    assert plain(figures_text(stats)) == "25 tok/s"
    whole = "25 tok/s · first word after 0.1 s · 1,204 tokens reused"
    assert plain(figures_text(stats, whole=True)) == whole
    assert [(plain(name), plain(value)) for name, value in figures_of(stats)] == [
        ("Speed", "25 tokens per second"),
        ("Written", "101 tokens"),
        ("First word after", "0.1 s"),
        ("Reused", "1,204 of 1,236 tokens"),
    ]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:1", "/bin/sh", "smb://x/y", ""])
def test_only_web_and_mail_links_open(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from headstart.ui.transcript import blocks

    opened: list[object] = []

    class Services:
        openUrl = opened.append  # noqa: N815

    monkeypatch.setattr(blocks, "QDesktopServices", Services)
    open_link(url)
    assert opened == []
    open_link("https://example.org")
    assert len(opened) == 1


def test_what_belongs_to_a_message_is_shown_as_a_labelled_box(view: TranscriptView) -> None:
    blob = BlobRef("0" * 64, 12_000, "text/plain")
    notes = FilePart("notes.txt", blob, "Rivers flow.")
    question = replace(_message(0, ""), parts=(notes, TextPart("What is this?")))
    view.set_branch([question], same_chat=False)
    widget = view.widget_of(question.id)
    assert widget is not None
    (box,) = widget.findChildren(QLabel, "partBox")
    assert isinstance(box, QLabel)
    assert all(text in plain(box.text()) for text in ("notes.txt", "12 kB"))
    assert plain(box.accessibleName()) == "File notes.txt (12 kB)"
    assert box.isVisibleTo(view)
    # above the text, and not over it
    assert box.geometry().bottom() < widget.text.widgets()[0].geometry().top()


def test_boxes_stay_above_the_editor_and_a_file_alone_has_no_empty_bubble(
    view: TranscriptView,
) -> None:
    blob = BlobRef("0" * 64, 12_000, "text/plain")
    notes = FilePart("notes.txt", blob, "Rivers flow.")
    question = replace(_message(0, ""), parts=(notes, TextPart("What is this?")))
    alone = replace(_message(2, ""), parts=(notes,))
    view.set_branch([question, _message(1, "Notes."), alone], same_chat=False)
    widget = view.widget_of(question.id)
    assert widget is not None
    widget.begin_edit()
    widget.lay_out(600, EVERYTHING)
    (box,) = widget.findChildren(QLabel, "partBox")
    (editor,) = widget.findChildren(MessageEditor)
    assert isinstance(box, QLabel)
    assert box.isVisibleTo(view)
    assert box.geometry().bottom() < editor.mapTo(widget, QPoint(0, 0)).y()
    other = view.widget_of(alone.id)
    assert other is not None
    assert not other.text.widgets()


async def test_a_long_reply_is_parsed_as_a_whole_beside_the_window(view: TranscriptView) -> None:
    """A definition at its end makes a link of words at its beginning."""
    opened = _message(1, "", MessageStatus.OPEN)
    view.set_branch([opened], same_chat=False)
    text = "See [the source].\n\n" + "A paragraph of the reply.\n\n" * 600
    text += "[the source]: https://example.org\n"
    widget = view.widget_of(opened.id)
    assert widget is not None
    for end in (100, len(text) // 2, len(text)):
        widget.show_reply(sections_of([TextPart(text[:end])]))
    assert "https://example.org" not in widget.text.slots[0].block.html
    view.set_message(_message(1, text))
    await until(lambda: "https://example.org" in widget.text.slots[0].block.html)
    # what comes for another text is not taken
    before = [slot.block for slot in widget.text.slots]
    widget.take_parsed("Another text", [])
    assert [slot.block for slot in widget.text.slots] == before
