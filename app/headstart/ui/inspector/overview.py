"""Overview of a chat: its preset, its model, its draft with the gain, its context."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QProgressBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from headstart.core.settings.schema import Preset
from headstart.ui.kit import theme
from headstart.ui.kit.elided import ElidedButton
from headstart.ui.kit.hover import settle_after
from headstart.ui.kit.own_title import OwnTitle
from headstart.ui.kit.switch import Switch
from headstart.ui.wording import say

# approximate tokens of a page
_PAGE = 450
_CHANGE = "change"


class Overview(QWidget):
    """Emits the user's choices."""

    preset_chosen = Signal(Preset)
    preset_to_save = Signal()
    library_requested = Signal()
    model_wanted = Signal(QPoint)  # position for its menu
    speculation_toggled = Signal(bool)
    details_wanted = Signal()  # of drafting

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._presets: Sequence[Preset] = ()
        self._current = ""
        self._said = ("", "")
        self._build()
        self._lay_out()
        self.set_context(0, 0)
        self.set_preset("")
        self.set_model("")
        theme.follow(self._show_colours)

    def _build(self) -> None:
        self.preset = QToolButton(self)
        self.preset.setObjectName("quietMenu")
        self.preset.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.preset.setToolTip(say("inspector.system-prompt-with-settings-under"))
        self.menu = QMenu(self.preset)
        self.menu.aboutToShow.connect(self._fill_menu)
        settle_after(self.menu, self.preset)
        self.preset.setMenu(self.menu)
        self.model = ElidedButton(self)
        self.model.setObjectName("field")
        self.model.setToolTip(say("inspector.choose-another-model"))
        self.model.clicked.connect(
            lambda: self.model_wanted.emit(self.model.mapToGlobal(QPoint(0, self.model.height())))
        )
        self.drafts = Switch(say("inspector.drafting"), self)
        self.drafts.setToolTip(say("inspector.writes-several-tokens-at-once"))
        self.drafts.toggled.connect(self.speculation_toggled)
        self.drafting = OwnTitle(say("inspector.drafting"), self, section=True)
        self.drafting.setBuddy(self.drafts)
        self.gain = QLabel(self)
        self.gain.setObjectName("quiet")
        self.gain.setWordWrap(True)
        self.gain.setTextFormat(Qt.TextFormat.RichText)
        self.gain.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.gain.linkActivated.connect(lambda _link: self.details_wanted.emit())
        self._meter = QProgressBar(self)
        self._meter.setTextVisible(False)
        self._meter.setAccessibleName(say("inspector.context-used"))
        self._used = QLabel(self)
        self._used.setObjectName("quiet")
        self._used.setWordWrap(True)
        self._used.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._room = QLabel(self)
        self._room.setObjectName("quiet")
        self._room.setWordWrap(True)
        self._context = QWidget(self)

    def _lay_out(self) -> None:
        title = QLabel(say("inspector.chat"), self)
        title.setObjectName("chatTitle")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(_pair(title, self.preset))
        layout.addSpacing(6)
        named = _titled(say("inspector.model"), self)
        named.setBuddy(self.model)
        layout.addWidget(named)
        layout.addWidget(self.model)
        layout.addSpacing(6)
        layout.addLayout(_pair(self.drafting, self.drafts))
        layout.addWidget(self.gain)
        layout.addSpacing(6)
        column = QVBoxLayout(self._context)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(_pair(_titled(say("inspector.context"), self._context), self._used))
        column.addWidget(self._meter)
        column.addWidget(self._room)
        layout.addWidget(self._context)

    def set_model(self, name: str, stored: str = "") -> None:
        words = f"{name}  {stored}".rstrip() if name else say("inspector.no-model")
        self.model.set_full_text(words)
        self.model.setAccessibleName(say("inspector.model-words", words=words))

    def set_draft(self, on: bool, what: str, gain: str, possible: bool) -> None:
        """Show drafting: on or off, its source `what`, and the gain ("" for none); `possible`:
        drafts can be verified."""
        with QSignalBlocker(self):
            self.drafts.setChecked(on and possible)
        self.drafts.setEnabled(possible)
        self._said = (
            what if on or not possible else say("inspector.off-one-token-after-another"),
            gain,
        )
        self._show_said(on and possible)

    def _show_said(self, on: bool) -> None:
        colours, (what, gain) = theme.current(), self._said
        words = html.escape(what)
        if on and gain:
            words += f' · <span style="color:{colours.ink}"><b>{html.escape(gain)}</b></span>'
        link = f'<a href="{_CHANGE}" style="color:{colours.accent_text};text-decoration:none">'
        self.gain.setText(f"{words} · {link}{say('inspector.change')}</a>")
        code = "inspector.drafting-gain" if gain and on else "inspector.drafting-by"
        self.gain.setAccessibleName(say(code, what=what, gain=gain))

    def _show_colours(self) -> None:
        self._show_said(self.drafts.isChecked())

    def set_context(self, used: int, size: int) -> None:
        """Show the share of the model's context that the chat uses; 0 of 0 when nothing is
        known."""
        self._context.setVisible(bool(size))
        self._meter.setMaximum(max(1, size))
        self._meter.setValue(min(used, size))
        self._used.setText(say("inspector.used-of-size-tokens", used=used, size=size))
        self._used.setToolTip(say("inspector.used-of-size-exactly", used=used, size=size))
        pages = max(0, size - used) // _PAGE
        self._room.setText(
            say("inspector.room-for-about-pages-more", pages=pages)
            if pages > 1
            else say("inspector.nearly-full")
        )
        self._meter.setAccessibleDescription(self._used.toolTip())

    def set_presets(self, presets: Sequence[Preset]) -> None:
        self._presets = presets

    def set_preset(self, name: str) -> None:
        """Show the name of the preset that the chat matches, "" for none."""
        self._current = name
        self.preset.setText(name or say("inspector.preset"))
        self.preset.setAccessibleName(
            say("inspector.preset-name", name=name) if name else say("inspector.preset-none")
        )

    def _fill_menu(self) -> None:
        self.menu.clear()
        for preset in self._presets:
            name = preset.name.replace("&", "&&")
            action = self.menu.addAction(name, partial(self.preset_chosen.emit, preset))
            action.setCheckable(True)
            action.setChecked(preset.name == self._current)
        if self._presets:
            self.menu.addSeparator()
        self.menu.addAction(say("inspector.save-as-preset"), self.preset_to_save.emit)
        self.menu.addAction(say("inspector.presets-and-prompts"), self.library_requested.emit)


def _titled(text: str, parent: QWidget) -> QLabel:
    label = QLabel(text, parent)
    label.setObjectName("sectionTitle")
    return label


def _pair(left: QWidget, right: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(left)
    row.addStretch(1)
    row.addWidget(right)
    return row
