"""A question of a tool server to the user: a form that says who asks, or an address to open. Main
thread."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QWidget,
)

from headstart.core.tool_servers.questions import (
    LARGEST,
    FieldKind,
    FormField,
    QuestionEnd,
    ServerQuestion,
    Value,
    value_problem,
)
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.fields import give_room, keep_wheel_away
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

_VALUE = int(Qt.ItemDataRole.UserRole)
_PROBLEMS = {
    "needed": "shell.value-needed",
    "length": "shell.value-length",
    "range": "shell.value-range",
}


class ToolQuestionSheet(Sheet):
    """Emits `answered` once, with the end of the question and the values."""

    answered = Signal(object, dict)

    def __init__(self, question: ServerQuestion, parent: QWidget | None = None) -> None:
        super().__init__(say("shell.server-asks", server=question.server), parent)
        self.setMinimumWidth(480)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._question = question
        self._read: dict[str, Callable[[], Value]] = {}
        self._done = False
        message = self.word(question.message)
        message.setObjectName("")
        self.column.addWidget(message)
        if question.url:
            self.column.addWidget(self.word(question.url))
            host = urlsplit(question.url).hostname or ""
            self.column.addWidget(self.word(say("shell.server-asks-address", host=host)))
        elif question.fields:
            self.column.addWidget(self._form(question.fields), 1)
        self.about = self.word(
            "" if question.url else say("shell.server-asks-about", server=question.server)
        )
        self.problem = self.word()
        self.problem.hide()
        self.column.addWidget(self.about)
        self.column.addWidget(self.problem)
        self.decline = QPushButton(say("shell.decline"), self)
        self.decline.setAutoDefault(False)
        self.decline.clicked.connect(lambda: self._end(QuestionEnd.DECLINED))
        code = "shell.open-in-browser" if question.url else "shell.send-answer"
        self.send = QPushButton(say(code), self)
        self.send.setObjectName("primary")
        self.send.setAutoDefault(False)
        self.send.clicked.connect(self._send)
        self.buttons(self.decline, self.send)
        self.rejected.connect(lambda: self._tell(QuestionEnd.CANCELLED, {}))
        keep_wheel_away(self)
        give_room(self)

    def withdraw(self) -> None:
        """Close without an answer."""
        self._done = True
        self.reject()

    def _form(self, fields: tuple[FormField, ...]) -> QWidget:
        body, area = QWidget(self), QScrollArea(self)
        body.setObjectName("plain")
        area.setObjectName("plain")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        form = QFormLayout(body)
        form.setContentsMargins(0, 0, 8, 0)
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for field in fields:
            control = self._control(field, body)
            control.setAccessibleName(field.title)
            title = f"{field.title} *" if field.required else field.title
            form.addRow(self.title_of(title), control)
            if field.about:
                form.addRow("", self.word(field.about))
        area.setWidget(body)
        area.setMinimumHeight(min(320, body.sizeHint().height() + 8))
        return area

    def _control(self, field: FormField, parent: QWidget) -> QWidget:
        match field.kind:
            case FieldKind.SWITCH:
                box = QCheckBox(parent)
                box.setChecked(field.initial is True)
                self._read[field.name] = box.isChecked
                return box
            case FieldKind.NUMBER | FieldKind.WHOLE:
                return self._number(field, parent)
            case FieldKind.CHOICE:
                choice = Choice(parent)
                if not field.required:
                    choice.addItem("", None)
                for value, title in field.options:
                    choice.addItem(title, value)
                at = choice.findData(field.initial)
                choice.setCurrentIndex(max(0, at))
                self._read[field.name] = choice.currentData
                return choice
            case FieldKind.CHOICES:
                return self._choices(field, parent)
        line = QLineEdit(str(field.initial or ""), parent)
        if field.longest:
            line.setMaxLength(field.longest)
        self._read[field.name] = lambda: line.text() or None
        return line

    def _number(self, field: FormField, parent: QWidget) -> QWidget:
        whole = field.kind is FieldKind.WHOLE
        if not field.required and field.initial is None:
            return self._optional_number(field, parent)
        box = QDoubleSpinBox(parent)
        box.setDecimals(0 if whole else 4)
        least = -LARGEST if field.least is None else field.least
        most = LARGEST if field.most is None else field.most
        box.setRange(least, most)
        initial = field.initial
        if isinstance(initial, int | float) and not isinstance(initial, bool):
            box.setValue(float(initial))
        self._read[field.name] = lambda: int(box.value()) if whole else box.value()
        return box

    def _optional_number(self, field: FormField, parent: QWidget) -> QWidget:
        """A number that need not be given: an empty field gives none."""
        line = QLineEdit(parent)

        def read() -> Value:
            text = line.text().strip()
            if not text:
                return None
            value, valid = line.locale().toDouble(text)
            if not valid:
                return text
            return int(value) if field.kind is FieldKind.WHOLE else float(value)

        self._read[field.name] = read
        return line

    def _choices(self, field: FormField, parent: QWidget) -> QWidget:
        box = QListWidget(parent)
        states = Qt.CheckState
        initial = field.initial if isinstance(field.initial, tuple) else ()
        for value, title in field.options:
            item = QListWidgetItem(title)
            item.setData(_VALUE, value)
            item.setCheckState(states.Checked if value in initial else states.Unchecked)
            box.addItem(item)
        box.setFixedHeight(min(160, 28 * max(2, len(field.options))))

        def read() -> Value:
            items = [box.item(row) for row in range(box.count())]
            return [str(one.data(_VALUE)) for one in items if one.checkState() == states.Checked]

        self._read[field.name] = read
        return box

    def _send(self) -> None:
        if self._question.url:
            # the user has read the address
            QDesktopServices.openUrl(QUrl(self._question.url))
            self._end(QuestionEnd.ACCEPTED)
            return
        values: dict[str, Value] = {}
        for field in self._question.fields:
            value = self._read[field.name]()
            problem = value_problem(field, value)
            if problem:
                self.problem.setText(say(_PROBLEMS[problem], field=field.title))
                self.problem.show()
                return
            if value is not None:
                values[field.name] = value
        self._end(QuestionEnd.ACCEPTED, values)

    def _end(self, end: QuestionEnd, values: dict[str, Value] | None = None) -> None:
        self._tell(end, values or {})
        self.accept()

    def _tell(self, end: QuestionEnd, values: dict[str, Value]) -> None:
        if not self._done:
            self._done = True
            self.answered.emit(end, values)
