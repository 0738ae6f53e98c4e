"""The inspector's panel on drafting: draft, depth, prompt lookup, live stats, measured speed.

Shows every installed model with a verdict, never an empty list without a reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from headstart.chat.answering.drafts import DraftChoice
from headstart.chat.changes import Calibrated
from headstart.core.chats.values import SpeculationStats, TurnStats, gain_words
from headstart.core.events import Speculating
from headstart.core.models.draft_choice import Works
from headstart.core.models.heads import AUTOMATIC, OWN_LAYERS
from headstart.core.models.ref import AnyModel
from headstart.core.settings.fields import describe
from headstart.core.settings.schema import Speculation, changed
from headstart.ui.inspector.live_stats import LiveStats
from headstart.ui.inspector.speculation_words import (
    MARKS,
    ONLY_GREEDY,
    draft_name,
    said,
    summary,
    verdict_text,
    why_no_drafts,
)
from headstart.ui.inspector.speed_curve import SpeedCurveView
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.fields import take_typed, with_unit
from headstart.ui.kit.flow import in_lines
from headstart.ui.kit.joining import titled
from headstart.ui.kit.number_boxes import DecimalBox, WholeBox
from headstart.ui.kit.segments import Segments
from headstart.ui.kit.wrapped_check import WrappedCheckBox
from headstart.ui.wording import say

NONE, BEST = "inspector.no-draft-model", "inspector.automatic"
_MEASURED = "inspector.tokens-per-second-by-draft"


class SpeculationPanel(QWidget):
    """Emits `edited` with a Speculation, and the user's requests."""

    edited = Signal(Speculation)
    tint_changed = Signal(bool)
    gain_changed = Signal()
    calibrate_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value = Speculation()
        self._choices: list[DraftChoice] = []
        # the answering host, "" for this computer, and the reason why nothing is drafted for it
        self._host, self._no_drafts = "", ""
        self.calibrating = False
        # short text on the speedup of the last reply
        self.gain = ""
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self._build_choice()
        self._build_depth()
        self.live = LiveStats(self)
        self._layout.addWidget(self.live)
        self._layout.addSpacing(12)
        self._build_curve()
        self._show()
        self.set_live(None)

    # --- building ------------------------------------------------------------------------

    def _build_choice(self) -> None:
        self.draft_box = Choice(self)
        self.draft_box.setAccessibleName(say("inspector.draft-from"))
        self.draft_box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.draft_box.currentIndexChanged.connect(self._draft_chosen)
        self._row(say("inspector.draft-from"), self.draft_box)
        self.verdict = QLabel(self)
        self.verdict.setObjectName("quiet")
        self.verdict.setWordWrap(True)
        self._layout.addWidget(self.verdict)

    def _build_depth(self) -> None:
        fields = describe(Speculation)
        self.depth_mode = Segments(
            say("inspector.draft-depth"),
            {"auto": say("inspector.auto"), "fixed": say("inspector.fixed")},
            self,
        )
        self.depth_mode.chosen.connect(lambda mode: self._set(depth_mode=mode))
        self._auto, self.fixed = self.depth_mode.buttons["auto"], self.depth_mode.buttons["fixed"]
        self.depth_box = WholeBox(self)
        depth, least = fields["depth"], fields["min_probability"]
        self.depth_box.setRange(int(depth.minimum or 0), int(depth.maximum or 0))
        self.depth_box.setAccessibleName(say("inspector.fixed-draft-depth"))
        self.depth_box.setToolTip(depth.description)
        self.depth_box.valueChanged.connect(lambda value: self._set(depth=value))
        with_unit(self.depth_box, lambda depth: say("inspector.depth-unit", depth=depth))
        # side by side where there is room
        depth_title = QLabel(say("inspector.draft-depth"), self)
        depth_title.setMinimumWidth(110)
        self._layout.addWidget(in_lines(self, depth_title, self.depth_mode))
        # below the choice, as there is no room beside it
        self._fixed_row = QWidget(self)
        fixed = QHBoxLayout(self._fixed_row)
        fixed.setContentsMargins(0, 0, 0, 0)
        fixed.addStretch(1)
        fixed.addWidget(self.depth_box)
        self._layout.addWidget(self._fixed_row)
        self.confidence = DecimalBox(self)
        # long words of other languages stand beside it
        self.confidence.setMinimumWidth(90)
        self.confidence.setRange(least.minimum or 0, least.maximum or 0)
        self.confidence.setSingleStep(0.05)
        self.confidence.setSpecialValueText(least.special)
        self.confidence.setAccessibleName(least.title)
        self.confidence.setToolTip(least.description)
        self.confidence.valueChanged.connect(
            lambda value: self._set(min_probability=round(value, 2))
        )
        label = self._row(say("inspector.minimum-probability"), self.confidence)
        self._local_only: list[QWidget] = [label, self.confidence]
        self.prompt_lookup = WrappedCheckBox(fields["prompt_lookup"].title, self)
        self.prompt_lookup.setToolTip(fields["prompt_lookup"].description)
        self.prompt_lookup.toggled.connect(lambda on: self._set(prompt_lookup=on))
        self._layout.addWidget(self.prompt_lookup)
        about = fields["earlier_chats"]
        self.earlier_chats = WrappedCheckBox(about.title, self)
        self.earlier_chats.setToolTip(about.description)
        self.earlier_chats.toggled.connect(lambda on: self._set(earlier_chats=on))
        self._layout.addWidget(self.earlier_chats)
        self._local_only.append(self.earlier_chats)
        self.tint = WrappedCheckBox(say("inspector.highlight-drafted-text"), self)
        self.tint.setToolTip(say("inspector.green-by-draft-model-head"))
        self.tint.toggled.connect(self.tint_changed)
        self._layout.addWidget(self.tint)

    def _build_curve(self) -> None:
        title = QLabel(say("inspector.speed-on-computer"), self)
        title.setObjectName("sectionTitle")
        title.setWordWrap(True)
        self.curve = SpeedCurveView(self)
        self._caption = QLabel(self)
        self._caption.setObjectName("quiet")
        self._caption.setWordWrap(True)
        self.calibrate = QPushButton(say("inspector.calibrate"), self)
        self.calibrate.clicked.connect(self._calibrate_clicked)
        for widget in (title, self.curve, self._caption, self.calibrate):
            self._layout.addWidget(widget)
        self._local_only += [title, self.curve, self.calibrate]
        self._layout.addSpacing(12)

    def _row(self, title: str, widget: QWidget) -> QLabel:
        row = QHBoxLayout()
        label = QLabel(title, self)
        label.setMinimumWidth(110)
        label.setWordWrap(True)
        row.addWidget(label)
        row.addWidget(widget, 1)
        self._layout.addLayout(row)
        return label

    # --- display -------------------------------------------------------------------------

    @property
    def value(self) -> Speculation:
        return self._value

    @property
    def summary(self) -> str:
        """The choice in a few words."""
        return summary(self._value, self._host, self._no_drafts, self.draft_name)

    @property
    def said(self) -> str:
        """The choice as a sentence."""
        return said(self._value, self._host, self._no_drafts, self.draft_name)

    @property
    def draft_name(self) -> str:
        """Name of the draft of this chat; "" for none."""
        return "" if self._no_drafts else draft_name(self._value, self._choices)

    def set_value(self, value: Speculation) -> None:
        if value.draft != self._value.draft:
            self.forget()
        self._value = value
        self._show()

    def forget(self) -> None:
        """Drop the curve, which belongs to the previous pair."""
        self.set_calibrated(None)

    def set_server(self, model: AnyModel | None, temperature: float) -> None:
        """Set the answering model: some models of servers allow no drafting."""
        host = "" if model is None else model.host
        why = why_no_drafts(model, temperature)
        if (host, why) != (self._host, self._no_drafts):
            self._host, self._no_drafts = host, why
            self._show()

    def set_tint(self, on: bool) -> None:
        with QSignalBlocker(self.tint):
            self.tint.setChecked(on)

    def set_choices(self, choices: Sequence[DraftChoice]) -> None:
        take_typed(self.depth_box, self.confidence)
        self._choices = list(choices)
        self._show()
        self.gain_changed.emit()

    def set_live(self, event: Speculating | None) -> None:
        """Show the stats of the reply in progress; None for no reply."""
        if event is None:
            self._show_live(None, None)
            self.live.show_activity(None)
        else:
            self._show_live(event.stats, event.against_plain)
            self.live.show_activity(event.activity)

    def set_stats(self, stats: TurnStats | None) -> None:
        """Show the stats of the last reply."""
        speculation = None if stats is None else stats.speculation
        self._show_live(speculation, None if stats is None else stats.against_plain)

    def set_calibrated(self, measured: Calibrated | None) -> None:
        self.calibrating = measured is not None and measured.running
        curve = None if measured is None else measured.curve
        if curve is not None or measured is None:
            self.curve.set_curve(curve)
        if measured is not None and measured.problem:
            self._caption.setText(measured.problem)
        elif self.calibrating and curve is not None:
            self._caption.setText(
                say("inspector.calibrating-done-of-total", done=curve.done, total=curve.total)
            )
        elif self.calibrating:
            self._caption.setText(say("inspector.calibrating"))
        else:
            known = self.curve.shown is not None
            self._caption.setText(say(_MEASURED) if known else "")
        self._caption.setVisible(bool(self._caption.text()) and not self._host)
        self._show_button()

    def _show(self) -> None:
        with QSignalBlocker(self):
            value = self._value
            self._fill_choices()
            self.depth_mode.set_value(value.depth_mode)
            self.depth_box.setValue(value.depth)
            self._fixed_row.setVisible(value.depth_mode == "fixed")
            self.confidence.setValue(value.min_probability)
            self.prompt_lookup.setChecked(value.prompt_lookup)
            self.earlier_chats.setChecked(value.earlier_chats)
            # a server verifies drafts as text: without probabilities, or text from earlier chats
            for widget in self._local_only:
                widget.setVisible(not self._host)
            possible = self._no_drafts in ("", ONLY_GREEDY)
            drafting = (self.draft_box, self._auto, self.fixed, self.depth_box, self.confidence)
            for widget in (*drafting, self.prompt_lookup, self.earlier_chats):
                widget.setEnabled(value.enabled and possible)
            self._show_button()

    def _fill_choices(self) -> None:
        self.draft_box.clear()
        taken = next((one.name for one in self._choices if one.taken), "")
        best = say(BEST)
        self.draft_box.addItem(titled(best, taken) if taken else best, AUTOMATIC)
        self.draft_box.addItem(say(NONE), "")
        model = self.draft_box.model()
        assert isinstance(model, QStandardItemModel)
        for choice in self._choices:
            mark = say(MARKS[choice.verdict.works])
            self.draft_box.addItem(f"{choice.name} – {mark}", choice.key)
            row = self.draft_box.count() - 1
            self.draft_box.setItemData(row, choice.verdict.reason, Qt.ItemDataRole.ToolTipRole)
            if choice.verdict.works is Works.NO:
                model.item(row).setEnabled(False)
        index = self.draft_box.findData(self._value.draft)
        if index < 0:
            here = say("inspector.own-layers-not-in-model")
            own = self._value.draft == OWN_LAYERS
            missing = (
                here
                if own
                else say("inspector.draft-name-not-installed", draft_name=self.draft_name)
            )
            self.draft_box.addItem(missing, self._value.draft)
            index = self.draft_box.count() - 1
        self.draft_box.setCurrentIndex(index)
        self.verdict.setText(
            verdict_text(self._value, self._choices, self._no_drafts, self._host, self.draft_name)
        )

    def _show_live(self, stats: SpeculationStats | None, against_plain: float | None) -> None:
        gain = gain_words(against_plain)
        if gain != self.gain:
            self.gain = gain
            self.gain_changed.emit()
        self.live.show_stats(stats, against_plain)

    def _show_button(self) -> None:
        self.calibrate.setText(
            say("inspector.cancel") if self.calibrating else say("inspector.calibrate")
        )
        possible = bool(self.draft_name) and self._value.enabled
        self.calibrate.setEnabled(self.calibrating or possible)
        why = (
            say("inspector.choose-draft-model-first")
            if self._value.enabled
            else say("inspector.drafting-off")
        )
        self.calibrate.setToolTip("" if possible else why)

    # --- actions -------------------------------------------------------------------------

    def _set(self, **changes: object) -> None:
        if self.signalsBlocked():
            return
        self.set_value(changed(self._value, **changes))
        self.edited.emit(self._value)

    def _draft_chosen(self, index: int) -> None:
        if index >= 0:
            self._set(draft=str(self.draft_box.itemData(index)))

    def _calibrate_clicked(self) -> None:
        if self.calibrating:
            self.cancel_requested.emit()
        else:
            self.calibrate_requested.emit()
