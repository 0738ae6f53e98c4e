"""Prompts, resources and questions of tool servers in the window. Main thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.lists import PromptDefinition
from headstart.core.tool_servers.questions import QuestionEnd, ServerQuestion
from headstart.ui.composer.slash_menu import SlashEntry
from headstart.ui.controllers.everything import Controllers
from headstart.ui.kit.one_window import OneWindow
from headstart.ui.kit.values_dialog import ValuesDialog
from headstart.ui.shell.shell import Shell
from headstart.ui.shell.tool_question import ToolQuestionSheet
from headstart.ui.wording import say

# resources of all servers in a menu; the slash menu finds the others by their names
_MOST = 40


class ToolOffers(QObject):
    """Creates its windows on demand."""

    asking: OneWindow[ValuesDialog] = OneWindow()

    def __init__(self, window: Shell, controllers: Controllers) -> None:
        super().__init__(window)
        self._window = window
        self._offers = controllers.tools.offers
        self._attaching = controllers.attaching
        self._open = controllers.open
        # the chat for which a prompt or a resource is on its way
        self._wanted = ""
        # questions wait for their turn: the first is on show
        self._questions: list[ServerQuestion] = []
        self.sheet: ToolQuestionSheet | None = None
        window.composer.slash.add_entries(self._entries)
        window.composer.below.attach_menu.aboutToShow.connect(self._fill_menu)
        self._offers.asked.connect(self._on_question)
        self._offers.withdrawn.connect(self._withdraw)
        self._offers.prompt_read.connect(self._put)
        self._offers.file_read.connect(self._attach)
        controllers.tools.costs_known.connect(lambda _costs: self._show_choices())

    # --- prompts and resources -----------------------------------------------------------

    def _entries(self) -> Iterator[SlashEntry]:
        for server, prompt in self._offers.prompts():
            title = say(
                "shell.prompt-of-server", prompt=prompt.title or prompt.name, server=server.name
            )
            yield SlashEntry(title, partial(self.use, server, prompt), "wrench")
        for server, one in self._offers.resources():
            name = one.title or one.name or one.uri
            title = say("shell.resource-of-server", resource=name, server=server.name)
            use = partial(self._use_resource, server.id, one.uri)
            yield SlashEntry(title, use, "file-text")

    def use(self, server: ToolServer, prompt: PromptDefinition) -> None:
        """Put a server's prompt into the message, with the values that the user enters."""
        if not prompt.arguments:
            self._use_prompt(server.id, prompt.name, {})
            return
        about = "\n".join(
            filter(
                None,
                (
                    prompt.description,
                    *(_about(one.name, one.description) for one in (prompt.arguments)),
                ),
            )
        )
        names = [one.name for one in prompt.arguments]
        dialog = self.asking = ValuesDialog(names, about, {}, self._window)

        def take(values: dict[str, str]) -> None:
            given = {name: value for name, value in values.items() if value.strip()}
            self._use_prompt(server.id, prompt.name, given)

        dialog.given.connect(take)
        dialog.open()

    def _use_prompt(self, server_id: str, name: str, values: dict[str, str]) -> None:
        self._wanted = self._open.id
        self._offers.use_prompt(server_id, name, values)

    def _use_resource(self, server_id: str, uri: str) -> None:
        self._wanted = self._open.id
        self._offers.use_resource(server_id, uri)

    def _attach(self, name: str, data: bytes) -> None:
        if self._wanted == self._open.id:
            self._attaching.add_content(name, data)

    def _put(self, text: str) -> None:
        if self._wanted != self._open.id:
            # another chat was opened meanwhile
            return
        edit = self._window.composer.edit
        edit.insertPlainText(text)
        edit.setFocus()

    def _show_choices(self) -> None:
        self._window.composer.below.set_attach_choices(bool(self._offers.resources()))

    def _fill_menu(self) -> None:
        """The resources of servers, below the choice of files."""
        menu: QMenu = self._window.composer.below.attach_menu
        menu.clear()
        menu.addAction(say("shell.attach-files"), self._window.composer.attach_requested.emit)
        found = self._offers.resources()
        if found:
            menu.addSeparator()
        for server, one in found[:_MOST]:
            name = (one.title or one.name or one.uri).replace("&", "&&")
            title = say("shell.resource-of-server", resource=name, server=server.name)
            menu.addAction(title, partial(self._use_resource, server.id, one.uri))

    # --- questions -----------------------------------------------------------------------

    def _on_question(self, question: ServerQuestion) -> None:
        self._questions.append(question)
        self._show_next()

    def _show_next(self) -> None:
        if self.sheet is not None or not self._questions:
            return
        question = self._questions[0]
        sheet = self.sheet = ToolQuestionSheet(question, self._window)
        sheet.answered.connect(partial(self._answer, question.number))
        sheet.open()

    def _answer(self, number: int, end: QuestionEnd, values: dict[str, object]) -> None:
        self._questions = [one for one in self._questions if one.number != number]
        self.sheet = None
        self._offers.answer(number, end, values)  # type: ignore[arg-type]
        self._show_next()

    def _withdraw(self, number: int) -> None:
        """The call has ended: nobody waits for an answer."""
        shown = bool(self._questions) and self._questions[0].number == number
        self._questions = [one for one in self._questions if one.number != number]
        if shown and self.sheet is not None:
            sheet, self.sheet = self.sheet, None
            sheet.withdraw()
            self._show_next()


def _about(name: str, description: str) -> str:
    return say("shell.argument-about", name=name, about=description) if description else ""
