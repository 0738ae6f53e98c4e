"""Results of a search, as a Qt item model, and the delegate that paints a card for each."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from headstart.core.hub.catalog import Repository
from headstart.core.models.recommended import Recommended
from headstart.core.text.shown import count_text, in_window_order
from headstart.ui.kit import theme
from headstart.ui.kit.joining import commas
from headstart.ui.kit.mirrored import draw_words, turned
from headstart.ui.models.words import badge_of
from headstart.ui.wording import say

ITEM = int(Qt.ItemDataRole.UserRole)
Result = Repository | Recommended
Index = QModelIndex | QPersistentModelIndex

# height of a card in px at 100 %, of which its edges do not grow
_HEIGHT, _EDGES, _GAP, _INSET = 74, 24, 8, 16


class ModelResults(QAbstractListModel):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Result] = []
        # bytes of this computer's memory, to compare models' sizes with
        self.memory = 0

    def clear(self) -> None:
        self.beginResetModel()
        self._rows = []
        self.endResetModel()

    def add(self, rows: Sequence[Result]) -> None:
        if rows:
            first = len(self._rows)
            self.beginInsertRows(QModelIndex(), first, first + len(rows) - 1)
            self._rows += rows
            self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == ITEM:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            badge = badge_of(row, self.memory)
            return commas([row.name, *facts_of(row), badge[0] if badge else ""]).rstrip(", ")
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.id if isinstance(row, Repository) else row.repo
        return None


def parameters_text(parameters: str) -> str:
    """A count of parameters, “30B (3B active)” for a mixture of experts, in the window's words."""
    whole, _, active = parameters.removesuffix(" active)").partition(" (")
    return say("models.active-parameters", whole=whole, active=active) if active else whole


def facts_of(row: Result) -> list[str]:
    """Facts of a model, for small boxes."""
    if isinstance(row, Recommended):
        return [
            parameters_text(row.parameters),
            say("models.size-gb-gb", size_gb=row.size_gb),
            row.licence,
        ]
    facts = [row.owner] if row.owner else []
    if row.parameters:
        facts.append(count_text(row.parameters))
    if row.context:
        facts.append(say("models.context-context", context=row.context))
    if "mlx" in row.formats:
        facts.append("MLX")
    if row.licence:
        facts.append(row.licence)
    if row.gated:
        facts.append(say("models.gated"))
    return facts


def figures_of(row: Result) -> str:
    if isinstance(row, Recommended):
        return say("models.drafts-with-own-layers") if row.own_layers else ""
    return f"♥ {count_text(row.likes)} · ↓ {count_text(row.downloads)}"


class ModelResultsDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, theme.px(_HEIGHT - _EDGES) + _EDGES + _GAP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ITEM)
        model = index.model()
        colours = theme.current()
        rect = QRect(option.rect).adjusted(1, 1, -2, -_GAP - 1)
        state = option.state
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.accent if chosen else colours.line), 1))
        painter.setBrush(QColor(colours.hover if hovered and not chosen else colours.raised))
        painter.drawRoundedRect(rect, theme.RADIUS_CARD, theme.RADIUS_CARD)
        inside = rect.adjusted(_INSET, 12, -_INSET, -10)
        memory = model.memory if isinstance(model, ModelResults) else 0
        _Card(painter, option.font, inside).paint(row, badge_of(row, memory))
        painter.restore()


class _Card:
    """Paints one card; its fonts are created once per card, not once per word."""

    def __init__(self, painter: QPainter, font: QFont, rect: QRect) -> None:
        self._painter, self._rect = painter, rect
        self._bold, self._small = QFont(font), QFont(font)
        self._bold.setWeight(QFont.Weight.DemiBold)
        self._small.setPixelSize(theme.px(theme.SMALL_SIZE))
        self._bold_metrics = QFontMetrics(self._bold)
        self._metrics = QFontMetrics(self._small)

    def paint(self, row: Result, badge: tuple[str, str] | None) -> None:
        self._paint_name(row.name, badge)
        self._paint_facts(facts_of(row), figures_of(row))

    def _paint_name(self, name: str, badge: tuple[str, str] | None) -> None:
        painter, rect, metrics = self._painter, self._rect, self._bold_metrics
        room = rect.width()
        if badge is not None:
            room -= self._metrics.horizontalAdvance(badge[0]) + 26
        name = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
        painter.setFont(self._bold)
        painter.setPen(QColor(theme.current().ink))
        line = QRect(rect.left(), rect.top(), rect.width(), metrics.height())
        draw_words(painter, line, name, rect)
        if badge is not None:
            painter.setFont(self._small)
            at = rect.left() + metrics.horizontalAdvance(name) + 8
            self._box(at, rect.top() - 1, badge[0], badge[1])

    def _paint_facts(self, facts: Sequence[str], figures: str) -> None:
        painter, rect, metrics = self._painter, self._rect, self._metrics
        painter.setFont(self._small)
        at, top = rect.left(), rect.bottom() - metrics.height() - 3
        for fact in facts:
            if at + metrics.horizontalAdvance(fact) + 18 > rect.right():
                return
            at = self._box(at, top, fact, theme.current().quiet) + 6
        painter.setPen(QColor(theme.current().quiet))
        if figures and metrics.horizontalAdvance(figures) < rect.right() - at:
            line = QRect(at + 2, top + 2, rect.right() - at, metrics.height())
            draw_words(painter, line, in_window_order(figures), rect)

    def _box(self, left: int, top: int, text: str, colour: str) -> int:
        """Paint a word in a rounded box; return its right edge."""
        painter, metrics = self._painter, self._metrics
        rect = QRect(left, top, metrics.horizontalAdvance(text) + 16, metrics.height() + 4)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.current().line), 1))
        place = turned(rect, self._rect)
        painter.drawRoundedRect(place, rect.height() / 2, rect.height() / 2)
        painter.setPen(QColor(colour))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
        return rect.right()
