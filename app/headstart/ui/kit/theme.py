"""Colours, type and the style sheet, light and dark. Measures in px at 100 %, steps of 4.

`Theme` is a frozen value; widgets that paint themselves get it through `current()` and repaint
on a palette change, which Qt sends to every widget. Qt sends nothing when only a measure changes:
widgets that measure with the theme, or write its colours into a text, `follow` it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import fields, replace
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from headstart.core.resources import resources
from headstart.core.settings.schema import ColumnWidth, LineSpacing, TextFont
from headstart.core.settings.schema import Theme as ThemeChoice
from headstart.ui.kit import languages
from headstart.ui.kit.han_fonts import han_fonts

SIDEBAR_WIDTH = 264
INSPECTOR_WIDTH = 316
COLUMN_WIDTH = 720
RADIUS_CONTROL, RADIUS_CARD, RADIUS_BUBBLE = 8, 12, 14
# font sizes: the interface, small text, a chat's title, page titles, the greeting
TEXT_SIZE, SMALL_SIZE, CHAT_TITLE_SIZE, TITLE_SIZE, GREETING_SIZE = 13, 12, 14, 20, 24
# the font of messages: its size, its line height, and the size of code
READING_SIZE, LINE_HEIGHT, CODE_SIZE = 15, 24, 13
# heights: of buttons, fields, pills and rows; of a row with a second line
CONTROL, TALL_ROW = 32, 48
COLUMN_WIDTHS: dict[ColumnWidth, int] = {"narrow": 600, "medium": COLUMN_WIDTH, "wide": 960}
LINE_SPACINGS: dict[LineSpacing, int] = {"tight": 21, "normal": LINE_HEIGHT, "loose": 28}
# the system font's usual height; a larger one makes the window's text larger, too
USUAL_FONT_PX = 13
LARGEST = 2.0
# after all others: boxes for scripts that no font here has, in lines like the others
BOXES = "Headstart Boxes"


class Theme(Struct, frozen=True):
    dark: bool
    ground: str
    side: str
    # lines between areas, and around controls
    line: str
    edge: str
    ink: str
    quiet: str
    # fills, text on them, and links
    accent: str
    on_accent: str
    accent_text: str
    accent_ground: str
    bubble: str
    code: str
    raised: str
    # backgrounds under the pointer, and of chosen rows: never alike
    hover: str
    selected: str
    # edges of fields, switches that are off, and branches that are not on show: 3 : 1 on all
    # grounds that they stand on
    off: str
    warning: str
    warning_ground: str
    danger: str
    selection: str
    keyword: str
    string: str
    number: str
    comment: str
    name: str
    # drafted text: by a draft model, by prompt lookup
    by_draft: str
    by_lookup: str
    # search hits, and the current one
    found: str
    found_now: str


LIGHT = Theme(
    dark=False,
    ground="#fbfbfa",
    side="#f1f1ee",
    line="#e6e6e1",
    edge="#d6d7d1",
    ink="#1f2321",
    quiet="#5f6662",
    accent="#0f766e",
    on_accent="#ffffff",
    accent_text="#0d6b64",
    accent_ground="#d7efeb",
    bubble="#eef1ee",
    code="#f4f4f1",
    raised="#ffffff",
    hover="#e8e9e5",
    selected="#d9e9e5",
    off="#7f8681",
    warning="#8a4b08",
    warning_ground="#faf0dc",
    danger="#a8322a",
    selection="#bfe3dd",
    keyword="#7c3aed",
    string="#0f6e4f",
    number="#a1440b",
    comment="#626a66",
    name="#1d5fbf",
    by_draft="#cdeee7",
    by_lookup="#e4e0f5",
    found="#fbe7a1",
    found_now="#f7b955",
)
DARK = Theme(
    dark=True,
    ground="#191b1a",
    side="#141615",
    line="#2a2d2b",
    edge="#3a3f3c",
    ink="#e6e8e6",
    quiet="#9aa29d",
    accent="#2dd4bf",
    on_accent="#06201d",
    accent_text="#2dd4bf",
    accent_ground="#123b36",
    bubble="#232725",
    code="#121413",
    raised="#1f2221",
    hover="#252927",
    selected="#16352f",
    off="#6b736e",
    warning="#f0b865",
    warning_ground="#33291a",
    danger="#f2938b",
    selection="#1d544d",
    keyword="#c4b5fd",
    string="#86d9a8",
    number="#f0a878",
    comment="#87908b",
    name="#93c5fd",
    by_draft="#12443d",
    by_lookup="#332d52",
    found="#5a4a14",
    found_now="#8a5a10",
)

_theme = LIGHT
_family = "Inter"
_system_family = ""
# above, right, below, left
_FOUR = re.compile(r"(padding|margin):" + 4 * r" ([^\s;]+)" + ";")
# one side of an edge, and of a slider
_SIDE = re.compile(r"(?<=-)(left|right)(?=:)|(?<=::)(sub|add)(?=-page)")
_OTHER = {"left": "right", "right": "left", "sub": "add", "add": "sub"}

# scale of the system's font, and the total with the user's text size
_system_scale = 1.0
_scale = 1.0
_column = COLUMN_WIDTH
_line = LINE_HEIGHT


class _Changes(QObject):
    applied = Signal()


_changes = _Changes()


# for a system with high contrast: 7 : 1 for text, 4.5 : 1 for every edge
LIGHT_HIGH = replace(
    LIGHT, ground="#ffffff", side="#ffffff", raised="#ffffff", code="#ffffff", bubble="#ffffff",
    line="#6b6b6b", edge="#595959", ink="#000000", quiet="#2b2f2d", accent="#00514a",
    accent_text="#00514a", off="#4a4f4c", hover="#e3e8e6", selected="#cfe8e3", warning="#5c3000",
    danger="#7d1610", keyword="#4b1aa8", string="#0a4a35", number="#6b2c05", comment="#3d4340",
    name="#0d3d80",
)  # fmt: skip
DARK_HIGH = replace(
    DARK, ground="#000000", side="#000000", raised="#000000", code="#000000", bubble="#000000",
    line="#8f9692", edge="#a9b0ac", ink="#ffffff", quiet="#d5dad7", accent="#5eead4",
    accent_text="#5eead4", off="#a9b0ac", hover="#1c2220", selected="#0b3a33", warning="#ffd08a",
    danger="#ffb4ad", comment="#c0c8c3",
)  # fmt: skip


def current() -> Theme:
    return _theme


def follow(measure: Callable[[], object]) -> None:
    """Call a widget's method now, and whenever theme, fonts or measures change, until the widget
    is deleted."""
    _changes.applied.connect(measure)
    measure()


def colour(value: str, alpha: int = 255) -> QColor:
    result = QColor(value)
    result.setAlpha(alpha)
    return result


def px(size: float) -> int:
    """Scale a text measure to the user's font size."""
    return round(size * _scale)


