"""Texts that are no proper Markdown are shown all the same, whole, and nothing is fetched."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from headstart.core.chats.parts import text_part
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.ui.transcript.markdown import parse
from headstart.ui.transcript.prose import fill
from headstart.ui.transcript.streaming import StreamingMarkdown
from headstart.ui.transcript.view import TranscriptView
from tests.support.markdown_texts import mutated

COUNTS = [200, pytest.param(5_000, marks=pytest.mark.proof)]


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TranscriptView]:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(700, 900)
    view.show()
    yield view
    view.host.highlighter.close()


class Watched(QTextDocument):
    """Notes what it is asked to load."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def loadResource(self, kind: int, url: QUrl | str) -> object:  # noqa: N802
        self.asked.append(QUrl(url).toString())
        return None


@pytest.mark.parametrize("count", COUNTS)
def test_every_text_is_shown_and_copied(view: TranscriptView, count: int) -> None:
    rng = random.Random(23)
    for number in range(count):
        text = mutated(rng, rng.randrange(1, 120))
        reply = Message("m1", "c", None, Role.ASSISTANT, MessageStatus.COMPLETE, text_part(text), 0)
        view.set_branch([reply], same_chat=False)
        view.select_all()
        view.selecting.text()
        view.selecting.markdown()
        blocks = parse(text)
        # no character is lost: what is no block is white space, or a definition
        assert sum(len(block.source) for block in blocks) <= len(text.replace("\r", "\n"))
        if number % 10 == 0:
            view.grab()


@pytest.mark.parametrize("count", COUNTS)
def test_nothing_is_loaded(qtbot: QtBot, count: int) -> None:
    rng = random.Random(29)
    for _ in range(count):
        text = mutated(rng, 60) + " ![a](http://tracker.example/x.png) <img src='http://y/z.png'>"
        for block in parse(text):
            document = Watched()
            fill(document, block)
            document.setTextWidth(400)
            # formulas are images until they are drawn; no address is asked
            assert all(url.startswith("formula:") for url in document.asked)


@pytest.mark.parametrize("count", COUNTS)
def test_streamed_in_pieces_it_is_the_same_in_the_end(count: int) -> None:
    rng = random.Random(31)
    for _ in range(count):
        text = mutated(rng, rng.randrange(1, 60))
        streamed, at = StreamingMarkdown(), 0
        while at < len(text):
            step = rng.randrange(1, 40)
            streamed.append(text[at : at + step])
            at += step
        streamed.finish()
        assert streamed.blocks == parse(text)
