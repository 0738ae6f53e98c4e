"""Looks: theme, text and column with a sample of both, and the details shown of a reply."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from headstart.core.settings.fields import describe
from headstart.core.settings.schema import TEXT_SIZES, Settings
from headstart.core.settings.schema import Theme as ThemeChoice
from headstart.core.text.locale import locale
from headstart.ui.kit import languages, theme
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.flow import FlowLayout
from headstart.ui.kit.mirrored import across, is_mirrored
from headstart.ui.kit.segments import Segments
from headstart.ui.settings.form import Page
from headstart.ui.wording import say

_CARD = QSize(146, 82)
_SAMPLE = "settings.air-scatters-short-waves-of"


class ThemeCard(QAbstractButton):
    """A small window in the colours of a theme."""

    def __init__(self, choice: ThemeChoice, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._choice = choice
        self.setText(title)
        self.setCheckable(True)
        self.setAccessibleName(say("settings.theme-title", title=title))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def sizeHint(self) -> QSize:
        words = QFontMetrics(theme.text_font()).horizontalAdvance(self.text())
        width = max(_CARD.width(), words)
        return QSize(width + 8, _CARD.height() + 8 + 6 + theme.px(20))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        card = QRectF(4, 4, _CARD.width(), _CARD.height())
        halves = {"light": (theme.LIGHT,), "dark": (theme.DARK,)}.get(
            self._choice, (theme.LIGHT, theme.DARK)
        )
        for number, colours in enumerate(halves):
            painter.save()
            left = card.left() + number * card.width() / 2
            width = card.width() / len(halves)
            painter.setClipRect(QRectF(left, card.top(), width, card.height()))
            if is_mirrored():
                painter.translate(2 * card.center().x(), 0)
                painter.scale(-1, 1)
            _paint_window(painter, card, colours)
            painter.restore()
        now = theme.current()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(now.edge), 1))
        painter.drawRoundedRect(card, 8, 8)
        if self.isChecked():
            painter.setPen(QPen(QColor(now.accent), 2))
            painter.drawRoundedRect(card.adjusted(-3, -3, 3, 3), 10, 10)
        if self.hasFocus():
            painter.setPen(QPen(QColor(now.ink), 2, Qt.PenStyle.DotLine))
            painter.drawRoundedRect(card.adjusted(-3, -3, 3, 3), 10, 10)
        weight = QFont.Weight.Medium if self.isChecked() else QFont.Weight.Normal
        painter.setFont(theme.text_font(theme.TEXT_SIZE, weight))
        painter.setPen(QColor(now.ink if self.isChecked() else now.quiet))
        words = QRectF(0, card.bottom() + 10, self.width(), theme.px(20))
        painter.drawText(words, int(Qt.AlignmentFlag.AlignCenter), self.text())
        painter.end()


def _paint_window(painter: QPainter, card: QRectF, colours: theme.Theme) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.ground))
    painter.drawRoundedRect(card, 8, 8)
    painter.setBrush(QColor(colours.side))
    painter.drawRoundedRect(QRectF(card.left(), card.top(), 36, card.height()), 8, 8)
    painter.setBrush(QColor(colours.edge))
    for top, width in ((12, 18), (22, 13), (32, 18)):
        painter.drawRoundedRect(QRectF(card.left() + 8, card.top() + top, width, 4), 2, 2)
    painter.setBrush(QColor(colours.bubble))
    painter.drawRoundedRect(QRectF(card.left() + 92, card.top() + 12, 42, 12), 5, 5)
    painter.setBrush(QColor(colours.edge))
    for top, width in ((34, 70), (44, 50)):
        painter.drawRoundedRect(QRectF(card.left() + 48, card.top() + top, width, 4), 2, 2)
    painter.setBrush(QColor(colours.raised))
    painter.setPen(QPen(QColor(colours.accent), 1))
    painter.drawRoundedRect(QRectF(card.left() + 48, card.top() + 60, 86, 13), 5, 5)


class Sample(QWidget):
    """A question and the beginning of a reply in the current looks."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(say("settings.sample-of-text"))

    def sizeHint(self) -> QSize:
        return QSize(400, 3 * theme.line_height() + theme.px(70))

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, font = theme.current(), theme.reading_font()
        painter, metrics = QPainter(self), QFontMetrics(font)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = min(self.width() - 32, theme.column_width())
        left = (self.width() - width) // 2
        words = say("settings.why-sky-blue")
        line = theme.line_height()
        bubble = QRectF(0, 14, metrics.horizontalAdvance(words) + 28, line + 14)
        bubble.moveLeft(left + across(int(width - bubble.width()), int(bubble.width()), width))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.bubble))
        painter.drawRoundedRect(bubble, theme.RADIUS_BUBBLE, theme.RADIUS_BUBBLE)
        painter.setPen(QColor(colours.ink))
        painter.setFont(font)
        painter.drawText(bubble, int(Qt.AlignmentFlag.AlignCenter), words)
        y = int(bubble.bottom()) + 12
        rest = say(_SAMPLE)
        while rest and y + line <= self.height():
            count = len(rest)
            while count > 1 and metrics.horizontalAdvance(rest[:count]) > width:
                count = rest.rfind(" ", 0, count - 1) if " " in rest[: count - 1] else count - 1
            ink = metrics.horizontalAdvance(rest[:count])
            painter.drawText(left + across(0, ink, width), y + metrics.ascent(), rest[:count])
            rest, y = rest[count:].lstrip(), y + line
        painter.end()


