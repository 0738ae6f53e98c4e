"""A question to every document of a chat, before it is asked: the documents, and the cost. Main
thread."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QPlainTextEdit, QPushButton, QWidget

from headstart.chat.knowledge.survey import SurveyPlan
from headstart.core.text.shown import isolated, shortened
from headstart.ui.kit.measures import keep_height
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

# pixels of the field for the question
_FIELD = 84


class SurveySheet(Sheet):
    """Emits `asked` with the question."""

    asked = Signal(str)

    def __init__(self, question: str, parent: QWidget | None) -> None:
        super().__init__(say("knowledge.ask-every"), parent, (640, 560))
        self._plan = SurveyPlan()
        self.field = QPlainTextEdit(question, self)
        keep_height(self.field, _FIELD)
        self.field.setTabChangesFocus(True)
        self.field.setPlaceholderText(say("knowledge.question-to-every"))
        self.field.setAccessibleName(say("knowledge.question-to-every"))
        self.field.textChanged.connect(self._show_button)
        self.told = self.word(say("knowledge.looking-at-documents"))
        self.list = QListWidget(self)
        self.list.setObjectName("plainList")
        self.list.setAccessibleName(say("knowledge.documents"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.ask_button = QPushButton(say("knowledge.ask-every"), self)
        self.ask_button.setObjectName("primary")
        self.ask_button.setDefault(True)
        self.ask_button.clicked.connect(self._ask)
        self.column.addWidget(self.word(say("knowledge.about-ask-every")))
        self.column.addWidget(self.field)
        self.column.addWidget(self.list, 1)
        self.column.addWidget(self.told)
        self.buttons(self.ask_button)
        self._show_button()
        self.field.setFocus()

    def show_plan(self, plan: SurveyPlan) -> None:
        self._plan = plan
        self.list.clear()
        for one in plan.documents:
            kept = one.digest in plan.kept
            code = "knowledge.document-kept" if kept else "knowledge.document-new"
            name = isolated(shortened(one.path or one.name, 160))
            self.list.addItem(say(code, name=name, tokens=one.tokens))
        self.told.setText(_cost(plan))
        self._show_button()

    def _show_button(self) -> None:
        ready = bool(self._plan.documents) and bool(self.field.toPlainText().strip())
        self.ask_button.setEnabled(ready)

    def _ask(self) -> None:
        self.asked.emit(self.field.toPlainText())
        self.accept()


def _cost(plan: SurveyPlan) -> str:
    """The number of documents, and the cost of reading those that were not read yet."""
    count = len(plan.documents)
    if not count:
        return say("knowledge.no-documents")
    if not plan.tokens:
        return say("knowledge.all-kept", count=count)
    cost, new = plan.cost, count - len(plan.kept)
    code = "knowledge.survey-cost" if cost.seconds else "knowledge.survey-size"
    if not (cost.seconds or cost.size):
        code = "knowledge.survey-tokens"
    facts = {"tokens": plan.tokens, "seconds": cost.seconds, "size": cost.size}
    return say(code, count=count, new=new, **facts)
