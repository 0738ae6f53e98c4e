"""Code of a reply: wrapped, copied and saved to a file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from headstart.ui.transcript.code_block import CodeBlock
from tests.conftest import OpenApp, until
from tests.support.plain import plain
from tests.ui.test_searching import store

CODE = "def f():\n    return " + " + ".join(["'text'"] * 40)


async def test_code_is_wrapped_copied_and_saved(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        chat, messages = await store(app, "Code", "Write it", f"```python\n{CODE}\n```")
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        widget = app.window.transcript.widget_of(messages[1].id)
        assert widget is not None
        block = widget.text.widget(0)
        assert isinstance(block, CodeBlock)
        assert block.bar.maximum() > 0
        low = block.height()
        block.wrap_button.click()
        await until(lambda: block.height() > low)
        assert block.bar.maximum() == 0
        block.wrap_button.click()
        await until(lambda: block.height() == low)
        block.copy_button.click()
        assert QGuiApplication.clipboard().text() == CODE
        block.save_button.click()
        dialog = app.window.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        path = tmp_path / "code.py"
        dialog.fileSelected.emit(str(path))
        dialog.close()
        await app.controllers.settle()
        assert path.read_text() == f"{CODE}\n"
        block.save_button.click()
        dialog = app.window.findChildren(QFileDialog)[-1]
        dialog.fileSelected.emit(str(tmp_path / "missing" / "code.py"))
        dialog.close()
        await app.controllers.settle()
        assert "could not be written" in plain(app.window.banner.text())
