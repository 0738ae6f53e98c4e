"""What this program is: its version, what it is made of, and under which licences. Main thread."""

from __future__ import annotations

import functools
import importlib.metadata

from PySide6.QtCore import Qt
from PySide6.QtSvgWidgets import QSvgWidget
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from headstart import __version__
from headstart.core.resources import resources
from headstart.ui.sheet import Sheet
from headstart.ui.unexpected import versions

# what it is built on, as its packages are called
_PARTS = (
    "PySide6", "llama-cpp-python", "huggingface-hub", "SQLAlchemy", "alembic", "qasync", "openai",
    "markdown-it-py", "Pygments", "msgspec", "chardet", "keyring", "pypdf", "Jinja2",
)  # fmt: skip


class AboutSheet(Sheet):
    def __init__(self, parent: QWidget | None) -> None:
        super().__init__("About Headstart", parent, (560, 520))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        logo = QSvgWidget(str(resources() / "icons" / "headstart.svg"), self)
        logo.setFixedSize(48, 48)
        name = QLabel(f"Headstart {__version__}", self)
        name.setObjectName("pageTitle")
        words = self.word("Chats with language models on this computer. " + versions())
        text = QVBoxLayout()
        text.addWidget(name)
        text.addWidget(words)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(logo, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(text, 1)
        self.parts = QPlainTextEdit(self)
        self.parts.setReadOnly(True)
        self.parts.setAccessibleName("Licences")
        self.parts.setPlainText(licences())
        close = QPushButton("Close", self)
        close.setDefault(True)
        close.clicked.connect(self.accept)
        self.column.addLayout(head)
        self.column.addWidget(QLabel("Made with", self))
        self.column.addWidget(self.parts, 1)
        self.buttons(close)


@functools.cache
def licences() -> str:
    """A line for each part: its name, version and licence; then the icons and fonts."""
    lines = []
    for part in _PARTS:
        try:
            data = importlib.metadata.metadata(part)
        except importlib.metadata.PackageNotFoundError:
            # a package of the program does not carry all of them
            lines.append(part)
            continue
        licence = _field(data, "License-Expression") or _field(data, "License")
        short = licence.strip().splitlines()[0][:60] if licence.strip() else ""
        lines.append(", ".join(filter(None, (f"{part} {data['Version']}", short))))
    lines += ["llama.cpp, MIT", "Lucide (icons), ISC", "Inter and JetBrains Mono, OFL-1.1"]
    return "\n".join(lines)


def _field(data: importlib.metadata.PackageMetadata, name: str) -> str:
    # it has no `get` before Python 3.13
    return data[name] if name in data else ""  # noqa: SIM401