def icon_px(size: float) -> int:
    """Scale an icon, half as much as text: it says nothing by its details, and rows of icons must
    still fit."""
    return round(size * (1 + _scale) / 2)


def sidebar_width() -> int:
    """Width of the sidebar: more for large text, but less than half of the smallest window."""
    return min(px(SIDEBAR_WIDTH), 340)


def panel_width(usual: int) -> int:
    """Width of a panel beside the chat, `usual` px at 100 %: more for large text, but less than
    half of a window."""
    return min(px(usual), 450)


def column_width() -> int:
    """Largest width of the message column in pixels."""
    return px(_column)


def line_height() -> int:
    """Height of a message's line in pixels."""
    return px(_line)


def text_font(size: int = TEXT_SIZE, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    font = QFont([_family, *han_fonts(), BOXES]) if _family else QFont()
    font.setPixelSize(px(size))
    font.setWeight(weight)
    return font


def reading_font() -> QFont:
    """Font of messages and of the composer."""
    return text_font(READING_SIZE)


def code_font(size: int = CODE_SIZE) -> QFont:
    font = QFont(["JetBrains Mono", *han_fonts(), BOXES])
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPixelSize(px(size))
    # ligatures show code differently from the typed characters
    font.setFeature(QFont.Tag("calt"), 0)
    return font


def load_fonts() -> None:
    """Register the bundled fonts; the system's are used if a file is missing."""
    for path in sorted((resources() / "fonts").glob("*.[ot]tf")):
        QFontDatabase.addApplicationFont(str(path))
    measure(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont))


