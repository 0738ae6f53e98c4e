"""Parts of the settings pages: sections as cards, and rows with a title, an explanation below it,
and a control on the right."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from headstart.core.settings.fields import FieldInfo
from headstart.core.settings.schema import Settings
from headstart.ui.kit import theme
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.fields import ResetButton, choice_box, number_box, show_value
from headstart.ui.kit.focus import in_reading_order
from headstart.ui.kit.segments import Segments
from headstart.ui.kit.switch import Switch

# widths in px at 100 %: of a page's column, and of a control, which grows with its words
COLUMN, CONTROL, _WIDEST = 720, 240, 344
_MARGIN, _TOP, _GROUP = 32, 24, 24
# px beside the words of a row, and of a control that is still of use
_INSET, _LEAST = 16, 120
# width of a page in px at 100 % below which controls stand below their titles
_NARROW = 560


class SettingEntry(Struct, frozen=True):
    """A setting, for the search."""

    title: str
    about: str
    row: QWidget


class ResetField(QWidget):
    """A field, and a button before it that brings back what is automatic: fields end together on
    the right. In a narrow page they begin together, with the button behind."""

    def __init__(self, field: QWidget, reset: ResetButton, parent: QWidget) -> None:
        super().__init__(parent)
        self._field, self._reset = field, reset
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(reset)
        self._row.addWidget(field, 1)
        self.setFocusProxy(field)
        self.set_narrow(False)

    def set_narrow(self, narrow: bool) -> None:
        directions = QBoxLayout.Direction
        self._row.setDirection(directions.RightToLeft if narrow else directions.LeftToRight)
        parts = self._reset, self._field
        in_reading_order(*(reversed(parts) if narrow else parts))


class SettingRow(QWidget):
    """A title with an explanation, and a control beside them, or below in a narrow page. Emits
    `changed` when the control may need another width."""

    changed = Signal()

    def __init__(self, title: str, control: QWidget, about: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.title = QLabel(title, self)
        self.title.setWordWrap(True)
        self.title.setBuddy(control)
        self.about = QLabel(about, self)
        self.about.setObjectName("quiet")
        self.about.setWordWrap(True)
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setVisible(bool(about))
        self._control = control
        if isinstance(control, QLabel):
            control.setWordWrap(True)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.title)
        words.addWidget(self.about)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(_INSET, 9, _INSET, 9)
        self._layout.setSpacing(16)
        self._layout.addLayout(words, 1)
        self._layout.addWidget(control, 0, Qt.AlignmentFlag.AlignVCenter)
        self.fit(self.wanted_width())

    def set_about(self, text: str) -> None:
        self.about.setText(text)
        self.about.setVisible(bool(text))

    def wanted_width(self) -> int:
        """The width in pixels in which the words of the control are read."""
        control, least = self._control, theme.px(CONTROL)
        if isinstance(control, Choice):
            return max(least, min(control.whole_width(), theme.px(_WIDEST)))
        if isinstance(control, Segments):
            return max(least, min(control.sizeHint().width(), theme.px(_WIDEST)))
        return least

    def fit(self, width: int) -> None:
        """Give the control a width in pixels; switches and labels keep their own."""
        if not isinstance(self._control, Switch | QLabel):
            self._control.setFixedWidth(width)

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            self.changed.emit()
        return super().event(event)

    def set_narrow(self, narrow: bool) -> None:
        """Put the control below its title (`narrow`) or beside it."""
        if isinstance(self._control, Switch | QLabel):
            return
        directions = QBoxLayout.Direction
        self._layout.setDirection(directions.TopToBottom if narrow else directions.LeftToRight)
        self._layout.setSpacing(8 if narrow else 16)
        if isinstance(self._control, ResetField):
            self._control.set_narrow(narrow)


class Section(QFrame):
    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.setObjectName("card")
        self._page = page
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(1, 1, 1, 1)
        self._column.setSpacing(0)

    def row(self, title: str, control: QWidget, about: str = "") -> SettingRow:
        row = SettingRow(title, control, about, self)
        row.changed.connect(self._page.fit_soon)
        self._add(row)
        self._page.entries.append(SettingEntry(title, about, row))
        return row

    def wide(self, *parts: QWidget | QHBoxLayout, title: str = "") -> QWidget:
        """Add parts over the whole width; the search finds them by `title`."""
        place = QWidget(self)
        column = QVBoxLayout(place)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        if title:
            head = QLabel(title, place)
            head.setWordWrap(True)
            column.addWidget(head)
        for part in parts:
            if isinstance(part, QWidget):
                column.addWidget(part)
            else:
                column.addLayout(part)
        self._add(place)
        if title:
            self._page.entries.append(SettingEntry(title, "", place))
        return place

    def field(
        self,
        info: FieldInfo,
        value_of: Callable[[Settings], object],
        change: Callable[[object], None],
        about: str = "",
    ) -> QWidget:
        """Add a row for a setting, from its own description; it shows `value_of` the settings, also
        after changes from elsewhere."""
        value = value_of(self._page.settings)
        change = self._page.by_user(change)
        word = about or info.description
        control: QWidget
        if isinstance(value, bool):
            switch = Switch(info.title, self)
            switch.setChecked(value)
            switch.toggled.connect(change)
            control = switch
        elif info.choices:
            control = choice_box(info, str(value), change)
        else:
            assert isinstance(value, int | float)
            control = number_box(info, value, change)
        # the explanation stands below the title: a tool tip would repeat it
        control.setToolTip("")
        self.row(info.title, control, word)
        self._page.watch(control, value_of)
        return control

    def _add(self, widget: QWidget) -> None:
        if self._column.count():
            line = QFrame(self)
            line.setObjectName("line")
            line.setFixedHeight(1)
            self._column.addWidget(line)
        self._column.addWidget(widget)


class Page(QScrollArea):
    """A page that scrolls if it does not fit; `column` takes its content."""

    def __init__(self, title: str, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.settings = settings
        # controls, and the functions that return their values from the settings
        self._watched: list[tuple[QWidget, Callable[[Settings], object]]] = []
        self._following = False
        self.entries: list[SettingEntry] = []
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(title)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget(self)
        body.setObjectName("settingsBody")
        inside = QWidget(body)
        inside.setMaximumWidth(theme.px(COLUMN))
        inside.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.column = QVBoxLayout(inside)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(8)
        head = QLabel(title, inside)
        head.setObjectName("pageTitle")
        head.setWordWrap(True)
        self.column.addWidget(head)
        self._narrow = False
        # rows change together
        self._fitting = QTimer(self)
        self._fitting.setSingleShot(True)
        self._fitting.timeout.connect(self.fit)
        around = self._around = QHBoxLayout(body)
        around.setContentsMargins(_MARGIN, _TOP, _MARGIN, _TOP)
        around.addStretch(1)
        around.addWidget(inside, 1000)
        around.addStretch(1)
        self._inside = inside
        self.setWidget(body)

    def section(self, title: str = "", about: str = "") -> Section:
        if title:
            label = QLabel(title, self._inside)
            label.setObjectName("sectionTitle")
            label.setWordWrap(True)
            self.column.addSpacing(_GROUP - 16)
            self.column.addWidget(label)
        section = Section(self)
        self.column.addWidget(section)
        if about:
            self.column.addWidget(self.word(about))
        return section

    def watch(self, control: QWidget, value_of: Callable[[Settings], object]) -> None:
        """Have a control show `value_of` the settings from now on."""
        self._watched.append((control, value_of))

    def by_user(self, change: Callable[[object], None]) -> Callable[[object], None]:
        """Wrap `change` so that it is not called while the page follows the settings."""
        return lambda value: None if self._following else change(value)

    def follow(self, settings: Settings) -> None:
        """Show changed settings."""
        self.settings = settings
        self._following = True
        for control, value_of in self._watched:
            show_value(control, value_of(settings))
        self._following = False

    def finish(self) -> None:
        self.column.addStretch(1)
        theme.follow(self._measure)

    def word(self, text: str = "") -> QLabel:
        """Create a quiet line of explanation; wrapped, and hidden without a text."""
        label = QLabel(text, self._inside)
        label.setObjectName("quiet")
        label.setWordWrap(True)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setVisible(bool(text))
        return label

    def _measure(self) -> None:
        self._inside.setMaximumWidth(theme.px(COLUMN))
        self.fit()

    def fit_soon(self) -> None:
        self._fitting.start(0)

    def fit(self) -> None:
        """Give the controls of all rows the width of the widest, and no more than there is."""
        rows = self.findChildren(SettingRow)
        widest = max((row.wanted_width() for row in rows), default=0)
        sides = self._around.contentsMargins()
        room = self.viewport().width() - sides.left() - sides.right() - 2 * (_INSET + 2)
        for row in rows:
            row.fit(min(widest, max(room, _LEAST)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < theme.px(_NARROW)
        if narrow != self._narrow:
            self._narrow = narrow
            sides = 16 if narrow else _MARGIN
            self._around.setContentsMargins(sides, _TOP, sides, _TOP)
            for row in self.findChildren(SettingRow):
                row.set_narrow(narrow)
        self.fit()

    def show_row(self, row: QWidget) -> None:
        self.ensureWidgetVisible(row, 0, theme.px(120))
