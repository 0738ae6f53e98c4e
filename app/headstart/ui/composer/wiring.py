"""Connects the composer with the controllers."""

from __future__ import annotations

from headstart.chat.preferences import Preferences
from headstart.core.settings.schema import Settings
from headstart.ui.composer.composer import Composer
from headstart.ui.composer.opener import AttachmentOpener
from headstart.ui.composer.queued import QueuedRows
from headstart.ui.controllers.everything import Controllers


def connect(
    composer: Composer, opener: AttachmentOpener, controllers: Controllers, preferences: Preferences
) -> None:
    open_chat, ahead = controllers.open, controllers.ahead
    composer.stop_requested.connect(controllers.conversation.stop)
    composer.interrupted.connect(controllers.queue.interrupt)
    composer.typing_began.connect(ahead.typing_began)
    composer.typed.connect(ahead.typed)
    composer.text_changed.connect(open_chat.write)
    ahead.prefilled.connect(composer.set_ahead)
    ahead.progressed.connect(composer.ahead.show_progress)
    open_chat.opened.connect(lambda: composer.set_text(open_chat.unsent))
    open_chat.sent.connect(lambda: composer.set_text(""))
    open_chat.sending_changed.connect(composer.set_sending)
    controllers.reply.writing_changed.connect(composer.set_writing)
    controllers.tools.costs_known.connect(composer.set_tools)
    controllers.knowledge.chosen.connect(composer.source_chips.show_sources)
    menu, knowledge = composer.source_menu, controllers.knowledge
    menu.offer(lambda: knowledge.sources)
    menu.typed.connect(knowledge.passages.find_files)
    knowledge.passages.files_found.connect(menu.show_files)
    _connect_attachments(composer, opener, controllers, preferences)


def connect_queue(rows: QueuedRows, composer: Composer, controllers: Controllers) -> None:
    queue = controllers.queue
    queue.changed.connect(rows.show_queue)
    controllers.reply.writing_changed.connect(rows.set_writing)
    rows.edited.connect(queue.edit)
    rows.removed.connect(queue.remove)
    rows.send_wanted.connect(queue.send_first)

    def take_back(text: str) -> None:
        composer.set_text(text)
        controllers.open.write(text)
        composer.edit.setFocus()

    queue.taken_back.connect(take_back)


def _connect_attachments(
    composer: Composer, opener: AttachmentOpener, controllers: Controllers, preferences: Preferences
) -> None:
    attaching, pictures = controllers.attaching, controllers.pictures
    composer.attach_requested.connect(opener.ask_files)
    composer.edit.files_pasted.connect(opener.add_files)
    composer.edit.image_pasted.connect(opener.paste_image)
    composer.edit.text_pasted.connect(opener.paste_text)

    def follow(settings: Settings) -> None:
        composer.edit.attach_from(settings.long_paste)

    preferences.listen(follow, "long_paste")
    follow(preferences.current)

    def write(text: str) -> None:
        composer.edit.insertPlainText(text)
        composer.edit.setFocus()

    attaching.text_wanted.connect(write)
    composer.attachments.opened.connect(opener.open)
    composer.attachments.removed.connect(attaching.remove)
    composer.attachments.encoding_chosen.connect(attaching.read_as)
    attaching.changed.connect(composer.set_attachments)
    attaching.changed.connect(opener.show_attachments)
    attaching.sized.connect(opener.show_size)
    controllers.models.blind.connect(composer.attachments.set_blind)
    attaching.pages_read.connect(opener.show_pages)
    attaching.attached.connect(lambda: controllers.ahead.typed(composer.text()))
    attaching.attached.connect(controllers.ahead.typing_began)
    opener.image_wanted.connect(pictures.open)
    opener.save_requested.connect(pictures.save)
    opener.folder = preferences.state.current.last_folder
    opener.folder_changed.connect(lambda path: preferences.state.update(last_folder=path))
    pictures.opened.connect(opener.show_image)
