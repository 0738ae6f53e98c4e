"""Run as its own process by test_asked_to_end: a real start, in whose window a long story is asked
for. Prints a line when it is being written."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from headstart.home import Home
from headstart.launch import Start, make_application, run
from headstart.ui.shell.main_window import MainWindow

QUESTION = "Tell a very long story about a dog, a cat and a river, at least 1000 words."


def main() -> int:
    application = make_application()
    timer = QTimer(application, interval=200)
    asked = False

    def look() -> None:
        nonlocal asked
        windows = [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
        if not windows or not windows[0].isVisible():
            return
        composer = windows[0].composer
        if not asked and not composer.button.isEnabled():
            composer.set_text(QUESTION)
        elif not asked:
            asked = True
            composer.button.click()
        elif _reply(windows[0]) > 40:
            timer.stop()
            composer.edit.insertPlainText("not sent yet")
            print("writing", flush=True)

    timer.timeout.connect(look)
    timer.start()
    return run(Home(Path(sys.argv[1])), Start())


def _reply(window: MainWindow) -> int:
    """The characters of the reply that are on the screen."""
    items = window.transcript.column.items
    widget = items[1].widget if len(items) > 1 else None
    return 0 if widget is None else sum(len(one.block.source) for one in widget.text.slots)


if __name__ == "__main__":
    sys.exit(main())
