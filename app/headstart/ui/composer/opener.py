"""Windows about files: choosing files to attach, choosing pages, viewing one. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from headstart.core.chats.attachments import Extracted, is_editable
from headstart.core.chats.parts import FilePart, ImagePart
from headstart.core.events import PromptSize
from headstart.ui.attachment import Attachment
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.one_window import OneWindow
from headstart.ui.wording import say

if TYPE_CHECKING:
    from headstart.ui.attachment_window import AttachmentWindow
    from headstart.ui.composer.pages_window import PagesWindow

_FILES = "composer.text-documents-and-images-txt"


class Verbs(Protocol):
    """Actions on files; the controller of attachments."""

    def add_files(self, paths: Sequence[str]) -> None: ...

    def add_content(self, name: str, content: QImage | bytes) -> None: ...

    def add_text(self, text: str) -> None: ...

    def edit(self, attachment_id: str, text: str) -> None: ...

    def take_text(self, attachment_id: str, text: str) -> None: ...

    def read_pages(self, attachment_id: str) -> None: ...

    def choose(self, attachment_id: str, found: Extracted, numbers: Sequence[int]) -> None: ...


class AttachmentOpener(QObject):
    """`folder`: the folder in which files were last chosen."""

    save_requested = Signal(object, object, str)  # part, its changed text or None, path
    folder_changed = Signal(str)
    image_wanted = Signal(ImagePart)
    pages: OneWindow[PagesWindow] = OneWindow()
    window: OneWindow[AttachmentWindow] = OneWindow()

    def __init__(self, verbs: Verbs, parent: QWidget) -> None:
        super().__init__(parent)
        self._verbs = verbs
        self._parent = parent
        self._attachments: dict[str, Attachment] = {}
        self._size: PromptSize | None = None
        self.folder = ""

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        self._attachments = {one.id: one for one in attachments}

    def show_size(self, size: PromptSize | None) -> None:
        self._size = size

    # --- attaching -----------------------------------------------------------------------

    def ask_files(self) -> None:
        dialog = file_dialog(self._parent, say("composer.attach-files"), self.folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters(say(_FILES).split(";;"))
        dialog.filesSelected.connect(self.add_files)
        dialog.open()

    def add_files(self, paths: Sequence[str]) -> None:
        if paths:
            self.folder_changed.emit(str(Path(paths[0]).parent))
        self._verbs.add_files(paths)

    def paste_text(self, text: str) -> None:
        self._verbs.add_text(text)

    def paste_image(self, image: QImage) -> None:
        if not image.isNull():
            self._verbs.add_content("Pasted image.png", image)

    # --- viewing -------------------------------------------------------------------------

    def open(self, attachment_id: str) -> None:
        """Choose pages of a file that has several, or view its content, which can be changed where
        it is text."""
        one = self._attachments.get(attachment_id)
        if one is None or one.part is None:
            return
        if isinstance(one.part, FilePart) and one.part.pages > 1 and not is_editable(one.part):
            self._verbs.read_pages(attachment_id)
            return
        window = self._show(one.part, unsent=True)
        window.edited.connect(lambda text: self._verbs.edit(attachment_id, text))
        window.text_wanted.connect(lambda text: self._verbs.take_text(attachment_id, text))
        window.parts_wanted.connect(lambda: self._verbs.read_pages(attachment_id))

    @property
    def has_pages(self) -> bool:
        """True if a file has several pages or parts."""
        return bool(self._with_pages())

    def _with_pages(self) -> list[Attachment]:
        return [
            one
            for one in self._attachments.values()
            if isinstance(one.part, FilePart) and one.part.pages > 1
        ]

    def choose_of_largest(self) -> bool:
        """Choose pages of the file with the most tokens; False if no file has several pages."""
        files = self._with_pages()
        if not files:
            return False
        largest = max(files, key=lambda one: one.tokens or len(one.part.text if one.part else ""))
        self._verbs.read_pages(largest.id)
        return True

    def show_pages(self, attachment_id: str, found: Extracted) -> None:
        one = self._attachments.get(attachment_id)
        if one is None or not isinstance(one.part, FilePart):
            return
        size, room = self._size, None
        if size is not None:
            room = size.limit - size.tokens + one.tokens
        # imported on first use, not at the start of the program
        from headstart.ui.composer.pages_window import PagesWindow

        window = self.pages = PagesWindow(one.part, found, one.tokens, room, self._parent)
        window.chosen.connect(lambda numbers: self._verbs.choose(attachment_id, found, numbers))
        window.open()

    def show_part(self, part: object) -> None:
        if isinstance(part, FilePart | ImagePart):
            self._show(part)

    def _show(self, part: FilePart | ImagePart, unsent: bool = False) -> AttachmentWindow:
        from headstart.ui.attachment_window import AttachmentWindow

        window = self.window = AttachmentWindow(part, self._parent, unsent)
        window.save_requested.connect(self._ask_where)
        window.open()
        if isinstance(part, ImagePart):
            self.image_wanted.emit(part)
        return window

    def show_image(self, part: ImagePart, image: QImage | None) -> None:
        if self.window is not None and self.window.part == part:
            self.window.set_image(image)

    def _ask_where(self, part: FilePart | ImagePart, changed: str | None) -> None:
        dialog = file_dialog(self._parent, say("composer.save-copy"), self.folder)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(part.name)
        dialog.fileSelected.connect(lambda path: self.save_requested.emit(part, changed, path))
        dialog.open()
