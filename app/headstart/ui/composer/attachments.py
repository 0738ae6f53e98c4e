"""Attachments of the next message: a chip for each file, above the text. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from headstart.core.chats.parts import FilePart, ImagePart
from headstart.core.text.encodings import NAMES
from headstart.ui.attachment import Attachment
from headstart.ui.kit import icons, theme
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.flow import FlowLayout
from headstart.ui.kit.joining import commas
from headstart.ui.kit.tips import plain_tip
from headstart.ui.kit.tool import small_tool
from headstart.ui.wording import say

# largest width of a name, in pixels
_NAME = 240
_BLIND = "composer.gets-images-name-only-model"
_SCAN = "composer.pages-pictures-have-no-text"


class Chip(QFrame):
    """Opens with a click or Enter, is removed with Del or its cross. If a text does not declare
    its encoding, the chip shows the assumed one and lets the user change it."""

    opened = Signal(str)
    removed = Signal(str)
    encoding_chosen = Signal(str, str)  # id, a name of `core.encodings`

    def __init__(self, attachment: Attachment, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("chip")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.attachment = attachment
        self._icon = QLabel(self)
        self._name = ElidedLabel(attachment.name, self, name="chipName")
        self._name.setMaximumWidth(_NAME)
        self._facts = QLabel(self)
        self._facts.setObjectName("quiet")
        self._warning = QLabel(self)
        self._warning.setObjectName("warning")
        # name of the model that cannot see the image
        self._blind = ""
        self.encoding = small_tool(self, "chevron-down", name=say("composer.encoding"))
        self.encoding.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.encoding.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._menu: QMenu | None = None
        self.cross = small_tool(self, "x", name=say("composer.remove-name", name=attachment.name))
        self.cross.clicked.connect(lambda: self.removed.emit(self.attachment.id))
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 4, 4, 4)
        row.setSpacing(6)
        for widget in (
            self._icon,
            self._name,
            self._facts,
            self._warning,
            self.encoding,
            self.cross,
        ):
            row.addWidget(widget)
        self.show_attachment(attachment)
        # a pixmap keeps the colour in which it was drawn
        theme.follow(self._show_icon)

    def show_attachment(self, attachment: Attachment) -> None:
        self.attachment = attachment
        is_image = isinstance(attachment.part, ImagePart)
        warning = (
            say("composer.model-cannot-see", blind=self._blind) if is_image and self._blind else ""
        )
        warning = warning or attachment.warning
        self._facts.setText(attachment.facts)
        self._facts.setVisible(bool(attachment.facts))
        self._warning.setText(warning)
        self._warning.setVisible(bool(warning))
        said = commas(filter(None, (attachment.name, attachment.facts, warning)))
        self.setAccessibleName(said)
        self._show_icon()
        self._show_encoding()
        tip = (
            say("composer.name-open-or-choose-pages", name=attachment.name)
            if attachment.part
            else attachment.name
        )
        why = (
            f"\n{say(_BLIND)}" if is_image and self._blind else f"\n{say(_SCAN)}" if warning else ""
        )
        self.setToolTip(plain_tip(tip + why))

    def _show_icon(self) -> None:
        name = "image" if isinstance(self.attachment.part, ImagePart) else "file-text"
        self._icon.setPixmap(icons.icon(name).pixmap(theme.icon_px(14), theme.icon_px(14)))

    def set_blind(self, model: str) -> None:
        if model != self._blind:
            self._blind = model
            self.show_attachment(self.attachment)

    def _show_encoding(self) -> None:
        part = self.attachment.part
        name = part.encoding if isinstance(part, FilePart) else ""
        self.encoding.setVisible(bool(name))
        if not name:
            return
        self.encoding.setText(name)
        self.encoding.setAccessibleName(
            say("composer.encoding-of-name-name2", name=self.attachment.name, name2=name)
        )
        self.encoding.setToolTip(say("composer.file-does-not-say-how"))
        if self._menu is None:
            self._menu = self._encodings()
            self.encoding.setMenu(self._menu)
        for action in self._menu.actions():
            action.setChecked(action.data() == name)

    def _encodings(self) -> QMenu:
        menu = QMenu(self)
        for name, whose in NAMES:
            action = menu.addAction(f"{whose} ({name})")
            action.setCheckable(True)
            action.setData(name)
            action.triggered.connect(
                lambda _on=False, name=name: self.encoding_chosen.emit(self.attachment.id, name)
            )
        return menu

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.attachment.part is not None:
            self.opened.emit(self.attachment.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Space:
                if self.attachment.part is not None:
                    self.opened.emit(self.attachment.id)
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace:
                self.removed.emit(self.attachment.id)
            case _:
                super().keyPressEvent(event)


class AttachmentRow(QWidget):
    """Row of chips, hidden while nothing is attached."""

    opened = Signal(str)
    removed = Signal(str)
    encoding_chosen = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._layout = FlowLayout(self)
        self.chips: dict[str, Chip] = {}
        self._blind = ""
        self.hide()

    def set_blind(self, model: str) -> None:
        """Set the name of the answering model if it cannot see images; "" otherwise."""
        self._blind = model
        for chip in self.chips.values():
            chip.set_blind(model)

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        shown = {one.id: one for one in attachments}
        for gone in set(self.chips) - set(shown):
            chip = self.chips.pop(gone)
            self._layout.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        for which, one in shown.items():
            if which in self.chips:
                self.chips[which].show_attachment(one)
                continue
            chip = self.chips[which] = Chip(one, self)
            chip.opened.connect(self.opened)
            chip.removed.connect(self.removed)
            chip.encoding_chosen.connect(self.encoding_chosen)
            chip.set_blind(self._blind)
            self._layout.addWidget(chip)
            chip.show()
        self.setVisible(bool(shown))
        self._layout.invalidate()
        self.updateGeometry()

    @property
    def ready(self) -> bool:
        """True if every file has been read."""
        return all(chip.attachment.part is not None for chip in self.chips.values())