class AppearancePage(Page):
    """Calls `change` with the fields to replace; emits `restart_wanted`."""

    restart_wanted = Signal()

    def __init__(
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__(say("settings.appearance"), settings, parent)
        fields = describe(Settings)
        self._change = change
        self._segments: dict[str, Segments] = {}
        self.cards: dict[str, ThemeCard] = {}
        place = QWidget(self)
        row = FlowLayout(place)
        for choice, title in fields["theme"].labels.items():
            card = self.cards[choice] = ThemeCard(_theme(choice), title, self)
            card.clicked.connect(lambda _checked=False, choice=choice: self._choose_theme(choice))
            row.addWidget(card)
        self.column.addWidget(place)
        self._choose_card(settings.theme)
        self._build_language(settings)
        section = self.section(say("settings.reading"))
        section.row(say("settings.text-size"), self._size(settings))
        for name in ("column_width", "line_spacing"):
            info = fields[name]
            segments = Segments(info.title, info.labels, self)
            segments.set_value(getattr(settings, name))
            self._segments[name] = segments
            segments.chosen.connect(lambda value, name=name: self._set(**{name: value}))
            section.row(info.title, segments)
        section.field(
            fields["text_font"],
            lambda settings: settings.text_font,
            lambda value: self._set(text_font=value),
            say("settings.code-always-jetbrains-mono"),
        )  # fmt: skip
        self._sample = Sample(self)
        section.wide(self._sample)
        section = self.section(say("settings.replies"))
        section.field(
            fields["stats_shown"],
            lambda settings: settings.stats_shown,
            lambda value: self._set(stats_shown=value),
        )
        section.field(
            fields["show_origins"],
            lambda settings: settings.show_origins,
            lambda value: self._set(show_origins=value),
            say("settings.colours-what-draft-wrote-and"),
        )  # fmt: skip
        section.field(
            fields["announce_replies"],
            lambda settings: settings.announce_replies,
            lambda value: self._set(announce_replies=value),
        )
        self.finish()

    def _build_language(self, settings: Settings) -> None:
        """The language in its own name, and a restart once another one is chosen."""
        section = self.section(say("settings.language"))
        self.language = Choice(self)
        system = languages.wanted_language("")
        self.language.addItem(say("settings.language-of-system", name=system.name), "")
        for one in languages.offered():
            self.language.addItem(one.name, one.code)
        self.language.setAccessibleName(say("settings.language"))
        self.language.activated.connect(self._choose_language)
        self.restart = QPushButton(say("settings.restart-now"), self)
        self.restart.setAutoDefault(False)
        self.restart.clicked.connect(self.restart_wanted)
        field = QWidget(self)
        column = QVBoxLayout(field)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.language)
        column.addWidget(self.restart)
        field.setFocusProxy(self.language)
        section.row(say("settings.language"), field, say("settings.language-restart"))
        self._show_language(settings)

    def _show_language(self, settings: Settings) -> None:
        self.language.setCurrentIndex(max(0, self.language.findData(settings.language)))
        then = languages.wanted_language(settings.language)
        self.restart.setVisible(then != languages.current())

    def _choose_language(self, _row: int) -> None:
        self._change(language=self.language.currentData())

    def _size(self, settings: Settings) -> QWidget:
        place = QWidget(self)
        row = QHBoxLayout(place)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        small, large = QLabel("A", place), QLabel("A", place)
        small.setObjectName("quiet")
        self.size_slider = QSlider(Qt.Orientation.Horizontal, place)
        self.size_slider.setRange(0, len(TEXT_SIZES) - 1)
        self.size_slider.setPageStep(1)
        self.size_slider.setAccessibleName(say("settings.text-size"))
        self._percent = QLabel(place)
        self._percent.setMinimumWidth(44)
        self._percent.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.set_text_size(settings.text_size)
        self.size_slider.valueChanged.connect(self._on_size)
        place.setFocusProxy(self.size_slider)
        for widget in (small, self.size_slider, large, self._percent):
            row.addWidget(widget, 1 if widget is self.size_slider else 0)
        return place

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        self.set_text_size(settings.text_size)
        self._choose_card(settings.theme)
        self._show_language(settings)
        for name, segments in self._segments.items():
            segments.set_value(getattr(settings, name))

    def set_text_size(self, percent: int) -> None:
        nearest = min(range(len(TEXT_SIZES)), key=lambda one: abs(TEXT_SIZES[one] - percent))
        with QSignalBlocker(self.size_slider):
            self.size_slider.setValue(nearest)
        self._percent.setText(locale().percent(percent / 100))

    def _measure(self) -> None:
        super()._measure()
        for painted in (*self.cards.values(), self._sample):
            painted.updateGeometry()

    def _on_size(self, step: int) -> None:
        self._percent.setText(locale().percent(TEXT_SIZES[step] / 100))
        self._set(text_size=TEXT_SIZES[step])

    def _set(self, **changes: object) -> None:
        self._change(**changes)
        self._sample.updateGeometry()
        self._sample.update()

    def _choose_theme(self, choice: str) -> None:
        self._choose_card(choice)
        self._change(theme=choice)

    def _choose_card(self, choice: str) -> None:
        for one, card in self.cards.items():
            card.setChecked(one == choice)


def _theme(name: str) -> ThemeChoice:
    return "light" if name == "light" else "dark" if name == "dark" else "system"