def measure(system: QFont) -> None:
    """Take over the current family and size of the system's font."""
    global _system_scale, _system_family
    # of what is taken: a name such as “Sans Serif” would lose against any font after it, and is
    # known also where no system font is installed
    _system_family = QFontInfo(system).family()
    _system_scale = min(LARGEST, max(1.0, QFontInfo(system).pixelSize() / USUAL_FONT_PX))


def set_reading(percent: int, column: ColumnWidth, spacing: LineSpacing) -> None:
    """Set the text size, the column width and the line spacing."""
    global _scale, _column, _line
    _scale = min(LARGEST, _system_scale * percent / 100)
    _column, _line = COLUMN_WIDTHS[column], LINE_SPACINGS[spacing]


def chosen(dark: bool, high: bool) -> Theme:
    """The theme for a dark or light window, with `high` contrast or the usual one."""
    if high:
        return DARK_HIGH if dark else LIGHT_HIGH
    return DARK if dark else LIGHT


def apply(app: QApplication, choice: ThemeChoice, font: TextFont) -> Theme:
    """Apply the chosen theme and font to the whole application."""
    global _theme, _family
    # kept while it is used: PySide frees what hangs on it otherwise
    hints = QGuiApplication.styleHints()
    dark = choice == "dark" or (choice == "system" and hints.colorScheme() == Qt.ColorScheme.Dark)
    high = hints.accessibility().contrastPreference() is Qt.ContrastPreference.HighContrast
    _theme = chosen(dark, high)
    bundled = font == "inter" or (font == "auto" and languages.current().in_inter)
    _family = "Inter" if bundled else _system_family
    app.setFont(text_font())
    app.setPalette(_palette(_theme))
    sheet = _style_sheet(_theme)
    # setting the same sheet again would parse it and apply it to every widget: 0.2 s
    if app.styleSheet() != sheet:
        app.setStyleSheet(sheet)
    _changes.applied.emit()
    return _theme


def _palette(theme: Theme) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for key, value in {
        role.Window: theme.ground,
        role.WindowText: theme.ink,
        role.Base: theme.raised,
        role.AlternateBase: theme.side,
        role.Text: theme.ink,
        role.Button: theme.side,
        role.ButtonText: theme.ink,
        role.ToolTipBase: theme.ink,
        role.ToolTipText: theme.ground,
        role.Highlight: theme.selection,
        role.HighlightedText: theme.ink,
        role.Link: theme.accent_text,
        role.PlaceholderText: theme.quiet,
        role.Accent: theme.accent,
    }.items():
        palette.setColor(key, QColor(value))
    for key in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, key, QColor(theme.quiet))
    return palette


def _style_sheet(theme: Theme) -> str:
    sheet = (resources() / "styles" / "headstart.qss").read_text(encoding="utf-8")
    values = {field.name: getattr(theme, field.name) for field in fields(theme)}
    values |= {"small": f"{px(SMALL_SIZE)}px", "text": f"{px(TEXT_SIZE)}px"}
    values |= {"title": f"{px(TITLE_SIZE)}px", "reading": f"{px(READING_SIZE)}px"}
    values |= {"greeting": f"{px(GREETING_SIZE)}px", "heading": f"{px(CHAT_TITLE_SIZE)}px"}
    # height of a control without its border and padding
    for icon, size in (("icon", 16), ("icon_less", 14), ("arrow", 12), ("step", 10)):
        values[icon] = f"{icon_px(size)}px"
    values["control"] = f"{px(CONTROL - 12)}px"
    for name in ("chevron", "tick", "stepup"):
        picture = resources() / "styles" / f"{name}-{'dark' if theme.dark else 'light'}.svg"
        values[name] = picture.as_posix()
    for name in sorted(values, key=len, reverse=True):
        sheet = sheet.replace(f"@{name}", str(values[name]))
    if QGuiApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        # Qt mirrors places of arrows, but neither paddings and edges nor a slider's sides
        sheet = _FOUR.sub(r"\1: \2 \5 \4 \3;", sheet)
        sheet = _SIDE.sub(lambda one: _OTHER[one[0]], sheet)
        # a label counts the space at which a line is broken, and begins the line behind it
        sheet += "QLabel#quiet, QLabel#quietText { padding-right: 5px; qproperty-indent: 0; }\n"
    return sheet
