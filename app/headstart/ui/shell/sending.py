"""Requests to the model from the window: a typed message, a clicked example, or a reply by another
model. Main thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QCursor

from headstart.chat.models import ModelList
from headstart.core.chats.values import Role
from headstart.ui.composer.opener import AttachmentOpener
from headstart.ui.models.choices_menu import ChoicesMenu
from headstart.ui.shell.greeting import Example
from headstart.ui.shell.prompts import Prompts
from headstart.ui.shell.shell import Shell
from headstart.ui.wording import say

if TYPE_CHECKING:
    from headstart.ui.controllers.everything import Controllers


class Sending:
    def __init__(
        self,
        window: Shell,
        controllers: Controllers,
        prompts: Prompts,
        attachments: AttachmentOpener,
    ) -> None:
        self._window = window
        self._controllers = controllers
        self._prompts = prompts
        self._attachments = attachments

    def asked_before(self) -> list[str]:
        """The loaded messages of the user in the open chat."""
        items = self._window.transcript.column.items
        return [item.message.text for item in items if item.message.role is Role.USER]

    def submit(self, text: str) -> None:
        """Send a message, or queue it while a reply is being written."""
        window, controllers = self._window, self._controllers
        window.inspector.flush()
        too_large = controllers.attaching.too_large or controllers.room.refuses
        if too_large and self._attachments.choose_of_largest():
            # the user chooses pages of a file that does not fit before the message is sent
            return
        if controllers.room.refuses:
            # no model would answer it; the words stay where they are
            window.room.insist()
            return
        if self._prompts.complete(lambda: self.submit(text)):
            if controllers.reply.writing:
                controllers.queue.add(text)
            else:
                controllers.conversation.send(text)

    def begin_example(self, example: Example) -> None:
        """Send a clicked example; one that waits for more text is put into the composer."""
        composer = self._window.composer
        if example.waits or composer.text().strip():
            composer.edit.insertPlainText(say(example.prompt))
            composer.edit.setFocus()
        else:
            self.submit(say(example.prompt))

    def regenerate_with(self, message_id: str) -> None:
        """Choose the model for another version of a reply in the menu of models."""
        window, controllers = self._window, self._controllers
        menu = ChoicesMenu(window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        place = QCursor.pos()

        def show(models: ModelList) -> None:
            # an empty menu would not be shown
            menu.set_models(models)
            if not menu.isVisible():
                menu.popup(place)

        controllers.model_list.listed.connect(show)
        menu.aboutToHide.connect(lambda: controllers.model_list.listed.disconnect(show))
        regenerate = controllers.conversation.regenerate
        menu.chosen.connect(lambda model: regenerate(message_id, model))
        menu.refused.connect(lambda why: window.show_problem(why, ""))
        controllers.model_list.list()
