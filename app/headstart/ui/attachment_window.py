"""Window with the content of a message's file: the text that the model gets, or the image."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from headstart.core.chats.parts import FilePart, ImagePart
from headstart.ui.attachment import facts_of
from headstart.ui.kit.pictures import fitted
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

# characters shown of a text; the saved copy is complete
_SHOWN = 400_000


class AttachmentWindow(Sheet):
    """Emits `save_requested` with the part."""

    save_requested = Signal(object)

    def __init__(self, part: FilePart | ImagePart, parent: QWidget | None) -> None:
        super().__init__(part.name, parent, (720, 560))
        self.part = part
        self._image: QImage | None = None
        self.picture = QLabel(self)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setMinimumSize(QSize(120, 90))
        self.picture.setAccessibleName(part.name)
        self.picture.setVisible(isinstance(part, ImagePart))
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(say("window.text-of-name", name=part.name))
        self.text.setVisible(isinstance(part, FilePart))
        if isinstance(part, FilePart):
            cut = "\n\n…" if len(part.text) > _SHOWN else ""
            self.text.setPlainText(part.text[:_SHOWN] + cut)
        facts = QLabel(facts_of(part), self)
        facts.setObjectName("quiet")
        save = QPushButton(say("window.save-copy"), self)
        save.clicked.connect(lambda: self.save_requested.emit(self.part))
        save.setAutoDefault(False)
        row = QHBoxLayout()
        row.addWidget(facts, 1)
        row.addWidget(save)
        self.column.addWidget(self.picture, 1)
        self.column.addWidget(self.text, 1)
        self.column.addLayout(row)

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
