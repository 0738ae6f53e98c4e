"""The inspector: the main settings of the open chat first, all others folded.

A setting that the chat does not override follows its folder, its model and the app; the first
change makes it the chat's own, marked with a dot.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from headstart.core.chats.values import Chat, TurnStats
from headstart.core.models.quantization import quantization
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.servers import ServerModel
from headstart.core.settings.fields import describe
from headstart.core.settings.inheritance import NO_ADVICE
from headstart.core.settings.schema import (
    ChatOptions,
    Overrides,
    Preset,
    SamplingChoice,
    Settings,
    Speculation,
    changed,
)
from headstart.ui.inspector.answer_format_panel import AnswerFormatPanel
from headstart.ui.inspector.fold import Fold
from headstart.ui.inspector.holding import Holding, decisions
from headstart.ui.inspector.knowledge_panel import KnowledgePanel
from headstart.ui.inspector.overview import Overview
from headstart.ui.inspector.own import OwnRow
from headstart.ui.inspector.prefix_panel import PrefixPanel
from headstart.ui.inspector.sampling_panel import SamplingPanel
from headstart.ui.inspector.speculation_panel import SpeculationPanel
from headstart.ui.inspector.system_prompt import SystemPromptSection
from headstart.ui.inspector.thinking_row import ThinkingRow
from headstart.ui.inspector.tools_panel import ToolsPanel
from headstart.ui.kit import theme
from headstart.ui.kit.elided import ElidedButton
from headstart.ui.kit.fields import choice_box, give_room, keep_wheel_away, take_typed
from headstart.ui.kit.focus import in_reading_order
from headstart.ui.wording import say

SERVER_WORDS = "inspector.host-answers"
# width of the titles in front of controls, in pixels
TITLE_WIDTH = 120
# sections about this computer only, hidden for a server's model
_LOCAL_FOLDS = ("prefix",)


class Inspector(QFrame):
    """Emits `options_changed` with the chat's id and its options."""

    options_changed = Signal(str, object)
    sections_changed = Signal(tuple)  # names of the open sections
    presets_changed = Signal(tuple)

    def __init__(
        self,
        settings: Settings,
        parent: QWidget | None = None,
        open_sections: tuple[str, ...] = (),
    ) -> None:
        super().__init__(parent)
        self._open_sections = open_sections
        self.setObjectName("inspector")
        theme.follow(self._measure)
        self.holding = Holding(settings)
        self._chat_id: str | None = None
        self._private = False
        scroll = self._scroll = QScrollArea(self)
        # the panel keeps its width when the bar is needed
        scroll.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        # created under their final parent: Qt applies the style sheet again to a reparented widget
        self._body = body = QWidget(scroll.viewport())
        body.setObjectName("inspectorBody")
        self._layout = QVBoxLayout(body)
        self._layout.setContentsMargins(16, 16, 16, 16)
        self._layout.setSpacing(8)
        self._build_overview()
        self.system = SystemPromptSection(body)
        self.system.edited.connect(self._system_prompt_edited)
        self.system.reset.connect(lambda: self._follow("system_prompt"))
        self.system_prompt = self.system.edit
        _add_section(self._layout, self.system)
        self.sampling = SamplingPanel(TITLE_WIDTH, body)
        self.sampling.edited.connect(self.change_sampling)
        _add_section(self._layout, self.sampling)
        self.thinking = ThinkingRow(TITLE_WIDTH, body)
        self.thinking.chosen.connect(lambda value: self._set(thinking=value))
        self.thinking.reset.connect(lambda: self._follow("thinking"))
        self._layout.addWidget(self.thinking)
        self.answer_format = AnswerFormatPanel(TITLE_WIDTH, body)
        self.answer_format.edited.connect(lambda schema: self.change_sampling("schema", schema))
        self.answer_format.reset.connect(lambda: self.change_sampling("schema", None))
        self._layout.addWidget(self.answer_format)
        self._build_folds()
        self._reset = ElidedButton(body)
        self._reset.set_full_text(say("inspector.reset-to-apps-settings"))
        self._reset.setToolTip(say("inspector.forget-own-settings"))
        self._reset.clicked.connect(self.system.forget_typing)
        self._reset.clicked.connect(lambda: self._follow(*Overrides.__struct_fields__))
        self._layout.addSpacing(4)
        self._layout.addWidget(self._reset)
        self._layout.addStretch(1)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(body)
        keep_wheel_away(self)
        give_room(self)
        outer = QVBoxLayout(self)
        # one pixel for the frame's line on the left
        outer.setContentsMargins(1, 0, 0, 0)
        outer.addWidget(scroll)
        self._show()

    # --- building ------------------------------------------------------------------------

    def _build_overview(self) -> None:
        self.overview = Overview(self._body)
        self.overview.preset_chosen.connect(self.apply_preset)
        self.overview.speculation_toggled.connect(
            lambda on: self._speculation_edited(changed(self.speculation.value, enabled=on))
        )
        self.overview.details_wanted.connect(lambda: self.show_fold("speculation"))
        # takes the keyboard focus first
        self.first_focus = self.overview.preset
        self._layout.addWidget(self.overview)
        self.server_words = QLabel(self._body)
        self.server_words.setObjectName("quiet")
        self.server_words.setWordWrap(True)
        self.server_words.hide()
        self._layout.addWidget(self.server_words)

    def _build_folds(self) -> None:
        """Add the folded sections, a line each, which most people never open."""
        info = describe(Settings)["when_full"]
        self.when_full = choice_box(
            info,
            self.holding.settings.when_full,
            lambda rule: self._set(when_full=rule),
        )
        self.when_full.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.folds = {
            "speculation": Fold(say("inspector.drafting-details"), self._body, resets=True),
            "sampling": self.sampling.more,
            "tools": Fold(say("inspector.tools"), self._body),
            "knowledge": Fold(say("inspector.knowledge"), self._body),
            "prefix": Fold(say("inspector.prompt-cache"), self._body),
            "context": Fold(say("inspector.when-context-full"), self._body),
        }
        self.speculation = SpeculationPanel(self.folds["speculation"])
        self.speculation.edited.connect(self._speculation_edited)
        self.speculation.gain_changed.connect(self._show_draft)
        self.tools = ToolsPanel(self.folds["tools"])
        self.tools.chosen.connect(lambda names: self._set(tools=names))
        self.tools.servers.chosen.connect(lambda choice: self._set(tools_from=choice))
        self.tools.summary_changed.connect(self.folds["tools"].set_summary)
        self.folds["tools"].put(self.tools)
        self.knowledge = KnowledgePanel(self.folds["knowledge"])
        self.knowledge.chosen.connect(lambda choice: self._set(files_from=choice))
        self.knowledge.doubtful_chosen.connect(lambda choice: self._set(doubtful=choice))
        self.knowledge.pins_chosen.connect(lambda pins: self._set(pinned=pins))
        self.knowledge.summary_changed.connect(self.folds["knowledge"].set_summary)
        self.folds["knowledge"].put(self.knowledge)
        self.prefix = PrefixPanel(self.folds["prefix"])
        self.prefix.keep_changed.connect(lambda on: self._set(keep_on_disk=on))
        self._when_full = OwnRow(
            say("inspector.when-full"), self.when_full, self.folds["context"], TITLE_WIDTH
        )
        self._when_full.reset.connect(lambda: self._follow("when_full"))
        self.folds["speculation"].put(self.speculation)
        self.folds["prefix"].put(self.prefix)
        self.folds["context"].put(self._when_full)
        for name, fold in self.folds.items():
            fold.set_open(name in self._open_sections)
            fold.toggled.connect(
                lambda: self.sections_changed.emit(
                    tuple(name for name, fold in self.folds.items() if fold.open)
                )
            )
            if name == "speculation":
                _add_section(self._layout, fold)
            else:
                self._layout.addWidget(fold)
        above = (self.system, self.sampling.sliders["temperature"], self.thinking)
        in_reading_order(*above, self.answer_format, *self.folds.values())
        self.folds["speculation"].reset.connect(lambda: self._follow("speculation"))
        self.prefix.summary_changed.connect(self.folds["prefix"].set_summary)

    def _measure(self) -> None:
        self.setFixedWidth(theme.panel_width(theme.INSPECTOR_WIDTH))

    # --- display -------------------------------------------------------------------------

    def set_chat(self, chat: Chat) -> None:
        # typed text belongs to the previous chat
        self.flush()
        self._chat_id, self._private = chat.id, chat.private
        self.holding.options, self.holding.above = chat.options, chat.above
        self._show()
        self.system.begin(self.holding.effective.system_prompt)

    def set_above(self, above: Sequence[Overrides]) -> None:
        """Set the options of the chat's folders, after a move or a change of a folder."""
        if tuple(above) != tuple(self.holding.above):
            self.flush()
            self.holding.above = above
            self._show()

    def set_model(self, model: AnyModel | None) -> None:
        """Show the settings that the model accepts, and hide those that its server controls."""
        # typed text belongs to the previous model
        self.flush()
        other = ("" if model is None else model.key) != self.holding.model_key
        if other:
            # measurements and advice belong to the previous model
            self.speculation.forget()
            self.holding.advice = NO_ADVICE
        self.holding.model = model
        host, taken = ("", None) if model is None else (model.host, model.settings_taken)
        stored = quantization(model.path.name) if isinstance(model, ModelRef) else ""
        self.overview.set_model("" if model is None else model.name, stored)
        for name in (*_LOCAL_FOLDS, "context"):
            self.folds[name].setVisible(not host)
        self.server_words.setVisible(bool(host))
        self.server_words.setText(say(SERVER_WORDS, host=host))
        for name, control in self.sampling.controls.items():
            fits = taken is None or name in taken
            if control.isEnabled() != fits:
                control.setEnabled(fits)
            _tell_fit(control, "" if fits else host)
        self._show_draft()
        if other:
            self._show()

    def show_fold(self, name: str) -> None:
        """Unfold a section, and scroll to it."""
        fold = self.folds[name]
        if not fold.open:
            fold.button.click()
        QTimer.singleShot(0, self, lambda: self._scroll.ensureWidgetVisible(fold, 0, 40))
        QTimer.singleShot(30, self, lambda: self._scroll.ensureWidgetVisible(fold, 0, 200))

    def set_advice(self, advice: SamplingChoice) -> None:
        """Set the sampling that the model's makers advise, for undecided values."""
        if advice != self.holding.advice:
            self.flush()
            self.holding.advice = advice
            self._show()

    def set_settings(self, settings: Settings) -> None:
        self.flush()
        self.holding.settings = settings
        self._show()

    def set_context(self, used: int, size: int) -> None:
        """Show the share of the model's context that the chat uses; 0 of 0 when nothing is
        known."""
        self.overview.set_context(used, size)
        self.system.set_used(used)
        self.tools.servers.set_context(used, size)

    def set_stats(self, stats: TurnStats | None) -> None:
        """Show the stats of the last reply."""
        self.speculation.set_stats(stats)
        self.prefix.set_stats(stats)
        self.system.set_stats(stats)

    def _show(self) -> None:
        holding, own = self.holding.effective, self.holding.options
        self.sampling.show_values(holding, self.holding.sampling)
        self.system.show_text(holding.system_prompt, own.system_prompt is not None)
        self.speculation.set_value(holding.speculation)
        self.speculation.set_tint(self.holding.settings.show_origins)
        self.answer_format.set_value(holding.sampling.schema)
        self.prefix.set_chat(
            self._chat_id, own.keep_on_disk, self._private, self.holding.settings.prefix.on_disk
        )
        with QSignalBlocker(self.when_full):
            self.when_full.setCurrentIndex(self.when_full.findData(holding.when_full))
        self.thinking.set_value(holding.thinking)
        self.overview.set_presets(self.holding.settings.presets)
        self._show_own()
        self._show_draft()

    def _show_own(self) -> None:
        """Show the chat's overrides."""
        own, sampling = self.holding.options, self.holding.sampling
        self.sampling.show_values(self.holding.effective, sampling)
        self.system.set_own(own.system_prompt is not None)
        self.thinking.set_own(own.thinking is not None)
        self._when_full.set_own(own.when_full is not None)
        self.folds["context"].set_own(own.when_full is not None)
        self.folds["tools"].set_own(bool(own.tools) or own.tools_from is not None)
        self.tools.set_on(own.tools)
        self.tools.servers.set_choice(self.holding.effective.tools_from)
        self.folds["knowledge"].set_own(own.files_from is not None or bool(own.pinned))
        self.knowledge.set_choice(self.holding.effective.files_from)
        self.knowledge.set_doubtful(own.doubtful)
        self.knowledge.set_pins(self._chat_id or "", own.pinned)
        self.folds["context"].set_summary(self.when_full.currentText())
        self.speculation.set_server(self.holding.model, self.holding.effective.sampling.temperature)
        self.folds["speculation"].set_own(own.speculation is not None)
        self.folds["speculation"].set_summary(self.speculation.summary)
        self.answer_format.set_own(sampling.schema is not None)
        self.overview.drafting.set_own(own.speculation is not None)
        self._reset.setVisible(decisions(own) != decisions(ChatOptions()))
        self.overview.set_preset(self.holding.preset)

    def _show_draft(self) -> None:
        model, sampling = self.holding.model, self.holding.effective.sampling
        self.speculation.set_server(model, sampling.temperature)
        possible = not isinstance(model, ServerModel) or model.checks_drafts
        value = self.speculation.value
        said = self.speculation.said
        self.overview.set_draft(value.enabled, said, self.speculation.gain, possible)

    # --- changing ------------------------------------------------------------------------

    def _set(self, **changes: object) -> None:
        self.holding.options = changed(self.holding.options, **changes)
        self._show_own()
        if self._chat_id is not None:
            self.options_changed.emit(self._chat_id, self.holding.options)

    def _follow(self, *names: str) -> None:
        self._set(**dict.fromkeys(names))
        self._show()

    def change_sampling(self, name: str, value: object) -> None:
        """Change a field of the chat's own sampling; None inherits the value again."""
        choice = changed(self.holding.sampling, **{name: value})
        self._set(sampling=None if choice == SamplingChoice() else choice)
        if name == "schema":
            self.answer_format.set_value(self.holding.effective.sampling.schema)
            self._show_own()

    def apply_preset(self, preset: Preset) -> None:
        """Replace the chat's overrides with those of a preset."""
        self.system.forget_typing()
        self._set(**decisions(preset), values={})
        self._show()

    def save_preset(self, name: str) -> None:
        """Save the chat's overrides as a preset, in place of one with the same name."""
        self.flush()
        self.presets_changed.emit(self.holding.with_preset(name))

    def fill_in(self, values: dict[str, str]) -> None:
        """Set values of the system prompt's variables, in this chat from now on."""
        self._set(values={**self.holding.options.values, **values})

    def _speculation_edited(self, value: Speculation) -> None:
        self.speculation.set_value(value)
        self._set(speculation=value)
        self._show_draft()

    def flush(self) -> None:
        """Take over typed text, without waiting for the pause."""
        self.system.flush()
        self.sampling.flush()
        self.answer_format.flush()
        take_typed(self.speculation.depth_box, self.speculation.confidence)

    def _system_prompt_edited(self, text: str) -> None:
        if text != self.holding.effective.system_prompt:
            self._set(system_prompt=text)


def _add_section(layout: QVBoxLayout, widget: QWidget) -> None:
    """Add a widget with a line above it, as in a book between parts."""
    line = QFrame(widget.parentWidget())
    line.setObjectName("sectionLine")
    line.setFixedHeight(1)
    layout.addSpacing(4)
    layout.addWidget(line)
    layout.addSpacing(4)
    layout.addWidget(widget)


def _tell_fit(control: QWidget, host: str) -> None:
    """Name the host that does not accept this setting in its tool tip; "" for none."""
    own = control.property("ownToolTip")
    if own is None:
        own = control.toolTip()
        control.setProperty("ownToolTip", own)
    control.setToolTip(say("inspector.host-does-not-take-setting", host=host) if host else own)
