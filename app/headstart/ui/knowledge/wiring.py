"""Connects passages, searches and chips with the controllers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from headstart.chat.knowledge.costs import PinCost
from headstart.chat.knowledge.pinning import PinnedState
from headstart.chat.knowledge.survey import SurveyPlan
from headstart.core.chats.parts import PassagePart
from headstart.core.knowledge.pinned import PinnedDocument
from headstart.core.knowledge.values import PagePicture
from headstart.ui.controllers.everything import Controllers
from headstart.ui.controllers.knowledge import with_source
from headstart.ui.kit.asking import Question
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.one_window import OneWindow
from headstart.ui.knowledge.passage_window import PassageWindow
from headstart.ui.knowledge.search_sheet import FileSearchSheet
from headstart.ui.knowledge.survey_sheet import SurveySheet
from headstart.ui.wording import say

# the window comes to the front many times a minute
_FOCUS_MS = 1_000


class KnowledgeOpener(QObject):
    """Opens passages and the search of files over `parent`. Emits the sources that the open chat is
    to have, and a text for the composer."""

    sources_chosen = Signal(tuple)
    # a chat, a document for its prompts, and the digest of the one that it replaces
    pinned = Signal(str, PinnedDocument, str)
    # files for the next message
    files_wanted = Signal(list)
    text_wanted = Signal(str)
    # a question to every document
    every_asked = Signal(str)

    passage: OneWindow[PassageWindow] = OneWindow()
    search: OneWindow[FileSearchSheet] = OneWindow()
    survey: OneWindow[SurveySheet] = OneWindow()

    def __init__(self, parent: QWidget, controllers: Controllers) -> None:
        super().__init__(parent)
        self._parent = parent
        self._knowledge = controllers.knowledge
        self._chosen: tuple[str, ...] = ()
        self._knowledge.passages.text_read.connect(self._show_text)
        self._knowledge.passages.page_drawn.connect(self._show_page)
        self._knowledge.found.connect(self._show_found)
        self._knowledge.survey_planned.connect(self._show_survey)
        self._knowledge.chosen.connect(self._on_chosen)
        self._knowledge.pinning.pin_read.connect(self._ask_about_pin)
        self._open = controllers.open
        self._looking = QTimer(self, singleShot=True, interval=_FOCUS_MS)
        self._looking.timeout.connect(self._knowledge.look_everywhere)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.applicationStateChanged.connect(self._on_state)

    def open_passage(self, part: object, quote: str = "") -> None:
        """Show a passage in its file, with the quote marked, if it has one."""
        if not isinstance(part, PassagePart):
            return
        window = self.passage = PassageWindow(part, self.search or self._parent, quote)
        window.page_wanted.connect(
            lambda page, words, width: self._knowledge.passages.draw(part, page, words, width)
        )
        window.open()
        self._knowledge.passages.read(part)
        window.want_page()

    def open_search(self, query: str = "") -> None:
        """Search all files; `query`: what is looked for at first."""
        sheet = self.search = FileSearchSheet(self._parent)
        sheet.wanted.connect(self._knowledge.find)
        sheet.opened.connect(self.open_passage)
        sheet.asked.connect(self._ask)
        sheet.open()
        if query:
            sheet.field.setText(query)
            self._knowledge.find(query)

    def ask_every(self, question: str) -> None:
        """Show the documents that a question would be asked, and the cost."""
        sheet = self.survey = SurveySheet(question, self._parent)
        sheet.asked.connect(self.every_asked)
        sheet.open()
        self._knowledge.plan_survey()

    def switch_on(self, source: str) -> None:
        """Answer the open chat's questions from this source as well; a file inside a folder becomes
        a source of its own."""
        self._knowledge.make_source(source)
        self.sources_chosen.emit(with_source(self._chosen, source, True))

    def ask_document(self) -> None:
        """Choose a document that is to stand first in the open chat's prompts."""
        dialog = file_dialog(self._parent, say("knowledge.pin-document"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self.pin)
        dialog.open()

    def pin(self, paths: Sequence[str]) -> None:
        """Pin documents to the open chat. One that has begun gets them with its next message:
        in front of it, they would have it processed again."""
        if self._open.stored:
            self.files_wanted.emit(list(paths))
            return
        self._knowledge.pinning.pin(paths)

    def _ask_about_pin(self, chat_id: str, state: PinnedState, cost: PinCost, before: str) -> None:
        if not state.tokens:
            return
        name, tokens = state.document.name, state.tokens
        if cost.context and tokens > cost.context:
            about = say("knowledge.pin-too-long", tokens=tokens, context=cost.context)
        elif cost.seconds:
            about = say("knowledge.pin-cost", tokens=tokens, seconds=cost.seconds, size=cost.size)
        else:
            about = say("knowledge.pin-size", tokens=tokens, size=cost.size)
        Question(
            self._parent, say("knowledge.pin-question", name=name), about, say("knowledge.pin")
        ).ask(lambda: self.pinned.emit(chat_id, state.document, before))

    def _ask(self, query: str, sources: tuple[str, ...]) -> None:
        self.sources_chosen.emit(tuple(dict.fromkeys((*self._chosen, *sources))))
        self.text_wanted.emit(query)

    def _on_chosen(self, sources: tuple[str, ...]) -> None:
        self._chosen = sources

    def _show_survey(self, plan: SurveyPlan) -> None:
        if self.survey is not None:
            self.survey.show_plan(plan)

    def _show_text(self, part: PassagePart, text: str) -> None:
        if self.passage is not None and self.passage.part == part:
            self.passage.show_text(text)

    def _show_page(self, part: PassagePart, page: int, picture: PagePicture | None) -> None:
        if self.passage is not None and self.passage.part == part:
            self.passage.show_page(page, picture)

    def _show_found(self, query: str, found: object) -> None:
        if self.search is not None:
            self.search.show_found(query, found)  # type: ignore[arg-type]

    def _on_state(self, state: Qt.ApplicationState) -> None:
        if state is Qt.ApplicationState.ApplicationActive:
            self._looking.start()
