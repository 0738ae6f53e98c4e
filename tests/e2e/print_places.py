"""Run as its own process by test_input_methods: an ordinary start, which prints a line of JSON with
the middles of the message's field, of Send and of the search, in pixels of the screen, and from
then on what the search holds whenever that changes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget

from headstart.home import Home
from headstart.launch import Start, make_application, run
from headstart.ui.shell.main_window import MainWindow


def main() -> int:
    application = make_application()
    timer = QTimer(application, interval=300)

    def look() -> None:
        windows = [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
        if windows and windows[0].isActiveWindow() and windows[0].composer.edit.hasFocus():
            timer.stop()
            window = windows[0]
            window.sidebar.search.textChanged.connect(lambda text: print(text, flush=True))
            shown = (window.composer.edit, window.composer.button, window.sidebar.search)
            print(json.dumps([_middle(one) for one in shown]), flush=True)

    timer.timeout.connect(look)
    timer.start()
    return run(Home(Path(sys.argv[1])), Start())


def _middle(widget: QWidget) -> tuple[int, int]:
    place = widget.mapToGlobal(widget.rect().center())
    return place.x(), place.y()


if __name__ == "__main__":
    sys.exit(main())
