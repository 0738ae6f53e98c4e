"""Window with the content of a message's file: the text that the model gets, or the image. The text
of a message that is not sent yet can be changed."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from headstart.core.chats.attachments import is_editable
from headstart.core.chats.parts import FilePart, ImagePart
from headstart.core.text.line_ends import as_edited
from headstart.ui.attachment import facts_of
from headstart.ui.kit.pictures import fitted
from headstart.ui.kit.sheet import Sheet
from headstart.ui.kit.wrapping import TextEdit
from headstart.ui.wording import say

# characters shown of a text; the saved copy is complete
_SHOWN = 400_000


class AttachmentWindow(Sheet):
    """Emits `edited` with a changed text when it is closed."""

    save_requested = Signal(object, object)  # the part, and its text if it was changed, or None
    edited = Signal(str)
    text_wanted = Signal(str)
    parts_wanted = Signal()

    def __init__(
        self, part: FilePart | ImagePart, parent: QWidget | None, unsent: bool = False
    ) -> None:
        """`unsent`: a text can be changed, put into the message, and chosen from."""
        super().__init__(part.name, parent, (720, 560))
        self.part = part
        self._image: QImage | None = None
        self.picture = QLabel(self)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setMinimumSize(QSize(120, 90))
        self.picture.setAccessibleName(part.name)
        self.picture.setVisible(isinstance(part, ImagePart))
        self.text = TextEdit(self)
        self.editable = (
            unsent and isinstance(part, FilePart) and is_editable(part) and len(part.text) <= _SHOWN
        )
        self.text.setReadOnly(not self.editable)
        self.text.setAccessibleName(say("window.text-of-name", name=part.name))
        self.text.setVisible(isinstance(part, FilePart))
        if isinstance(part, FilePart):
            cut = "\n\n…" if len(part.text) > _SHOWN else ""
            self.text.setPlainText(part.text[:_SHOWN] + cut)
        # a field knows one kind of line end only
        self._shown = self.text.toPlainText()
        facts = QLabel(say("window.edits-stay") if self.editable else facts_of(part), self)
        facts.setObjectName("quiet")
        facts.setWordWrap(True)
        self.save = QPushButton(say("window.save-copy"), self)
        self.save.clicked.connect(lambda: self.save_requested.emit(self.part, self._changed()))
        self.into, self.choose = (
            QPushButton(say("window.into-message"), self),
            QPushButton(say("window.choose-parts"), self),
        )
        self.into.clicked.connect(self._put_into_message)
        self.choose.clicked.connect(self._choose)
        several = unsent and isinstance(part, FilePart) and part.pages > 1
        row = QHBoxLayout()
        for button, shown in (
            (self.choose, several),
            (self.into, self.editable),
            (self.save, True),
        ):
            button.setAutoDefault(False)
            button.setVisible(shown)
            row.addWidget(button)
        row.insertStretch(0, 1)
        self.column.addWidget(self.picture, 1)
        self.column.addWidget(self.text, 1)
        self.column.addWidget(facts)
        self.column.addLayout(row)
        self.finished.connect(self._keep)

    def _keep(self) -> None:
        """Keep what was changed, however the window was closed."""
        text = self._changed()
        if text is not None:
            self.edited.emit(text)

    def _changed(self) -> str | None:
        """The text with the user's changes; None if there are none."""
        now = self.text.toPlainText()
        if not self.editable or now == self._shown:
            return None
        return as_edited(self.part.text, self._shown, now)

    def _put_into_message(self) -> None:
        self.editable = False
        self.text_wanted.emit(self.text.toPlainText())
        self.accept()

    def _choose(self) -> None:
        self.accept()
        self.parts_wanted.emit()

    def set_image(self, image: QImage | None) -> None:
        self._image = image
        if image is None:
            self.picture.setText(say("window.image-cannot-shown-here"))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._image is None:
            return
        ratio = self.devicePixelRatioF()
        size = fitted(self._image.width(), self._image.height(), self.picture.size() * ratio)
        mode = Qt.TransformationMode.SmoothTransformation
        pixmap = QPixmap.fromImage(
            self._image.scaled(size, Qt.AspectRatioMode.KeepAspectRatio, mode)
        )
        pixmap.setDevicePixelRatio(ratio)
        self.picture.setPixmap(pixmap)
