"""Parts of a message besides its text: files and tool calls as labelled boxes, images as
thumbnails."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
)
from PySide6.QtWidgets import QLabel, QWidget

from headstart.core.chats.parts import (
    CoveragePart,
    FilePart,
    ImagePart,
    LeftOutPart,
    OtherPart,
    PassagePart,
    SearchPart,
    ToolPart,
)
from headstart.core.chats.values import Message, Role
from headstart.core.text.shown import isolated, shortened
from headstart.ui.attachment import facts_of, missing_text, part_words
from headstart.ui.kit import theme
from headstart.ui.kit.mirrored import across
from headstart.ui.kit.pictures import fitted
from headstart.ui.kit.tips import plain_tip
from headstart.ui.source_words import passage_place, search_words
from headstart.ui.wording import say

GAP = 6
# characters of a file or a tool's result in a tooltip
MOST_TIP = 600
# largest size of an image in the transcript
THUMBNAIL = QSize(320, 240)
# places that a box names; marks lead to the others
_MOST_PLACES = 40
# pixels of a box beside its text
_PADDING = 40

Thumbnail = Callable[[ImagePart, QSize], "QImage | None"]
Open = Callable[[OtherPart], None]


class PartBoxes:
    """The boxes in a column, on the side of the message's author; children of `parent`.
    `thumbnail` returns a loaded image, `opens` opens a part."""

    def __init__(self, parent: QWidget, thumbnail: Thumbnail, opens: Open) -> None:
        self._parent = parent
        self._thumbnail = thumbnail
        self._opens = opens
        self._shown: tuple[OtherPart, ...] = ()
        self.boxes: list[_Box | _Picture | PassagesBox] = []
        self._right = False

    def show(self, message: Message) -> None:
        self._right = message.role is Role.USER
        # the line about what a prompt lacked stands below a reply
        others = tuple(part for part in message.others if not isinstance(part, LeftOutPart))
        if message.role is not Role.USER:
            # calls stand between the words of a reply
            others = tuple(part for part in others if not isinstance(part, ToolPart))
        if others == self._shown:
            return
        self._shown = others
        for box in self.boxes:
            box.hide()
            box.deleteLater()
        passages = [part for part in others if isinstance(part, PassagePart)]
        about = next((one for one in others if isinstance(one, CoveragePart | SearchPart)), None)
        files = PassagePart | CoveragePart | SearchPart
        self.boxes = [self._box(part) for part in others if not isinstance(part, files)]
        if passages or about is not None:
            box = PassagesBox(passages, about, self._parent, self._opens)
            self.boxes.insert(0, box)
            box.show()

    def place(self, y: int, width: int) -> int:
        """Place the boxes from `y` on; return their lower end."""
        for box in self.boxes:
            hint = box.sizeHint()
            box_width = min(hint.width(), width)
            height = hint.height()
            if isinstance(box, PassagesBox):
                box_width = min(box.most, width)
                height = box.heightForWidth(box_width)
            left = across(width - box_width if self._right else 0, box_width, width)
            box.setGeometry(left, y, box_width, height)
            y += height + GAP
        return y

    def picture_ready(self, digest: str) -> None:
        """Show a requested image that has arrived."""
        for box in self.boxes:
            if isinstance(box, _Picture) and box.part.blob.digest == digest:
                box.update()

    def _box(self, part: OtherPart) -> _Box | _Picture:
        box: _Box | _Picture
        if isinstance(part, ImagePart):
            box = _Picture(part, self._parent, self._thumbnail, self._opens)
        else:
            box = _Box(part, self._parent, self._opens)
        box.show()
        return box


class _Box(QLabel):
    def __init__(self, part: OtherPart, parent: QWidget, opens: Open) -> None:
        super().__init__(parent)
        self.part, self._opens = part, opens
        self.setObjectName("partBox")
        self.setAccessibleName(part_words(part))
        self.setToolTip(plain_tip(shortened(part.text, MOST_TIP)))
        if isinstance(part, FilePart):
            quiet = theme.current().quiet
            facts = html.escape(" · ".join(filter(None, (facts_of(part), missing_text(part)))))
            name = html.escape(shortened(part.name, 60))
            self.setText(f'<b>{name}</b>&nbsp; <span style="color:{quiet}">{facts}</span>')
            self.setCursor(Qt.CursorShape.PointingHandCursor)
            self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        else:
            self.setTextFormat(Qt.TextFormat.PlainText)
            self.setText(part_words(part))
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if isinstance(self.part, FilePart) and event.button() is Qt.MouseButton.LeftButton:
            self._opens(self.part)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if isinstance(self.part, FilePart) and _opens(event):
            self._opens(self.part)
        else:
            super().keyPressEvent(event)


class PassagesBox(QLabel):
    """The passages that a question was given, in one line or several: each is a link to its
    place. `about`: the search that found them, or the documents that were read for them. `most`:
    the width in pixels that it needs in one line."""

    def __init__(
        self,
        parts: Sequence[PassagePart],
        about: CoveragePart | SearchPart | None,
        parent: QWidget,
        opens: Open,
    ) -> None:
        super().__init__(parent)
        self._parts, self._opens = tuple(parts), opens
        self.setObjectName("partBox")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.linkActivated.connect(self._open)
        self.linkHovered.connect(self._hover)
        colours = theme.current()
        links = [
            f'<a href="{place}" style="color:{colours.accent_text};text-decoration:none">'
            f"[{part.number}]&nbsp;{html.escape(shortened(passage_place(part), 60))}</a>"
            for place, part in enumerate(parts[:_MOST_PLACES])
        ]
        if len(parts) > _MOST_PLACES:
            links.append(_quiet(say("transcript.more-places", count=len(parts) - _MOST_PLACES)))
        head, tail = _words(about)
        shown = [_quiet(head), " · ".join(links), _quiet(tail)]
        self.setText(" ".join(one for one in shown if one))
        places = [f"[{part.number}] {passage_place(part)}" for part in parts[:_MOST_PLACES]]
        plain = " ".join(one for one in (head, " · ".join(places), tail) if one)
        self.setAccessibleName(plain)
        self.most = self.fontMetrics().horizontalAdvance(plain) + _PADDING

    def _open(self, link: str) -> None:
        self._opens(self._parts[int(link)])

    def _hover(self, link: str) -> None:
        part = self._parts[int(link)] if link else None
        tip = "" if part is None else part.note or part.text
        self.setToolTip(plain_tip(shortened(tip, MOST_TIP)))


def _words(coverage: CoveragePart | SearchPart | None) -> tuple[str, str]:
    """The words before and after the places of passages."""
    if coverage is None:
        return say("transcript.from-your-files"), ""
    if isinstance(coverage, SearchPart):
        return search_words(coverage)
    counts = {"read": coverage.read, "total": coverage.total, "found": coverage.found}
    code = "transcript.documents-read"
    if not coverage.found:
        code = "transcript.documents-read-none"
    tail = []
    if coverage.unread:
        names = [isolated(shortened(one, 60)) for one in coverage.unread]
        tail.append(say("transcript.documents-unread", names=names))
    if coverage.short:
        tail.append(say("transcript.notes-left-out", count=coverage.short))
    return say(code, **counts), " ".join(tail)


def _quiet(text: str) -> str:
    """The text in the quiet colour, as HTML."""
    colour = theme.current().quiet
    return f'<span style="color:{colour}">{html.escape(text)}</span>' if text else ""


class _Picture(QWidget):
    """A thumbnail; has its final size before the image arrives."""

    def __init__(self, part: ImagePart, parent: QWidget, thumbnail: Thumbnail, opens: Open) -> None:
        super().__init__(parent)
        self.part, self._thumbnail, self._opens = part, thumbnail, opens
        self._size = fitted(part.width, part.height, THUMBNAIL)
        self.setAccessibleName(part_words(part))
        self.setToolTip(plain_tip(part_words(part)))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def sizeHint(self) -> QSize:
        return self._size

    def paintEvent(self, event: QPaintEvent) -> None:
        # at the screen's resolution
        image = self._thumbnail(self.part, THUMBNAIL * self.devicePixelRatioF())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        shape = QPainterPath()
        shape.addRoundedRect(self.rect(), 8, 8)
        painter.setClipPath(shape)
        painter.fillPath(shape, QColor(theme.current().code))
        if image is not None:
            # its own size may be another one than the part's
            size = fitted(image.width(), image.height(), self.size())
            left, above = self.width() - size.width(), self.height() - size.height()
            if max(left, above) > 1:
                place = QRect(QPoint(left // 2, above // 2), size)
            else:
                place = self.rect()
            painter.drawImage(place, image)
        else:
            painter.setPen(QColor(theme.current().quiet))
            painter.setFont(theme.text_font(theme.SMALL_SIZE))
            words = shortened(self.part.name, 40)
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, words)
        if self.hasFocus():
            painter.setPen(QColor(theme.current().accent))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 8, 8)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._opens(self.part)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _opens(event):
            self._opens(self.part)
        else:
            super().keyPressEvent(event)


def _opens(event: QKeyEvent) -> bool:
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
