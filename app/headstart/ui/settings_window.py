"""The settings window: every field from its own description, applied as it is changed."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from headstart.core.settings import (
    EngineSettings,
    FieldInfo,
    PrefixSettings,
    Sampling,
    Settings,
    changed,
    describe,
)
from headstart.ui.fields import check_box, choice_box, give_room, keep_wheel_away, number_box
from headstart.ui.inspector.inspector import WHEN_FULL_WORDS

LABEL_WIDTH = 170
WORDS = {
    "theme": {"system": "Like the system", "light": "Light", "dark": "Dark"},
    "text_font": {"inter": "Inter", "system": "The system's"},
    "when_full": WHEN_FULL_WORDS,
}


class SettingsWindow(QDialog):
    """Emits `changed` with the fields to replace, as a dict for `Preferences.update`."""

    changed = Signal(dict)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self.setMinimumWidth(480)
        self._settings = settings
        body = QWidget(self)
        layout = QVBoxLayout(body)
        layout.setContentsMargins(20, 16, 20, 8)
        layout.setSpacing(8)
        fields = describe(Settings)
        form = self._section(layout, "Looks")
        for name in ("theme", "text_font"):
            self._choice(form, name, fields)
        form = self._section(layout, "New chats")
        prompt = QPlainTextEdit(self)
        prompt.setPlainText(settings.system_prompt)
        prompt.setAccessibleName("System prompt of chats without one of their own")
        prompt.setTabChangesFocus(True)
        prompt.setFixedHeight(72)
        prompt.textChanged.connect(lambda: self._set(system_prompt=prompt.toPlainText()))
        form.addRow(self._label("System prompt"), prompt)
        sampling = describe(Sampling)
        for name in ("temperature", "top_p", "max_tokens"):
            box = number_box(
                sampling[name],
                getattr(settings.sampling, name),
                partial(self._sampling_changed, name),
            )
            form.addRow(self._label(sampling[name].title), box)
        self._choice(form, "when_full", fields)
        form = self._section(layout, "Engine")
        for name, info in describe(EngineSettings).items():
            value, change = getattr(settings.engine, name), partial(self._engine_changed, name)
            field: QWidget = (
                choice_box(info, {}, value, change)
                if info.choices
                else number_box(info, value, change)
            )
            form.addRow(self._label(info.title), field)
        hint = QLabel("A change here reloads the model at the next message.", self)
        hint.setObjectName("quiet")
        layout.addWidget(hint)
        layout.addSpacing(12)
        form = self._section(layout, "Prefixes")
        for name, info in describe(PrefixSettings).items():
            value, change = getattr(settings.prefix, name), partial(self._prefix_changed, name)
            field = (
                check_box(info, value, change)
                if isinstance(value, bool)
                else number_box(info, value, change)
            )
            form.addRow(self._label(info.title), field)
        layout.addStretch(1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        for button in buttons.buttons():
            # Enter in a field takes the value; it does not close the window
            button.setAutoDefault(False)  # type: ignore[attr-defined]
            button.setIcon(QIcon())
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(body)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)
        row = QVBoxLayout()
        row.setContentsMargins(20, 0, 20, 16)
        row.addWidget(buttons)
        outer.addLayout(row)
        keep_wheel_away(self)
        give_room(self)
        self.resize(500, 660)

    def _section(self, layout: QVBoxLayout, title: str) -> QFormLayout:
        label = QLabel(title, self)
        label.setObjectName("sectionTitle")
        layout.addWidget(label)
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setContentsMargins(0, 0, 0, 12)
        layout.addLayout(form)
        return form

    def _label(self, text: str) -> QLabel:
        label = QLabel(text, self)
        label.setMinimumWidth(LABEL_WIDTH)
        return label

    def _choice(self, form: QFormLayout, name: str, fields: dict[str, FieldInfo]) -> None:
        box = choice_box(
            fields[name],
            WORDS[name],
            getattr(self._settings, name),
            lambda value: self._set(**{name: value}),
        )
        form.addRow(self._label(fields[name].title), box)

    def _sampling_changed(self, name: str, value: float) -> None:
        self._set(sampling=changed(self._settings.sampling, **{name: value}))

    def _engine_changed(self, name: str, value: float | str) -> None:
        chosen = value if isinstance(value, str) else int(value)
        self._set(engine=changed(self._settings.engine, **{name: chosen}))

    def _prefix_changed(self, name: str, value: float | bool) -> None:
        chosen = value if isinstance(value, bool) else int(value)
        self._set(prefix=changed(self._settings.prefix, **{name: chosen}))

    def _set(self, **changes: object) -> None:
        self._settings = changed(self._settings, **changes)
        self.changed.emit(changes)
