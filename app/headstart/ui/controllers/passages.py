"""Passages in their files: whole texts, pages as pictures, files by name. Main thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from headstart.chat.knowledge.making import KnowledgeWork
from headstart.core.chats.parts import PassagePart
from headstart.core.errors import EnvironmentProblem
from headstart.core.text.whole import is_text
from headstart.ui.kit.tasks import Tasks

# files that are offered for a word
_MOST_FILES = 12


class PassagesController(QObject):
    # the whole text of a passage's file, "" if the index does not have it
    text_read = Signal(PassagePart, str)
    # a passage, a page of its file, and its picture, or None
    page_drawn = Signal(PassagePart, int, object)
    # a word, and the paths of files that have it
    files_found = Signal(str, list)

    def __init__(self, work: KnowledgeWork, tasks: Tasks) -> None:
        super().__init__()
        self._searching, self._pictures = work.knowledge.searching, work.pictures
        self._tasks = tasks
        # the last word that files were wanted for
        self._word = ""

    def find_files(self, word: str) -> None:
        """Find files inside folders by a word of their path; `files_found` follows."""
        self._word = word
        self._tasks.spawn(self._find_files(word))

    def read(self, part: PassagePart) -> None:
        """Read the whole text around a passage; `text_read` follows."""
        self._tasks.spawn(self._read(part))

    def draw(self, part: PassagePart, page: int, words: str, width: int) -> None:
        """Draw a page of a passage's file with words marked; `page_drawn` follows."""
        self._tasks.spawn(self._draw(part, page, words, width))

    async def _find_files(self, word: str) -> None:
        found = await self._searching.files_like(word, _MOST_FILES)
        if word == self._word:
            paths = (str(Path(source, path)) for source, path in found)
            self.files_found.emit(word, [one for one in paths if is_text(one)])

    async def _read(self, part: PassagePart) -> None:
        try:
            text = await self._searching.whole(part.digest)
        except (EnvironmentProblem, ValueError):
            # a digest from another program's file
            text = None
        self.text_read.emit(part, text or "")

    async def _draw(self, part: PassagePart, page: int, words: str, width: int) -> None:
        picture = await self._pictures.draw(part, page, words, width)
        self.page_drawn.emit(part, page, picture)
