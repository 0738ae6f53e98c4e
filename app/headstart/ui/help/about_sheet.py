"""About the program: its version, its libraries, and their licences. Main thread."""

from __future__ import annotations

import functools
import importlib.metadata
import re

from PySide6.QtCore import Qt
from PySide6.QtSvgWidgets import QSvgWidget
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from headstart import __version__
from headstart.core.resources import resources
from headstart.core.text.shown import at_start
from headstart.ui.kit.joining import commas
from headstart.ui.kit.sheet import Sheet
from headstart.ui.shell.unexpected import versions
from headstart.ui.wording import say

# the first character after a requirement's name
_NAME = re.compile(r"[^\w.-]")


class AboutSheet(Sheet):
    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(say("help.about-headstart"), parent, (560, 520))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        logo = QSvgWidget(str(resources() / "icons" / "headstart.svg"), self)
        logo.setFixedSize(48, 48)
        name = QLabel(at_start(say("help.headstart-version", version=__version__)), self)
        name.setObjectName("pageTitle")
        text = QVBoxLayout()
        text.addWidget(name)
        text.addWidget(self.word(say("help.about")))
        text.addWidget(self.word(at_start(versions())))
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(logo, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(text, 1)
        self.parts = QPlainTextEdit(self)
        self.parts.setReadOnly(True)
        self.parts.setAccessibleName(say("help.licences"))
        self.parts.setPlainText(licences())
        close = QPushButton(say("help.close"), self)
        close.setDefault(True)
        close.clicked.connect(self.accept)
        self.column.addLayout(head)
        self.column.addWidget(QLabel(say("help.made-with"), self))
        self.column.addWidget(self.parts, 1)
        self.buttons(close)


@functools.cache
def licences() -> str:
    """One line per library with name, version and licence; then those outside Python."""
    try:
        wanted = importlib.metadata.requires("headstart") or []
    except importlib.metadata.PackageNotFoundError:
        wanted = []
    # extras are for development, and markers for other systems
    names = sorted({_NAME.split(one)[0] for one in wanted if "extra ==" not in one})
    lines = [line for line in map(_line_of, names) if line]
    lines += ["llama.cpp, MIT", "Lucide (icons), ISC", "Inter and JetBrains Mono, OFL-1.1"]
    return "\n".join(lines)


def _line_of(name: str) -> str:
    """Line about a library; "" if it is not installed on this system."""
    try:
        data = importlib.metadata.metadata(name).json
    except importlib.metadata.PackageNotFoundError:
        return ""
    classified = [one for one in data.get("classifier", ()) if one.startswith("License ::")]
    licence = data.get("license_expression") or data.get("license") or ""
    # some packages put the whole text into this field
    short = str(licence).strip().partition("\n")[0][:60]
    if not short and classified:
        short = classified[0].rpartition(" :: ")[2]
    return commas(filter(None, (f"{name} {data['version']}", short)))
