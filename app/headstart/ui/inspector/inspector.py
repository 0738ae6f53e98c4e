"""The inspector: speculation, system prompt, sampling and context of the open chat.

What a chat leaves alone follows the settings; the first change makes it the chat's own.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from headstart.core.inheritance import NO_ADVICE, Effective, effective
from headstart.core.model_ref import AnyModel
from headstart.core.settings import (
    ChatOptions,
    Overrides,
    SamplingChoice,
    Settings,
    Speculation,
    changed,
)
from headstart.core.settings_fields import describe
from headstart.ui import theme
from headstart.ui.fields import choice_box, give_room, keep_wheel_away, take_typed
from headstart.ui.inspector.fold import Fold
from headstart.ui.inspector.prefix_panel import PrefixPanel
from headstart.ui.inspector.sampling_panel import SamplingPanel
from headstart.ui.inspector.speculation_panel import SpeculationPanel
from headstart.ui.inspector.thinking_row import ThinkingRow
from headstart.ui.wrapping import TextEdit

SERVER_WORDS = (
    "{host} answers here. It decides for itself how it speculates and what it caches; what it "
    "reports is shown under each reply. Settings that it does not take are greyed out."
)
# a pause after which typing in the system prompt counts as meant
TYPING_PAUSE_MS = 600
# of what stands in front of a control
TITLE_WIDTH = 120


class Inspector(QFrame):
    """Emits `options_changed` with the chat's id and its options."""

    options_changed = Signal(str, object)
    sections_changed = Signal(tuple)  # names of those that are open

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("inspector")
        self.setFixedWidth(theme.INSPECTOR_WIDTH)
        self._settings = settings
        self._options = ChatOptions()
        self._chat_id: str | None = None
        self._private = False
        self._model_key = ""
        self._advice = NO_ADVICE
        self._quiet = False
        body = QWidget()
        body.setObjectName("inspectorBody")
        self._layout = QVBoxLayout(body)
        self._layout.setContentsMargins(16, 16, 16, 16)
        self._layout.setSpacing(8)
        self.server_words = QLabel(self)
        self.server_words.setObjectName("quiet")
        self.server_words.setWordWrap(True)
        self.server_words.hide()
        self._layout.addWidget(self.server_words)
        self._build_context()
        self._build_system_prompt()
        self._build_sampling()
        self.speculation = SpeculationPanel(self)
        self.speculation.edited.connect(self._speculation_edited)
        self.prefix = PrefixPanel(self)
        self.prefix.keep_changed.connect(lambda on: self._set(keep_on_disk=on))
        self._build_folds()
        self._layout.addSpacing(4)
        self._layout.addWidget(self._reset)
        self._layout.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(body)
        keep_wheel_away(self)
        give_room(self)
        outer = QVBoxLayout(self)
        # the frame's own line on the left
        outer.setContentsMargins(1, 0, 0, 0)
        outer.addWidget(scroll)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_PAUSE_MS)
        self._typing.timeout.connect(self._system_prompt_typed)
        self._show()

    def set_chat(self, chat_id: str, options: ChatOptions, private: bool = False) -> None:
        # what was typed so far belongs to the chat that was shown until now
        self.flush()
        self._chat_id = chat_id
        self._private = private
        self._options = options
        self._show()

    def set_model(self, model: AnyModel | None) -> None:
        """Show what follows the model, what it takes, and what is its server's own business."""
        # what was typed so far holds for the model that was shown until now
        self.flush()
        key = "" if model is None else model.key
        other = key != self._model_key
        if other:
            # what was measured, and advised, belongs to the model from before
            self.speculation.forget()
            self._advice = NO_ADVICE
        self._model_key = key
        host, taken = ("", None) if model is None else (model.host, model.settings_taken)
        for fold in self.folds.values():
            fold.setVisible(not host)
        self.server_words.setVisible(bool(host))
        self.server_words.setText(SERVER_WORDS.format(host=host))
        for name, control in self.sampling.controls.items():
            fits = taken is None or name in taken
            if control.isEnabled() != fits:
                control.setEnabled(fits)
            self._tell_fit(control, "" if fits else host)
        self.when_full.setEnabled(not host)
        self._tell_fit(self.when_full, host)
        if other:
            self._show()

    @property
    def _effective(self) -> Effective:
        """What holds for the chat as it is shown."""
        return effective(self._settings, self._options, self._model_key, self._advice)

    def set_advice(self, advice: SamplingChoice) -> None:
        """What the makers of the model advise, for what nobody chose."""
        if advice != self._advice:
            self.flush()
            self._advice = advice
            self._show()

    @staticmethod
    def _tell_fit(control: QWidget, host: str) -> None:
        """The tool tip of a setting that a server does not take says so."""
        own = control.property("ownToolTip")
        if own is None:
            own = control.toolTip()
            control.setProperty("ownToolTip", own)
        control.setToolTip(f"{host} does not take this setting" if host else own)

    def set_settings(self, settings: Settings) -> None:
        self.flush()
        self._settings = settings
        self._show()

    def set_context(self, used: int, size: int) -> None:
        """How much of the model's context the chat uses; 0 of 0 when nothing is known."""
        self._meter.setMaximum(max(1, size))
        self._meter.setValue(min(used, size))
        self._meter_text.setText(
            f"{used:,} of {size:,} tokens" if size else "known after the first reply"
        )
        self._meter.setAccessibleDescription(self._meter_text.text())

    # --- building ------------------------------------------------------------------------

    def _title(self, text: str) -> None:
        label = QLabel(text, self)
        label.setObjectName("sectionTitle")
        self._layout.addWidget(label)

    def _build_system_prompt(self) -> None:
        self._title("System prompt")
        self.system_prompt = TextEdit(self)
        self.system_prompt.setAccessibleName("System prompt")
        self.system_prompt.setPlaceholderText("What the model should know or be, in this chat")
        self.system_prompt.setTabChangesFocus(True)
        self.system_prompt.setFixedHeight(96)
        self.system_prompt.textChanged.connect(self._on_typing)
        self._layout.addWidget(self.system_prompt)
        self._layout.addSpacing(12)

    def _build_sampling(self) -> None:
        self._title("Sampling")
        self.sampling = SamplingPanel(TITLE_WIDTH, self)
        self.sampling.edited.connect(self.change_sampling)
        self._layout.addWidget(self.sampling)
        self._layout.addSpacing(12)

    def _build_context(self) -> None:
        self._title("Context")
        self._meter = QProgressBar(self)
        self._meter.setTextVisible(False)
        self._meter.setAccessibleName("Context used")
        self._meter_text = QLabel(self)
        self._meter_text.setObjectName("quiet")
        self._layout.addWidget(self._meter)
        self._layout.addWidget(self._meter_text)
        info = describe(Settings)["when_full"]
        self.when_full = choice_box(info, self._settings.when_full, self._when_full_changed)
        self.when_full.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._row("When full", self.when_full)
        self.thinking = ThinkingRow(TITLE_WIDTH, self)
        self.thinking.chosen.connect(lambda value: self._set(thinking=value))
        self._layout.addWidget(self.thinking)
        self.set_context(0, 0)
        self._layout.addSpacing(12)
        self._reset = QPushButton("Reset to the app’s settings", self)
        self._reset.setToolTip("Forget what this chat decides for itself")
        self._reset.clicked.connect(self._reset_all)

    def _build_folds(self) -> None:
        """What most people never open: a line each, until they do."""
        self.folds = {
            "speculation": Fold("Speculation", self.speculation, self),
            "prefix": Fold("Prompt cache", self.prefix, self),
        }
        for fold in self.folds.values():
            fold.toggled.connect(self._tell_sections)
            self._layout.addWidget(fold)
        self.prefix.summary_changed.connect(self.folds["prefix"].set_summary)

    def _tell_sections(self) -> None:
        self.sections_changed.emit(tuple(name for name, fold in self.folds.items() if fold.open))

    @property
    def first_focus(self) -> QWidget:
        """Where the keyboard goes first."""
        return self.when_full

    def refresh_theme(self) -> None:
        for fold in self.folds.values():
            fold.refresh_theme()

    def _row(self, title: str, widget: QWidget) -> None:
        row = QHBoxLayout()
        label = QLabel(title, self)
        label.setMinimumWidth(TITLE_WIDTH)
        row.addWidget(label)
        row.addWidget(widget, 1)
        self._layout.addLayout(row)

    # --- showing and changing ------------------------------------------------------------

    def _show(self) -> None:
        self._quiet = True
        try:
            self.sampling.show_values(self._effective)
            self._show_reset()
            prompt = self._effective.system_prompt
            if prompt != self.system_prompt.toPlainText():
                self.system_prompt.setPlainText(prompt)
            self.speculation.set_value(self._effective.speculation)
            self.speculation.set_tint(self._settings.show_origins)
            self.folds["speculation"].set_summary(self.speculation.summary)
            for name, fold in self.folds.items():
                fold.set_open(name in self._settings.open_sections)
            self.prefix.set_chat(
                self._chat_id,
                self._options.keep_on_disk,
                self._private,
                self._settings.prefix.on_disk,
            )
            rule = self._effective.when_full
            self.when_full.setCurrentIndex(self.when_full.findData(rule))
            self.thinking.set_value(self._effective.thinking)
        finally:
            self._quiet = False

    def _set(self, **changes: object) -> None:
        self._options = changed(self._options, **changes)
        self._show_reset()
        if self._chat_id is not None:
            self.options_changed.emit(self._chat_id, self._options)

    def change_sampling(self, name: str, value: object) -> None:
        """A field of the chat's own sampling; None follows the model and the app again."""
        own = self._options.sampling or SamplingChoice()
        choice = changed(own, **{name: value})
        self._set(sampling=None if choice == SamplingChoice() else choice)
        self.sampling.show_values(self._effective)

    def _show_reset(self) -> None:
        own = changed(self._options, keep_on_disk=True)
        self._reset.setVisible(own != ChatOptions())

    def _reset_all(self) -> None:
        self._typing.stop()
        self._set(**dict.fromkeys(Overrides.__struct_fields__))
        self._show()

    def _speculation_edited(self, value: Speculation) -> None:
        if not self._quiet:
            self._set(speculation=value)
            self.folds["speculation"].set_summary(self.speculation.summary)

    def _when_full_changed(self, value: str) -> None:
        if not self._quiet:
            self._set(when_full=value)

    def _on_typing(self) -> None:
        if not self._quiet:
            self._typing.start()

    def flush(self) -> None:
        """Take what was typed so far, without waiting for the pause."""
        if self._typing.isActive():
            self._typing.stop()
            self._system_prompt_typed()
        self.sampling.flush()
        take_typed(self.speculation.depth_box, self.speculation.confidence)

    def _system_prompt_typed(self) -> None:
        text = self.system_prompt.toPlainText()
        if text != self._effective.system_prompt:
            self._set(system_prompt=text)
