"""No message has a hole: what overlaps the view is a visible widget, however one came there."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QFont, QFontDatabase, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from headstart.core.chats.parts import ReasoningPart, TextPart
from headstart.core.chats.sections import sections_of
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.ui.kit import theme
from headstart.ui.transcript.view import TranscriptView
from tests.support.blank_blocks import blank_blocks
from tests.support.sampled import sampled
from tests.ui.looks import REPLY

HEIGHTS = (500, 900, 1_400, 2_000, 2_800, 3_900, 4_100, 6_000, 11_000, 20_000)
FONT = QFontDatabase.SystemFont.GeneralFont
SENTENCE = "The harbour freezes in January, and the boats lie on the shore until March. "


def _plain(rng: random.Random) -> str:
    return SENTENCE * rng.randint(1, 9)


def _mixed(rng: random.Random) -> str:
    lines = "\n".join(f"line {number} = 'value'" for number in range(rng.randint(1, 60)))
    rows = "\n".join(f"| {number} | {SENTENCE[:20]} |" for number in range(rng.randint(1, 30)))
    kinds = (
        _plain(rng),
        REPLY,
        f"```python\n{lines}\n```",
        f"| n | text |\n|---|---|\n{rows}",
        "# A heading",
        "\n".join(f"- item {number} {SENTENCE}" for number in range(rng.randint(1, 12))),
        "$$\n\\sum_{k=0}^{n} \\binom{n}{k} = 2^n\n$$",
    )
    return rng.choice(kinds)


def _text(height: int, kind: Callable[[random.Random], str], rng: random.Random) -> str:
    """Some `height` px of Markdown, in a column of 720 px."""
    parts: list[str] = []
    lines = 0
    while lines * 22 < height:
        part = kind(rng)
        lines += 1 + sum(1 + len(line) // 95 for line in part.split("\n"))
        parts.append(part)
    return "\n\n".join(parts)


def _message(number: int, text: str, reasoning: str = "") -> Message:
    role = Role.USER if number % 2 == 0 else Role.ASSISTANT
    parts = (ReasoningPart(reasoning),) if reasoning else ()
    done = MessageStatus.COMPLETE
    return Message(f"m{number}", "c", None, role, done, (*parts, TextPart(text)), 0)


def _chat(height: int, kind: Callable[[random.Random], str], rng: random.Random) -> list[Message]:
    """Short and long messages in turns, the last reply `height` px high."""
    return [
        _message(0, "A question."),
        _message(1, _text(rng.randint(50, 6_000), kind, rng)),
        _message(2, _text(rng.choice((50, 50, 3_000)), _plain, rng)),
        _message(3, _text(height, kind, rng), _text(rng.choice((100, 2_500)), _plain, rng)),
    ]


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TranscriptView]:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(900, 700)
    view.show()
    yield view
    view.host.highlighter.close()


def _check(view: TranscriptView, how: str) -> None:
    QApplication.processEvents()
    assert blank_blocks(view) == [], how


def _wheel(view: TranscriptView, steps: int) -> None:
    middle = QPointF(view.viewport().rect().center())
    there, no_keys = view.viewport().mapToGlobal(middle), Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(
        middle, there, QPoint(), QPoint(0, 120 * steps), Qt.MouseButton.NoButton, no_keys,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view.viewport(), event)


@pytest.mark.parametrize("kind", [_plain, _mixed])
@pytest.mark.parametrize("height", sampled(HEIGHTS, *HEIGHTS[::3]))
def test_a_reply_opened_at_its_end_is_whole_up_to_its_beginning(
    view: TranscriptView, height: int, kind: Callable[[random.Random], str]
) -> None:
    rng = random.Random(height)
    view.set_branch(_chat(height, kind, rng), False)
    bar = view.verticalScrollBar()
    _check(view, "opened")
    while bar.value() > 0:
        _wheel(view, rng.randint(1, 6))
        _check(view, f"wheel, at {bar.value()}")
    for value in (bar.maximum(), 0, bar.maximum() // 2, bar.maximum()):
        bar.setValue(value)
        _check(view, f"a jump to {value}")


@pytest.mark.parametrize("seed", range(2))
def test_it_is_whole_after_anything(
    view: TranscriptView, qapp: QApplication, seed: int, request: pytest.FixtureRequest
) -> None:
    _walk(view, qapp, seed, 40, request)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(2, 50))
def test_it_is_whole_after_much_more(
    view: TranscriptView, qapp: QApplication, seed: int, request: pytest.FixtureRequest
) -> None:
    _walk(view, qapp, seed, 100, request)


def _walk(
    view: TranscriptView, qapp: QApplication, seed: int, steps: int, request: pytest.FixtureRequest
) -> None:
    """Random scrolls, sizes, folds, themes, edits, places and streams, one after the other."""
    rng = random.Random(seed)
    height = HEIGHTS[seed % len(HEIGHTS)]
    view.set_branch(_chat(height, _mixed, rng), False)
    bar, system = view.verticalScrollBar(), QFontDatabase.systemFont(FONT)
    request.addfinalizer(lambda: theme.apply(qapp, "system", "inter"))
    request.addfinalizer(lambda: theme.measure(system))
    streamed = _text(rng.choice(HEIGHTS[:8]), _mixed, rng)
    opened = Message("m5", "c", None, Role.ASSISTANT, MessageStatus.OPEN, (), 0)

    def fold() -> None:
        message = view.widget_of("m3")
        assert message is not None
        message.reasoning.toggle.click()

    def edit() -> None:
        message = view.widget_of(rng.choice(("m1", "m3")))
        assert message is not None
        if message.editing:
            message.end_edit()
        else:
            message.begin_edit()

    def go() -> None:
        item = view.column.find(rng.choice(("m1", "m2", "m3")))
        assert item is not None
        view.column.scroll_to(item, rng.randint(0, 5), rng.randint(0, 90), at_top=True)

    def restyle() -> None:
        font = QFont(system)
        font.setPixelSize(round(theme.USUAL_FONT_PX * rng.choice((1, 1, 1.3))))
        theme.measure(font)
        theme.apply(qapp, rng.choice(("light", "dark")), "inter")
        view.refresh()

    def stream() -> None:
        view.set_branch([*_chat(height, _mixed, random.Random(seed)), opened], True)
        for upto in range(0, len(streamed), max(1, len(streamed) // 8)):
            view.reply.show("m5", sections_of([TextPart(streamed[:upto])]))
            view.reply.paint()
            _check(view, "streaming")
            bar.setValue(bar.value() - rng.choice((0, 0, 300, 3_000)))
            _check(view, "streaming, scrolled")
        done = MessageStatus.COMPLETE
        view.set_message(Message("m5", "c", None, Role.ASSISTANT, done, (TextPart(streamed),), 0))

    kinds: list[tuple[str, Callable[[], object]]] = [
        ("wheel", lambda: _wheel(view, rng.randint(-9, 9))),
        ("jump", lambda: bar.setValue(rng.randint(0, bar.maximum()))),
        ("top", lambda: bar.setValue(0)),
        ("end", view.scroll_to_end),
        ("size", lambda: view.resize(rng.randint(400, 1_400), rng.randint(200, 1_600))),
        ("fold", fold),
        ("edit", edit),
        ("place", go),
        ("theme", restyle),
        ("stream", stream),
        ("opened", lambda: view.set_branch(_chat(height, _mixed, random.Random(seed)), False)),
    ]
    done = []
    for _ in range(steps):
        name, step = rng.choice(kinds)
        step()
        done.append(name)
        _check(view, ", ".join(done[-6:]))


def test_a_chat_whose_heights_were_overestimated_is_whole_at_once(view: TranscriptView) -> None:
    """Links: their addresses are not seen."""
    link = f"[word](https://example.org/{'path/' * 2_000})"
    view.resize(900, 2_400)
    view.set_branch([_message(2 * number + 1, link) for number in range(40)], False)
    bar = view.verticalScrollBar()
    assert blank_blocks(view) == [], "opened"
    for value in (bar.maximum() // 2, 0):
        bar.setValue(value)
        assert blank_blocks(view) == [], value
