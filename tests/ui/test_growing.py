"""A reply that grows: what is added is all that is parsed, laid out and painted, and what is shown
is what it would be if it came at once."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QImage, QPaintEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from headstart.core.chats.parts import TextPart, text_part
from headstart.core.chats.sections import sections_of
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.ui.transcript import blocks as shown_blocks
from headstart.ui.transcript import streaming
from headstart.ui.transcript.blocks import ProseBlock
from headstart.ui.transcript.prose import growth
from headstart.ui.transcript.streaming import StreamingMarkdown, with_words
from headstart.ui.transcript.view import TranscriptView
from tests.support.sampled import sampled
from tests.ui.looks import REPLY

PIECES = st.sampled_from(
    [
        "word", " word", " two words", ", and", "; so", ".", " A", "a", " 2", "2", "\n", "\n\n",
        " ", "'s", "-well", ": so", "!", "?", " co.uk", "- ", "- item", "1. one", "* ", "**", "*",
        "_", "__", "`", "~~", "$", "$$", "[", "](", ")", "(", "http", "://", "www", ".org", "/a",
        "@", ":", "&amp;", "&", "<b>", "</b>", "|", "---", "===", "#", "# head", "> ", "\\", '"',
        "’", "é", "שלום", " עולם", "Привет", "नमस्ते", "日本", "[^1]", "[^1]: ", "- [ ] ", "- [x] ",
        "  ", "    ", "\t", "~~~", "```", "{", "}", "=", "+",
    ]
)  # fmt: skip
# a paragraph in which much is plain
PROSE = st.lists(
    st.one_of(st.sampled_from(["word", " word", ", and", " two words", "."]), PIECES), max_size=30
)


@given(PROSE)
@settings(max_examples=1500, deadline=None, derandomize=True)
def test_words_that_are_only_added_are_what_parsing_would_give(pieces: list[str]) -> None:
    quick, whole = StreamingMarkdown(), StreamingMarkdown()
    for piece in pieces:
        changed = quick.append(piece)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(streaming, "with_words", lambda *_given: None)
            expected = whole.append(piece)
        assert quick.blocks == whole.blocks
        assert changed == expected or quick.blocks[changed:] == whole.blocks[changed:]


def test_most_of_a_reply_is_not_parsed_twice() -> None:
    text, quick = StreamingMarkdown(), 0
    prose = 'The lighthouse stood on a "rock", far from the well-known shore. Its keeper rose. ' * 8
    tokens = re.findall(r" ?[^ ]+", prose)
    for token in tokens:
        quick += bool(text.blocks) and with_words(text.blocks[-1], token) is not None
        text.append(token)
    assert quick > 0.8 * len(tokens)


class Host:
    """What a block asks, of nobody."""

    tinted = False

    def selection_in(self, _block: object) -> None:
        return None

    def found_in(self, _block: object) -> list[tuple[int, int, bool]]:
        return []


@given(PROSE)
@settings(max_examples=400, deadline=None, derandomize=True)
def test_a_document_that_grew_is_the_one_that_is_made_at_once(
    qapp: QApplication, pieces: list[str]
) -> None:
    assert qapp is not None
    streamed, block = StreamingMarkdown(), None
    for piece in pieces:
        before = streamed.blocks[0].html if streamed.blocks else ""
        streamed.append(piece)
        if len(streamed.blocks) != 1 or not streamed.blocks[0].html:
            return
        new = streamed.blocks[0]
        if block is None:
            block = ProseBlock(Host(), None, new)  # type: ignore[arg-type]
        else:
            block.set_block(new)
        if growth(before, new.html) is None:
            continue
        fresh = ProseBlock(Host(), None, new)  # type: ignore[arg-type]
        assert block.document.toHtml() == fresh.document.toHtml()
        assert block.accessibleName() == fresh.accessibleName()
        for document in (block.document, fresh.document):
            document.setTextWidth(200)
        assert block.document.size() == fresh.document.size()


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TranscriptView]:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    yield view
    view.host.highlighter.close()


def on_screen(view: TranscriptView) -> QImage:
    screen = view.screen()
    return screen.grabWindow(view.winId()).toImage().convertToFormat(QImage.Format.Format_RGB32)


MORE = (
    REPLY,
    "The keeper rose early, while the sea was grey. Á high Ǻ letter, and a word " * 6,
    "1. Ein Punkt mit *Betonung* und mehr\n2. und noch einer, der weiter geht\n\n> zitiert, lang\n",
    "שלום לכולם, זה משפט ארוך מאוד שנמשך עוד ועוד ועוד ועוד ועוד ועוד ועוד ועוד ועוד ועוד ועוד\n",
    "| a | b |\n|---|---|\n| one | two |\n| three | four |\n\n$$\nx^2 + y^2\n$$\n\nend",
)


@pytest.mark.parametrize("text", MORE, ids=["reply", "prose", "items", "rtl", "table"])
@pytest.mark.parametrize("step", sampled([3, 11, 40], 11))
def test_what_is_on_the_screen_is_what_was_written(
    view: TranscriptView, monkeypatch: pytest.MonkeyPatch, text: str, step: int
) -> None:
    # colours come when they come
    monkeypatch.setattr(view.host.highlighter, "request", lambda *_asked: None)
    question = Message("q", "c", None, Role.USER, MessageStatus.COMPLETE, text_part("Go on."), 0)
    reply = Message("r", "c", None, Role.ASSISTANT, MessageStatus.OPEN, text_part(""), 0)
    view.set_branch([question, reply], False)
    QApplication.processEvents()
    for end in range(step, len(text) + step, step):
        view.reply.show("r", sections_of([TextPart(text[:end])]))
        view.reply.paint()
        for _ in range(3):
            QApplication.processEvents()
        shown = on_screen(view)
        view.viewport().update()
        for widget in view.viewport().findChildren(shown_blocks.TextBlock):
            widget.update()
        for _ in range(3):
            QApplication.processEvents()
        assert shown == on_screen(view), text[max(0, end - 40) : end]


def test_a_word_is_painted_without_the_lines_above_it(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    areas: list[tuple[int, int]] = []
    paint = ProseBlock.paintEvent

    def counted(self: ProseBlock, event: QPaintEvent) -> None:
        areas.append((event.rect().height(), self.height()))
        paint(self, event)

    monkeypatch.setattr(ProseBlock, "paintEvent", counted)
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    reply = Message("r", "c", None, Role.ASSISTANT, MessageStatus.OPEN, text_part(""), 0)
    view.set_branch([reply], False)
    text = "word " * 120
    for more in ("", "and"):
        areas.clear()
        view.reply.show("r", sections_of([TextPart(text + more)]))
        view.reply.paint()
        for _ in range(3):
            QApplication.processEvents()
    view.host.highlighter.close()
    assert areas
    assert max(painted for painted, _ in areas) < min(height for _, height in areas) / 2
