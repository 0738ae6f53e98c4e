"""Opens every page and sheet of the window, in several sizes, and says what is wrong with it:
`python -m tests.support.walk OUT [words|heard|contrast|light|dark] [WIDTHxHEIGHT ...]`, in both
themes unless one is named. With “words” it looks for words that come from no table instead, with
“heard” for what a screen reader cannot tell and for a focus that nobody sees, with “contrast” for
words and icons that are hard to see. QT_SCALE_FACTOR and WALK_TEXT (the size of text in per cent)
are taken from the environment; OUT gets a JSON list of [where, what]."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import numpy.typing as npt
import qasync
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QAccessible, QCursor, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QScrollArea,
    QWidget,
)

from headstart.assembly import App, close_app, open_app
from headstart.chat.knowledge.asking import DoubtfulPassages
from headstart.core.chats.parts import PassagePart
from headstart.core.serving.line import LineState, ServedLine, Totals
from headstart.core.serving.setups import SETUPS
from headstart.core.text.languages import LANGUAGES
from headstart.core.told import told
from headstart.home import Home
from headstart.launch import make_application
from headstart.ui.kit.sheet import sheet_over
from headstart.ui.knowledge.doubted_sheet import ask_doubted
from tests.support import conversation_files as files
from tests.support.contrast import contrast_faults
from tests.support.fits import faults, in_transcript, name_of, visible
from tests.support.heard import focus_faults, heard_faults, order_faults
from tests.support.marked import mark, unmarked
from tests.ui.looks import HELD, fill

# most levels of a colour by which an edge that is blended twice differs
_BLENDED = 24
# pictures that are taken until two are alike
_LOOKS = 30
SIZES = ((720, 480), (1024, 700), (1366, 768), (1440, 900), (1920, 1080))
_THEMES = ("light", "dark")
Found = tuple[str, str]
_AT = 1_764_000_000_000
_REQUESTS = (
    ServedLine(1, _AT, "Codex", "SmolLM2", LineState.DONE, 9_702, 9_702, 9_000, 0, 9_000, 702, 40,
               1.5, 0.31, 31.4, 20, 15, told("message-changed-unquoted", number=3)),
    ServedLine(2, _AT, "OpenCode", "SmolLM2", LineState.PROCESSING, prompt=200, done=50),
)  # fmt: skip
_DOUBTED = tuple(
    PassagePart(number, f"lease-{number}.pdf", "", page=number) for number in (1, 2, 3)
)
_TOTALS = Totals(2, 9_902, 9_000, 12.0)


# names that are the same in every language
_NAMES = {one.name for one in LANGUAGES} | {one.name for one in SETUPS} | {"app://obsidian.md"}


def foreign_words(window: QWidget) -> list[str]:
    """Words that come from no table, in a window whose tables are marked."""
    return [
        f"in no table: {text[:80]!r} of {name_of(widget)}"
        for widget in visible(window)
        if not in_transcript(widget)
        for text in unmarked(widget)
        if text not in _NAMES
    ]


def remains(window: QWidget) -> list[str]:
    """Buttons that look as if the pointer or the keyboard were there, after a page was left."""
    found = []
    for widget in window.findChildren(QAbstractButton):
        there = widget.rect().contains(widget.mapFromGlobal(QCursor.pos()))
        hovered = widget.underMouse() and not there
        if widget.isVisible() and (hovered or widget.hasFocus() or widget.isDown()):
            found.append(f"remains: {name_of(widget)}")
    return found


async def stale(window: QWidget) -> list[str]:
    """Places that show what is not so any more: nothing told Qt to paint them."""
    shown = await _at_rest(window)
    for widget in (window, *window.findChildren(QWidget)):
        widget.update()
    painted = await _at_rest(window)
    if not differ(shown, painted):
        return []
    for widget in reversed([*visible(window)]):
        area = QRect(widget.mapTo(window, QPoint()), widget.size())
        if not isinstance(widget, QScrollArea) and differ(shown.copy(area), painted.copy(area)):
            return [f"stale: {name_of(widget)}"]
    return ["stale: somewhere"]


def differ(one: QImage, other: QImage) -> bool:
    """True if two pictures differ. At a scale of one and a half, Qt blends the edge of a part that
    is painted alone in another way: lines of one pixel by a few levels are no difference there."""
    if one == other:
        return False
    if one.size() != other.size() or one.devicePixelRatio().is_integer():
        return True
    levels = np.abs(_pixels(one) - _pixels(other)).max(axis=2)
    if levels.max() > _BLENDED:
        return True
    # any place that is wider and higher than a line
    changed = levels > 0
    both = changed[1:] & changed[:-1]
    return bool((both[:, 1:] & both[:, :-1]).any())


def _pixels(image: QImage) -> npt.NDArray[np.int16]:
    """The channels of all pixels: rows, columns, four levels."""
    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    size = plain.height(), plain.width(), 4
    return np.frombuffer(plain.constBits(), np.uint8).reshape(size).astype(np.int16)


async def _at_rest(window: QWidget) -> QImage:
    """A picture of the window in which nothing is on its way any more: code gets its colours."""
    shown = _on_screen(window)
    for _ in range(_LOOKS):
        await asyncio.sleep(0.03)
        before, shown = shown, _on_screen(window)
        if not differ(before, shown):
            break
    return shown


def _on_screen(window: QWidget) -> QImage:
    return window.screen().grabWindow(window.winId()).toImage()


class Walk:
    def __init__(self, app: App, out: list[Found], mode: str = "") -> None:
        """`mode`: “words” where the tables are marked, and words are looked for that come from
        none; “heard” where the window is read as a screen reader does."""
        self.app, self.out, self.mode = app, out, mode
        self.where = ""
        self.pictures: Path | None = None

    async def settle(self) -> None:
        await self.app.controllers.settle()
        await asyncio.sleep(0.03)

    async def look(self, name: str) -> None:
        await self.settle()
        window = self.app.window
        if self.mode == "words":
            self.out += [(name, fault) for fault in foreign_words(window)]
            return
        if self.mode == "heard":
            told = (*heard_faults(window), *order_faults(window), *await focus_faults(window))
            self.out += [(name, fault) for fault in told]
            return
        if self.mode == "contrast":
            self.out += [(f"{self.where} {name}", one) for one in contrast_faults(window)]
            return
        self.out += [
            (f"{self.where} {name}", fault) for fault in (*faults(window), *await stale(window))
        ]
        if self.pictures is not None:
            window.grab().save(str(self.pictures / f"{self.where.replace(' ', '-')}-{name}.png"))

    async def leave(self) -> None:
        """Back to the chat, as with Esc."""
        window = self.app.window
        for _ in range(4):
            if sheet_over(window) is None and not window.pages.elsewhere:
                break
            window.escape()
            await self.settle()
        if not self.mode:
            self.out += [(f"{self.where} after it", fault) for fault in remains(window)]


async def pages(walk: Walk, chat: str, file: Path) -> None:
    app, window = walk.app, walk.app.window
    run = window.commands.run

    def settings(name: str) -> Callable[[], object]:
        return lambda: window.settings.open(name)

    window.new_chat()
    await walk.look("greeting")
    window.open_chat(chat)
    await walk.look("chat")
    window.transcript.verticalScrollBar().setValue(0)
    await walk.look("chat top")
    window.held.show_held(HELD, safe=True)
    await walk.look("held")
    window.held.show_held((), safe=False)
    full = told("database-failed", reason="disk-full")
    window.unsaved.show_count(12, full)
    await walk.look("unsaved")
    window.unsaved.show_count(0, None)
    window.sidebar.search.setText("prime")
    await walk.settle()
    await walk.look("search")
    window.sidebar.search.clear()
    window.panels.open_inspector()
    for name, fold in window.inspector.folds.items():
        fold.set_open(True)
        await walk.look(f"inspector {name}")
    run("view.inspector")
    run("chat.branches")
    await walk.look("branches")
    window.panels.close_branches()
    for name in (
        "general", "appearance", "models", "drafting", "cache", "files", "knowledge", "servers",
        "server", "tools", "privacy", "shortcuts", "expert",
    ):  # fmt: skip
        settings(name)()
        await walk.look(f"settings {name}")
        await walk.leave()
    window.settings.open("server").server.show_requests(_REQUESTS, _TOTALS)
    await walk.look("requests")
    await walk.leave()
    run("models.show")
    page = window.pages.models
    assert page is not None
    for tab in range(3):
        page.tabs.setCurrentIndex(tab)
        await walk.look(f"models {tab}")
    await walk.leave()
    sheets: dict[str, Callable[[], object]] = {
        name: partial(run, name)
        for name in (
            "chat.export", "chats.export", "chats.trash", "chats.archive", "prompts.open",
            "help.guide", "help.privacy", "help.about", "help.report", "app.news", "cache.sizes",
            "folder.new", "app.palette", "files.search", "files.ask_every",
        )
    }  # fmt: skip
    sheets["import"] = lambda: window.transfer.import_files([str(file)])
    sheets["folder"] = lambda: window.order.open_settings("Law")
    items = window.transcript.column.items
    first, last = items[0].message.id, items[-1].message.id
    doubted = DoubtfulPassages(app.controllers.open.chat, ["Contracts", "Notes"], _DOUBTED)
    sheets["doubted"] = lambda: ask_doubted(window, lambda: None, doubted, lambda _given: None)
    sheets["insert"] = lambda: window.dialogs.ask_insert(first)
    sheets["compare"] = lambda: app.controllers.versions.compare(last)
    sheets["server"] = lambda: window.settings.open("servers").servers.add_button.click()
    for name, opens in sheets.items():
        window.open_chat(chat)
        await walk.settle()
        opens()
        await walk.look(name)
        await walk.leave()


async def walk_all(
    app: App, sizes: list[tuple[int, int]], pictures: Path | None, mode: str
) -> list[Found]:
    themes = (mode,) if mode in _THEMES else _THEMES
    if mode in ("words", "heard"):
        themes = ("light",)
    mode = "" if mode in _THEMES else mode
    walk = Walk(app, [], mode)
    walk.pictures = pictures
    app.services.preferences.update(text_size=int(os.environ.get("WALK_TEXT", "100")))
    chat = await fill(app)
    app.controllers.folders.make("Law")
    app.controllers.chat_list.list()
    file = Path(tempfile.mkdtemp()) / "conversations.json"
    chats = [files.chatgpt(conversation_id=f"{n}", title=f"Chat number {n}") for n in range(4)]
    file.write_bytes(files.dumps([*chats, {"mapping": 3}]))
    for theme in themes:
        app.services.preferences.update(theme=theme)
        for width, height in sizes:
            app.window.resize(width, height)
            walk.where = f"{theme} {width}x{height}"
            await pages(walk, chat, file)
    return walk.out


def main(out: Path, sizes: list[tuple[int, int]], pictures: Path | None, mode: str) -> None:
    if mode == "words":
        mark()
    if mode == "heard":
        QAccessible.setActive(True)
    application = make_application()
    # a caret that blinks is another picture
    application.setCursorFlashTime(0)
    loop = qasync.QEventLoop(application, already_running=False)
    asyncio.set_event_loop(loop)
    found: list[Found] = []

    async def run() -> None:
        with tempfile.TemporaryDirectory() as place:
            app = await open_app(Home(Path(place) / "home"))
            app.window.show()
            await app.storage.ready()
            await app.controllers.settle()
            try:
                found.extend(await walk_all(app, sizes, pictures, mode))
            finally:
                await close_app(app)

    with loop:
        loop.run_until_complete(run())
    out.write_text(json.dumps(found, indent=1))


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    return int(width), int(height)


if __name__ == "__main__":
    shots = Path(os.environ["WALK_PICTURES"]) if "WALK_PICTURES" in os.environ else None
    modes = [one for one in sys.argv[2:] if one in ("words", "heard", "contrast", *_THEMES)]
    given = [one for one in sys.argv[2:] if one not in modes]
    chosen = [_size(one) for one in given] or list(SIZES)
    main(Path(sys.argv[1]), chosen, shots, "".join(modes))
