"""The answer's format: free text, JSON, or JSON that fits a schema, checked as it is typed."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from headstart.chat.answer_formats import CheckedFormat
from headstart.ui.inspector.own import OwnRow
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.measures import keep_height
from headstart.ui.kit.wrapping import TextEdit
from headstart.ui.wording import say

ANY = '{"type": "object"}'
EXAMPLE = """{
  "type": "object",
  "properties": {
    "answer": {"type": "string"},
    "confidence": {"type": "number", "minimum": 0, "maximum": 1}
  },
  "required": ["answer", "confidence"],
  "additionalProperties": false
}"""
_FREE, _JSON, _SCHEMA = range(3)
# pause after which typed text is checked
_PAUSE_MS = 500


class AnswerFormatPanel(QWidget):
    """Emits `edited` with a valid schema ("" for free text), `check_requested` with a typed one,
    and `reset` to inherit the format again."""

    edited = Signal(object)
    check_requested = Signal(str)
    reset = Signal()

    def __init__(self, title_width: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value = ""
        self.kind = Choice(self)
        self.kind.setAccessibleName(say("inspector.answer-format"))
        self.kind.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.kind.addItems(
            [say("inspector.free-text"), say("inspector.json"), say("inspector.json-fits-schema")]
        )
        self.kind.activated.connect(self._choose)
        self.schema = TextEdit(self)
        self.schema.setObjectName("code")
        self.schema.setAccessibleName(say("inspector.json-schema"))
        self.schema.setTabChangesFocus(True)
        keep_height(self.schema, 150)
        self.said = QLabel(self)
        self.said.setObjectName("quiet")
        self.said.setWordWrap(True)
        self.sample = QLabel(self)
        self.sample.setObjectName("sample")
        self.sample.setAccessibleName(say("inspector.sample-of-answer"))
        self.sample.setTextFormat(self.sample.textFormat().PlainText)
        self.sample.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        self._row = OwnRow(say("inspector.answer-format"), self.kind, self, title_width)
        self._row.reset.connect(self.reset)
        for widget in (self._row, self.schema, self.said, self.sample):
            layout.addWidget(widget)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(lambda: self.check_requested.emit(self.schema.toPlainText()))
        self.schema.textChanged.connect(self._pause.start)
        self.set_value("")

    def set_own(self, own: bool) -> None:
        self._row.set_own(own)

    def set_value(self, schema: str) -> None:
        """Show the format in force."""
        if self._pause.isActive() and self._kind_of(schema) == _SCHEMA:
            # text that is being typed stays
            return
        changed = schema != self._value
        self._value = schema
        self.kind.setCurrentIndex(self._kind_of(schema))
        if self._kind_of(schema) == _SCHEMA and (changed or not self.schema.toPlainText()):
            self._put(schema)
            self.check_requested.emit(schema)
        self._show()

    def set_checked(self, checked: CheckedFormat) -> None:
        """Show the result of a check, and take over a valid schema."""
        if self._shown_kind != _SCHEMA or checked.schema != self.schema.toPlainText():
            return
        problem = checked.problem
        self.said.setText(
            say("inspector.such-answer-would-fit") if problem is None else problem.text
        )
        self.said.setObjectName("quiet" if problem is None else "warning")
        self.said.style().unpolish(self.said)
        self.said.style().polish(self.said)
        self.sample.setText(checked.sample)
        self.said.setVisible(problem is not None or bool(checked.sample))
        self.sample.setVisible(bool(checked.sample))
        if problem is None and checked.schema != self._value:
            self._value = checked.schema
            self.edited.emit(checked.schema)

    def flush(self) -> None:
        """Check the typed text now, without waiting for the pause."""
        if self._pause.isActive():
            self._pause.stop()
            self.check_requested.emit(self.schema.toPlainText())

    @staticmethod
    def _kind_of(schema: str) -> int:
        return _FREE if not schema else _JSON if schema == ANY else _SCHEMA

    @property
    def _shown_kind(self) -> int:
        return self.kind.currentIndex()

    def _choose(self, kind: int) -> None:
        self._pause.stop()
        if kind == _SCHEMA:
            if not self.schema.toPlainText().strip():
                self._put(EXAMPLE)
            self.check_requested.emit(self.schema.toPlainText())
        else:
            self._value = ANY if kind == _JSON else ""
            self.edited.emit(self._value)
        self._show()

    def _put(self, schema: str) -> None:
        with QSignalBlocker(self.schema):
            self.schema.setPlainText(schema)

    def _show(self) -> None:
        typed = self._shown_kind == _SCHEMA
        self.schema.setVisible(typed)
        for widget in (self.said, self.sample):
            widget.setVisible(typed and bool(widget.text()))
