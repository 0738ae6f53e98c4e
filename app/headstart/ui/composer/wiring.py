"""Connects the composer with the controllers."""

from __future__ import annotations

from headstart.ui.composer.composer import Composer
from headstart.ui.controllers.everything import Controllers


def connect(composer: Composer, controllers: Controllers) -> None:
    open_chat, ahead = controllers.open, controllers.ahead
    composer.stop_requested.connect(controllers.conversation.stop)
    composer.typing_began.connect(ahead.typing_began)
    composer.typed.connect(ahead.typed)
    composer.text_changed.connect(open_chat.write)
    ahead.prefilled.connect(composer.set_ahead)
    open_chat.opened.connect(lambda: composer.set_text(open_chat.unsent))
    open_chat.sent.connect(lambda: composer.set_text(""))
    open_chat.sending_changed.connect(composer.set_sending)
    controllers.reply.writing_changed.connect(composer.set_writing)
