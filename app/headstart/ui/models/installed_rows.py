"""Rows of installed models: the name with its quantization, the size on the right, and other
facts in small type below. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from headstart.core.events import ResidentModel
from headstart.core.models.installed import InstalledModel
from headstart.core.text.shown import in_window_order, size_text
from headstart.ui.kit import theme
from headstart.ui.kit.joining import commas
from headstart.ui.kit.mirrored import draw_words
from headstart.ui.kit.row_ground import paint_ground
from headstart.ui.models.words import source_words
from headstart.ui.wording import say

MODEL, LOADED = int(Qt.ItemDataRole.UserRole) + 1, int(Qt.ItemDataRole.UserRole) + 2
Index = QModelIndex | QPersistentModelIndex
_INSET, _GAP = 12, 8


def facts_of(model: InstalledModel, loaded: ResidentModel | None) -> str:
    """The line below the model's name."""
    facts = [model.about.parameters, source_words(model.source)]
    if model.ref.format == "mlx":
        facts.insert(0, "MLX")
    if loaded is not None:
        drafted = loaded.draft is not None
        code = "models.in-memory-with-draft" if drafted else "models.in-memory"
        facts.append(say(code, size=loaded.size))
    if model.why_not is not None:
        facts.append(say("models.cannot-used"))
    return " · ".join(fact for fact in facts if fact)


def spoken(model: InstalledModel, loaded: ResidentModel | None) -> str:
    """The row's text for screen readers."""
    pieces = [model.ref.name, model.about.quantization, size_text(model.ref.size)]
    return commas([piece for piece in pieces if piece] + facts_of(model, loaded).split(" · "))


class InstalledDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, theme.px(theme.TALL_ROW) + 4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model: InstalledModel = index.data(MODEL)
        colours, area = theme.current(), option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, area.adjusted(2, 1, -2, -1), option.state)
        name_font = theme.text_font(theme.TEXT_SIZE, QFont.Weight.DemiBold)
        small = theme.text_font(theme.SMALL_SIZE)
        line, few = QFontMetrics(name_font), QFontMetrics(small)
        left, right = area.left() + _INSET, area.right() - _INSET
        top = area.top() + (area.height() - line.height() - few.height() - 2) // 2
        size = size_text(model.ref.size)
        right_of_name = right - few.horizontalAdvance(size) - _GAP
        stored = model.about.quantization
        if stored and stored not in model.ref.name:
            right_of_name -= few.horizontalAdvance(stored) + _GAP
        else:
            stored = ""
        elide, usable = Qt.TextElideMode.ElideRight, model.why_not is None
        name = line.elidedText(model.ref.name, elide, max(20, right_of_name - left))
        painter.setFont(name_font)
        painter.setPen(QColor(colours.ink if usable else colours.quiet))
        upper = QRect(left, top, right - left, line.height())
        draw_words(painter, upper, name, area)
        painter.setFont(small)
        painter.setPen(QColor(colours.quiet))
        beside = left + line.horizontalAdvance(name) + _GAP
        draw_words(painter, upper.adjusted(beside - left, 0, 0, 0), stored, area)
        draw_words(painter, upper, size, area, ends=True)
        facts = in_window_order(facts_of(model, index.data(LOADED)))
        facts = few.elidedText(facts, elide, right - left)
        lower = QRect(left, top + line.height() + 2, right - left, few.height())
        draw_words(painter, lower, facts, area)
        painter.restore()
