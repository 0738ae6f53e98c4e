"""Takes pictures of the window in every state worth looking at: `python -m tests.ui.looks OUT`.

`--docs docs` takes the two of the README instead, of a real conversation.

Light and dark, wide and narrow, with long titles, long code lines, tables and right-to-left
text. Set QT_SCALE_FACTOR=1.5 for 150 %. A person looks at them; nothing is asserted.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from msgspec.structs import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication, QScrollArea

from headstart.assembly import App
from headstart.core.beginnings import Beginning, BegunKind
from headstart.core.chats.parts import text_part
from headstart.core.chats.values import (
    Chat,
    FinishReason,
    Message,
    MessageStatus,
    PrefixStats,
    Role,
    TrashedChat,
    TurnStats,
    new_id,
    now_ms,
)
from headstart.core.prefixes import PrefixUse
from headstart.core.settings.schema import SamplingChoice
from headstart.core.told import told
from headstart.home import Home
from headstart.launch import Start, run

DAY = 86_400_000
FIGURES = TurnStats(FinishReason.END, 1236, 1204, 0.05, 0.09, 260, 8.3)
LONG = "A title that is far too long for a list of sizes and has to be cut somewhere, surely"
RECOMPUTED = replace(
    FIGURES,
    prefix=PrefixStats(
        from_disk=900,
        recomputed=1_032,
        reason=told("message-changed", number=3, preview="Donaudampfschifffahrtsgesellsc…"),
    ),
)
USE = PrefixUse(1_100_000_000, 8_000_000_000, {}, 320_000_000, "/home/you/prefixes", 5_000_000)
HELD = (
    Beginning(BegunKind.FOLDER, "/home/you/papers", "Papers", "2019/a thesis.pdf"),
    Beginning(BegunKind.TOOL_SERVER, "x", LONG),
    Beginning(BegunKind.SERVER),
    Beginning(BegunKind.DOWNLOAD, "y", "SmolLM2-1.7B-Instruct-Q4_K_M.gguf"),
)
REPLY = '''A number is prime when **nothing** between 2 and its *square root* divides it:

```python
def is_prime(n: int) -> bool:
    """Whether n is prime, by trial division up to the square root of n, which is always enough."""
    if n < 2:
        return False  # 0 and 1 are not
    for i in range(2, int(n ** 0.5) + 1):
        if n % i == 0:
            return False
    return True
```

The loop stops at √n, because a larger factor would pair with a smaller one. See
[the article](https://en.wikipedia.org/wiki/Prime_number) or `math.isqrt`.

1. Numbers below 2 are not prime
2. Even numbers above 2 are not
   - because 2 divides them
   - and so on
3. The rest is a loop

| n | prime? | divisor |
|---|:------:|--------:|
| 7 | yes | – |
| 9 | no | 3 |

> Everything should be made as simple as possible.

### In short

Checking 1,000,003 takes about a thousand steps, not a million.
'''


def _chat(title: str, age_days: float, pinned: bool = False) -> Chat:
    at = now_ms() - int(age_days * DAY)
    return Chat(new_id(), title, at, at, pinned=pinned)


async def fill(app: App) -> str:
    """Store sample chats; returns the id of the one to open."""
    main = _chat("Prime checker in Python", 0)
    chats = [
        main,
        _chat("Thesis outline", 3, pinned=True),
        _chat("A title that is far too long for the sidebar and has to be cut somewhere", 0.01),
        _chat("رسالة إلى المالك", 1),
        _chat("SQLite WAL questions", 4),
        _chat("Trip plan: Lisbon", 5),
        _chat("Regex for dates", 40),
    ]
    for chat in chats:
        await app.storage.run(lambda store, c=chat: store.chats.create(c))  # type: ignore[misc]
    parent: str | None = None
    turns = [
        (
            Role.USER,
            "Write a short Python function that checks if a number is prime, and explain it.",
        ),
        (Role.ASSISTANT, REPLY),
        (Role.USER, "שלום, מה שלומך היום? זה טקסט מימין לשמאל.\nAnd a second line."),
        (Role.ASSISTANT, "שלום! זו תשובה מימין לשמאל, עם **הדגשה** ועם `code` בתוכה."),
    ]
    for role, text in turns:
        status = MessageStatus.COMPLETE
        message = Message(
            new_id(), main.id, parent, role, status, text_part(text), now_ms(), model="SmolLM2"
        )
        await app.storage.run(lambda store, m=message: store.messages.add([m]))  # type: ignore[misc]
        if role is Role.ASSISTANT:
            await app.storage.run(
                lambda store, m=message: store.messages.finish(  # type: ignore[misc]
                    m.id, m.parts, MessageStatus.COMPLETE, FIGURES
                )
            )
        parent = message.id
    again = Message(
        new_id(), main.id, parent, Role.USER, MessageStatus.COMPLETE, text_part("Go on."), now_ms()
    )
    stopped = Message(
        new_id(),
        main.id,
        again.id,
        Role.ASSISTANT,
        MessageStatus.OPEN,
        text_part("This was cut"),
        now_ms(),
    )
    other = Message(
        new_id(),
        main.id,
        again.id,
        Role.ASSISTANT,
        MessageStatus.INTERRUPTED,
        text_part("This was cut in the middle of a"),
        now_ms(),
    )
    await app.storage.run(lambda store: store.messages.add([again, stopped, other]))
    await app.storage.run(
        lambda store: store.messages.finish(
            stopped.id, text_part("First try."), MessageStatus.COMPLETE, FIGURES
        )
    )
    return main.id


async def take(app: App, out: Path) -> int:
    chat_id = await fill(app)
    app.controllers.chat_list.list()
    await app.controllers.settle()

    async def shot(name: str) -> None:
        await asyncio.sleep(0.25)
        app.window.grab().save(str(out / f"{name}.png"))

    for scheme in ("light", "dark"):
        app.services.preferences.update(theme=scheme)
        app.window.resize(1360, 860)
        app.window.new_chat()
        await shot(f"{scheme}-empty")
        app.controllers.branch.open_chat(chat_id)
        await app.controllers.settle()
        await shot(f"{scheme}-end")
        app.window.transcript.verticalScrollBar().setValue(0)
        await shot(f"{scheme}-top")
        app.window.show_problem("The model file /x/y.gguf is not there.", "Choose another model.")
        app.window.toast.show_text("Deleted “Trip plan: Lisbon”", lambda: None)
        app.window.resize(900, 600)
        await shot(f"{scheme}-narrow")
        app.window.banner.dismiss()
        app.window.resize(720, 480)
        app.window.held.show_held(HELD, safe=False)
        await shot(f"{scheme}-held")
        app.window.held.show_held(HELD[:1], safe=True)
        await shot(f"{scheme}-safe")
        app.window.held.show_held((), safe=False)
        app.window.resize(900, 600)
        app.window.show_problem("The model file /x/y.gguf is not there.", "Choose another model.")
        # the least that the window can be, with all that its header may have to say
        app.window.header.show_host("my-server.example.org:8080")
        app.window.header.pill.set_current("SmolLM2-1.7B-Instruct-Q4_K_M")
        app.window.toast.show_text(f"Exported to /home/you/documents/{LONG}.md")
        app.window.resize(720, 480)
        await shot(f"{scheme}-least")
        app.window.header.show_host("")
        app.controllers.models.show()
        app.window.banner.dismiss()
        app.window.toast.hide()
        app.window.resize(1360, 860)
        app.window.settings.open()
        await asyncio.sleep(0.2)
        await shot(f"{scheme}-settings")
        app.window.escape()
        for fold in app.window.inspector.folds.values():
            if not fold.button.isChecked():
                fold.button.click()
        app.window.inspector.prefix.set_stats(RECOMPUTED)
        app.window.inspector.prefix.set_use(USE)
        bar = app.window.inspector.findChild(QScrollArea)
        assert bar is not None
        bar.ensureWidgetVisible(app.window.inspector.prefix.sizes)
        app.window.composer.set_text("A question that is being typed, and read meanwhile")
        app.window.composer.set_ahead(38)
        await shot(f"{scheme}-prefix")
        app.window.composer.set_text("")
        app.window.sizes.open()
        await asyncio.sleep(0.2)
        sizes = app.window.sizes.window
        assert sizes is not None
        sizes.set_use(replace(USE, by_chat={chat_id: 261_000_000, "x": 12_000}), {chat_id: LONG})
        sizes.grab().save(str(out / f"{scheme}-sizes.png"))
        sizes.accept()
        app.window.trash.open()
        await app.controllers.settle()
        trash = app.window.trash.window
        assert trash is not None
        trash.set_chats([TrashedChat("x", LONG, now_ms() - DAY, 12), TrashedChat("y", "Tea", 0, 2)])
        trash.grab().save(str(out / f"{scheme}-trash.png"))
        trash.accept()
        app.window.new_private_chat()
        await shot(f"{scheme}-private")
        app.controllers.branch.open_chat(chat_id)
        await app.controllers.settle()
        index = app.window.sidebar.model.index_of(chat_id)
        menu = app.window.sidebar.menu_for(index)
        assert menu is not None
        menu.popup(app.window.pos())
        await asyncio.sleep(0.1)
        menu.grab().save(str(out / f"{scheme}-menu.png"))
        menu.close()
    QApplication.processEvents()
    return 0


async def take_for_docs(app: App, out: Path) -> int:
    """The two pictures of the README: a real conversation with the starter model."""
    questions = (
        "What is a binary search, in two sentences?",
        "Write it as a short Python function.",
        # repeats are drafted: the figures show what that gains
        "Write the same function again, with type hints.",
    )
    app.services.preferences.update(sampling=SamplingChoice(temperature=0.0, max_tokens=260))
    for question in questions:
        app.window.composer.set_text(question)
        app.window.composer.button.click()
        while not app.controllers.reply.writing:
            await asyncio.sleep(0.01)
        while app.controllers.reply.writing:
            await asyncio.sleep(0.05)
        await app.controllers.settle()
    for scheme in ("light", "dark"):
        app.services.preferences.update(theme=scheme)
        await asyncio.sleep(0.5)
        app.window.grab().save(str(out / f"headstart-{scheme}.png"))
    return 0


if __name__ == "__main__":
    folder = Path(sys.argv[-1])
    folder.mkdir(parents=True, exist_ok=True)
    wanted = take_for_docs if "--docs" in sys.argv else take
    with tempfile.TemporaryDirectory() as place:
        sys.exit(run(Home(Path(place)), Start(script=lambda app: wanted(app, folder))))
