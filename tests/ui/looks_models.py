"""Takes pictures of the page about models: `python -m tests.ui.looks_models OUT`.

A hub of our own serves; light, dark, and 720 pixels wide. A person looks at them.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from huggingface_hub import constants
from PySide6.QtWidgets import QDialog

from headstart.assembly import App, close_app, open_app
from headstart.home import Home
from headstart.hub.library import starter_model
from headstart.launch import make_application
from headstart.ui.models.page import ModelsPage
from tests.support.gguf_files import make_gguf
from tests.support.hub_server import HubServer, Repo

QUANTIZATIONS = ("Q2_K", "Q3_K_M", "Q4_K_M", "UD-Q4_K_XL", "Q5_K_M", "Q6_K", "Q8_0", "BF16")
REPO = "maker/Family3-4B-Instruct-GGUF"


def make_hub() -> HubServer:
    rng = random.Random(1)
    starter = starter_model()
    assert starter is not None
    weights = starter.path.read_bytes()

    def says(billions: float, **more: Any) -> dict[str, Any]:
        gguf = {"total": int(billions * 1e9), "architecture": "llama", "context_length": 32_768}
        likes, downloads = rng.randrange(3_000), rng.randrange(1_000_000)
        return {"gguf": gguf, "likes": likes, "downloads": downloads, **more}

    files = {f"Family3-4B-Instruct-{name}.gguf": weights + name.encode() for name in QUANTIZATIONS}
    files["mmproj-F16.gguf"] = make_gguf({"general.type": "mmproj"})
    files["README.md"] = b"# Family3\n\nWrites **well**.\n\n| a | b |\n|-|-|\n| 1 | 2 |\n"
    repos = {
        REPO: Repo(files, says(4)),
        "maker/Family3-0.6B-GGUF": Repo({"Family3-0.6B-Q8_0.gguf": weights}, says(0.6)),
        "maker/Gated-7B-GGUF": Repo({"g-Q4_K_M.gguf": weights}, says(7), token="hf_1", gated=True),
    }
    for number in range(120):
        name = f"maker{number % 7}/Family{number % 4}-{number % 9 + 1}B-Instruct-v{number}-GGUF"
        repos[name] = Repo({f"m{number}-Q4_K_M.gguf": make_gguf()}, says(number % 9 + 1))
    return HubServer(repos)


def fill(folder: Path) -> None:
    folder.mkdir()
    for number, (name, size) in enumerate((("Mistral-7B-Q8_0", "7B"), ("Poet-3B-Q4_K_M", "3B"))):
        path = folder / f"{name}.gguf"
        path.write_bytes(make_gguf({"general.size_label": size}, seed=number))
        os.utime(path, (1e9, 1e9))
    (folder / "mmproj-eye.gguf").write_bytes(make_gguf({"general.type": "mmproj"}))


async def walk(app: App, out: Path, hub: HubServer, look: str) -> None:
    window = app.window

    async def shot(name: str, seconds: float = 0.6) -> None:
        await app.controllers.settle()
        await asyncio.sleep(seconds)
        window.grab().save(str(out / f"{look}-{name}.png"))

    async def on(page: ModelsPage, tab: int, what: Callable[[], object], name: str) -> None:
        page.tabs.setCurrentIndex(tab)
        what()
        await shot(name)

    await shot("empty", 1.5)
    window.commands.run("models.show")
    page = window.pages.models
    assert page is not None
    view, discover = page.discover, app.controllers.discover
    await shot("models")
    view.row.field.setText("family3")
    await on(page, 0, view.row.search, "found")
    await on(page, 0, lambda: discover.open(REPO), "details")
    await on(page, 0, view.details.drafts.button.click, "drafts")
    hub.rate = 8e6
    details = view.details.details
    assert details is not None
    app.controllers.getting.get(details, details.variants[2])
    await shot("getting", 2.0)
    await on(page, 0, lambda: discover.open("maker/Gated-7B-GGUF"), "gated")
    await on(page, 2, lambda: None, "downloads")
    hub.rate = 0
    list_ = page.installed.list
    await on(page, 1, lambda: list_.setCurrentRow(1), "here")
    await on(page, 1, lambda: list_.itemClicked.emit(list_.item(1)), "installed")
    page.installed.model.options.click()
    await app.controllers.settle()
    for dialog in window.findChildren(QDialog):
        if dialog.isVisible():
            dialog.grab().save(str(out / f"{look}-defaults.png"))
            dialog.close()
    for download in app.services.downloads.all:
        app.controllers.downloads.cancel(download.id)
    await app.controllers.settle()


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    hub, folder = make_hub(), Path(tempfile.mkdtemp())
    constants.ENDPOINT, constants.HF_HUB_CACHE = hub.endpoint, str(folder / "hub")
    address = f"{hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    constants.HUGGINGFACE_CO_URL_TEMPLATE = address
    application = make_application()
    loop = qasync.QEventLoop(application, already_running=False)
    asyncio.set_event_loop(loop)
    fill(folder / "mine")

    async def all_looks() -> None:
        for look, theme, size in (
            ("light", "light", (1360, 860)),
            ("dark", "dark", (1360, 860)),
            ("narrow", "light", (720, 480)),
        ):
            app = await open_app(Home(folder / look))
            app.services.preferences.update(theme=theme)
            app.services.installed.add_folder(folder / "mine")
            app.window.resize(*size)
            app.window.show()
            await walk(app, out, hub, look)
            await close_app(app)

    with loop:
        loop.run_until_complete(all_looks())
    hub.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
