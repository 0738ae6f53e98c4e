"""Pictures of reading, finding and order: `python -m tests.ui.looks_reading FOLDER`.

`--docs docs` takes those of the documentation; with QT_SCALE_FACTOR=1.5 the one at 150 %.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from msgspec.structs import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtWidgets import QWidget

from headstart.assembly import App, close_app, open_app
from headstart.core.chats.parts import BlobRef, FilePart, text_part
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.settings.schema import Preset, Theme, changed
from headstart.home import Home
from headstart.launch import make_application
from tests.ui.looks import FIGURES, fill
from tests.ui.test_searching import store

ANSWER = r"""You have to give **three months'** notice. The deposit earns interest, where $D_n$ is
what it is after $n$ years and $\frac{a}{b}$ a fraction[^1]; $5 and $10 stay prices:

$$
D_n = D_0 \cdot (1 + r)^n = \sum_{k=0}^{n} \binom{n}{k} D_0 r^k \tag{3}
$$

| Year | Rate | Deposit | What the contract says of it, word for word |
|-----:|:----:|---------|-----|
| 1 | 0.8 % | € 2,419.20 | some words, and then some more of them, until they have to be wrapped |
| 2 | 1.1 % | € 2,445.81 | $x^2$ |

- [x] read the contract
- [ ] write the letter

1. The matrix $\begin{pmatrix} a & b \\ c & d \end{pmatrix}$ stands in a line
2. and `code` too

[^1]: A footnote.
"""


async def walk(home: Home, out: Path, look: str, size: tuple[int, int]) -> None:
    app = await open_app(home)
    app.services.preferences.update(theme="dark" if look == "dark" else "light")
    window = app.window
    window.resize(*size)
    window.show()

    async def shot(name: str, widget: QWidget | None = None) -> None:
        await app.controllers.settle()
        await asyncio.sleep(0.3)
        (widget or window).grab().save(str(out / f"{look}-{name}.png"))

    long = await fill(app)
    lease, hotel = await _order(app)
    window.open_chat(lease)
    await shot("formulas")
    window.sidebar.search.setFocus()
    window.sidebar.search.insert("deposit")
    await asyncio.sleep(0.4)
    await shot("search")
    window.sidebar.results.choose_first()
    await asyncio.sleep(0.3)
    await shot("found")
    window.sidebar.search.clear()
    window.find_bar.leave()
    window.commands.run("app.palette")
    palette = window.palette_opener.palette
    assert palette is not None
    palette.edit.insert("li")
    await asyncio.sleep(0.4)
    await shot("palette")
    palette.leave()
    window.open_chat(hotel)
    await app.controllers.settle()
    await _branches(app, shot)
    window.open_chat(long)
    await shot("folders")
    await close_app(app)


async def _order(app: App) -> tuple[str, str]:
    """Folders with chats in them; returns two of these."""
    hotel, _ = await store(app, "Flights and hotel", "A hotel?", "Many are near the Tejo.")
    packing, _ = await store(app, "Packing list", "What to pack?", "- shoes\n- hat")
    lease, _ = await store(app, "Lease, clause by clause", "What notice do I have to give?", ANSWER)
    for name in ("Lisbon trip", "Work"):
        app.controllers.folders.make(name)
        await app.controllers.settle()
    app.controllers.folders.move([hotel.id, packing.id], "Lisbon trip")
    await app.services.chat_list.set_unseen(lease.id, unseen=True)
    await app.services.chat_list.set_tags(hotel.id, ["travel"])
    return lease.id, hotel.id


async def _branches(app: App, shot: object) -> None:
    window = app.window
    assert callable(shot)
    reply = window.transcript.column.items[1].message
    await app.services.versions.save(reply.chat_id, reply.id, "Some are near the river Tejo.")
    await app.controllers.settle()
    reply = window.transcript.column.items[1].message
    app.controllers.versions.compare(reply.id)
    await app.controllers.settle()
    assert window.dialogs.comparing is not None
    await shot("compare", window.dialogs.comparing)
    window.dialogs.comparing.accept()
    window.commands.run("chat.branches")
    await app.controllers.settle()
    await shot("branches")
    window.commands.run("chat.branches")
    window.transcript.begin_edit(reply.id)
    await shot("edit")
    window.order.open_settings("Lisbon trip")
    await app.controllers.settle()
    assert window.order.settings is not None
    await shot("folder", window.order.settings)
    window.order.settings.accept()


async def take_for_docs(home: Home, out: Path, look: str, size: tuple[int, int]) -> None:
    """A contract, a question about it, an answer with a formula, and what was chosen for it."""
    app = await open_app(home)
    prompt = "Answer from the attached contract. Name the page for every claim."
    preset = changed(Preset(name="Contract reader"), system_prompt=prompt)
    theme: Theme = "dark" if look == "dark" else "light"
    app.services.preferences.update(theme=theme, presets=(preset,))
    window = app.window
    window.resize(*size)
    window.show()
    await _order(app)
    blob = BlobRef("0" * 64, 61_000, "application/pdf")
    file = FilePart("lease.pdf", blob, "[Page 1]\nThe lease.", 30, "page")
    chat = Chat(new_id(), "Lease, clause by clause", now_ms(), now_ms())
    done, words = MessageStatus.COMPLETE, "What notice do I have to give, and what do I get back?"
    asked = Message(new_id(), chat.id, None, Role.USER, done, (file, *text_part(words)), now_ms())
    answer = Message(
        new_id(), chat.id, asked.id, Role.ASSISTANT, done, text_part(ANSWER), now_ms(),
        stats=replace(FIGURES, prompt_tokens=14_251, reused_tokens=14_236),
    )  # fmt: skip
    await app.storage.run(lambda store: store.messages.add([asked, answer], chat))
    app.controllers.chat_list.list()
    window.open_chat(chat.id)
    await app.controllers.settle()
    window.inspector.apply_preset(preset)
    window.inspector.set_context(15_100, 32_768)
    window.inspector.system.begin(prompt)
    await app.controllers.settle()
    await asyncio.sleep(0.5)
    window.grab().save(str(out / f"reading-{look}.png"))
    await close_app(app)


def main(out: Path, docs: bool = False) -> None:
    out.mkdir(parents=True, exist_ok=True)
    application = make_application()
    loop = qasync.QEventLoop(application, already_running=False)
    asyncio.set_event_loop(loop)
    folder = Path(tempfile.mkdtemp())

    async def all_of_them() -> None:
        looks = [("light", (1360, 860)), ("dark", (1360, 860)), ("narrow", (720, 480))]
        if docs and os.environ.get("QT_SCALE_FACTOR"):
            looks = [("150", (1000, 700))]
        for look, size in looks:
            await (take_for_docs if docs else walk)(Home(folder / look), out, look, size)

    with loop:
        loop.run_until_complete(all_of_them())


if __name__ == "__main__":
    main(Path(sys.argv[-1]), docs="--docs" in sys.argv)
