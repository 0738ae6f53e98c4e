"""The model pill in the header: the answering model, and the menu to choose another."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QMenu,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QWidget,
)

from headstart.chat.models import ModelList
from headstart.ui.commands import Commands
from headstart.ui.kit import theme
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.hover import settle_after
from headstart.ui.kit.mirrored import draw_words, turned
from headstart.ui.models.choices_menu import ChoicesMenu
from headstart.ui.wording import say

FILTER = "models.gguf-models-gguf-all-files"
_COMMANDS = ("models.discover", "model.open_file", "model.open_folder", "model.servers")
# px before the text, behind it (for the arrow), between its parts, and reserved for the name
_LEFT, _RIGHT, _GAP, _LEAST = 13, 30, 8, 70


class ModelPill(QPushButton):
    """Emits `model_chosen` with the choice, or `file_chosen` with the path of a new model. A line
    at its foot shows the loading progress without changing its width."""

    model_chosen = Signal(object)
    file_chosen = Signal(str)
    refused = Signal(str)  # why the chosen model cannot be used
    menu_opening = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pill")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._name = self._stored = self._state = ""
        self._fraction = 1.0
        self.choices = ChoicesMenu(self)
        self.choices.aboutToShow.connect(self.menu_opening)
        self.choices.chosen.connect(self.model_chosen)
        self.choices.refused.connect(self.refused)
        settle_after(self.choices, self)
        self.setMenu(self.choices)

    def set_commands(self, commands: Commands) -> None:
        """Set the entries below the models."""

        def add(menu: QMenu) -> None:
            for command_id in _COMMANDS:
                commands.add_to(menu, command_id)

        self.choices.set_below(add)

    def set_models(self, models: ModelList) -> None:
        self.choices.set_models(models)

    def set_current(self, name: str, stored: str = "") -> None:
        """Set the model; `stored`: the quantization of its weights, such as “Q4_K_M”."""
        self._name, self._stored = name, stored
        self.show_state("")

    def show_state(self, state: str, fraction: float = 1.0) -> None:
        """Show the state of the model (“is missing”), and its loaded fraction."""
        self._state, self._fraction = state, fraction
        loading = say("models.loading-fraction-2", fraction=fraction) if fraction < 1 else ""
        words = " ".join(filter(None, (self.full_text, loading)))
        self.setToolTip(words)
        self.setAccessibleName(say("models.model-words", words=words))
        self.updateGeometry()
        self.update()

    @property
    def full_text(self) -> str:
        """The text of a button with enough room."""
        return " ".join(
            filter(None, (self._name or say("models.no-model"), self._state, self._stored))
        )

    # --- looks ---------------------------------------------------------------------------

    def _words(self) -> tuple[str, str]:
        """The name with the state, and the small text behind it."""
        return " ".join(
            filter(None, (self._name or say("models.no-model"), self._state))
        ), self._stored

    def sizeHint(self) -> QSize:
        name, stored = self._words()
        font, small = theme.text_font(), theme.text_font(theme.SMALL_SIZE)
        font.setWeight(font.Weight.Medium)
        width = QFontMetrics(font).horizontalAdvance(name) + _LEFT + _RIGHT
        if stored:
            width += _GAP + QFontMetrics(small).horizontalAdvance(stored)
        return QSize(width, theme.px(theme.CONTROL))

    def minimumSizeHint(self) -> QSize:
        least = QSize(_LEFT + _RIGHT + theme.px(_LEAST), theme.px(theme.CONTROL))
        return self.sizeHint().boundedTo(least)

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        painter, colours = QPainter(self), theme.current()
        self.style().drawControl(QStyle.ControlElement.CE_PushButton, option, painter, self)
        name, stored = self._words()
        font, small = theme.text_font(), theme.text_font(theme.SMALL_SIZE)
        font.setWeight(font.Weight.Medium)
        metrics, few = QFontMetrics(font), QFontMetrics(small)
        room = self.width() - _LEFT - _RIGHT
        beside = _GAP + few.horizontalAdvance(stored) if stored else 0
        if metrics.horizontalAdvance(name) + beside > room:
            # the name matters more
            beside = 0
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room - beside)
        whole = self.rect()
        painter.setFont(font)
        painter.setPen(QColor(colours.ink))
        draw_words(painter, QRect(_LEFT, 0, room, self.height()), shown, whole)
        if beside:
            left = _LEFT + metrics.horizontalAdvance(shown) + _GAP
            painter.setFont(small)
            painter.setPen(QColor(colours.quiet))
            draw_words(painter, QRect(left, 0, room, self.height()), stored, whole)
        if self._fraction < 1:
            width = self.width() - 2 * _LEFT
            line = QRect(_LEFT, self.height() - 4, round(width * max(0.04, self._fraction)), 2)
            painter.fillRect(turned(line, whole), QColor(colours.accent))
        painter.end()

    # --- files ---------------------------------------------------------------------------

    def ask_file(self) -> None:
        self._ask(say("models.open-model"), QFileDialog.FileMode.ExistingFile)

    def ask_folder(self) -> None:
        self._ask(say("models.open-mlx-model-folder"), QFileDialog.FileMode.Directory)

    def _ask(self, title: str, mode: QFileDialog.FileMode) -> None:
        dialog = file_dialog(self.window(), title)
        dialog.setFileMode(mode)
        if mode is QFileDialog.FileMode.ExistingFile:
            dialog.setNameFilter(say(FILTER))
        dialog.fileSelected.connect(self.file_chosen)
        dialog.open()
