"""Connects the main window: each area with the controllers, and the areas with each other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from headstart.chat.changes import SmallerContext
from headstart.chat.preferences import Preferences
from headstart.core.chats.tree import RemovedBranch
from headstart.core.chats.values import FinishReason, TurnStats
from headstart.core.events import NoticeKind, PromptSize
from headstart.core.hub.downloads import Download
from headstart.core.knowledge.pinned import PinnedDocument
from headstart.core.settings.schema import Settings
from headstart.core.text.shown import shortened
from headstart.core.told import Told
from headstart.ui.composer import wiring as composer
from headstart.ui.controllers.everything import Controllers
from headstart.ui.controllers.room import Misfit
from headstart.ui.inspector import wiring as inspector
from headstart.ui.kit.sheet import calm, sheet_over
from headstart.ui.knowledge.doubted_sheet import ask_doubted
from headstart.ui.shell import actions
from headstart.ui.shell.caret import RestingCaret
from headstart.ui.shell.consent import ask_consent
from headstart.ui.shell.help import keys_of
from headstart.ui.shell.main_window import MainWindow
from headstart.ui.shell.menu_bar import add_menu_bar
from headstart.ui.shell.notices import Toast
from headstart.ui.shell.notify import Notifier
from headstart.ui.shell.open_chat_view import OpenChatView
from headstart.ui.shell.room_row import Action, misfit_words
from headstart.ui.shell.sight import Sight
from headstart.ui.shell.suggestion import Suggesting
from headstart.ui.shell.tool_offers import ToolOffers
from headstart.ui.sidebar import wiring as sidebar
from headstart.ui.transcript import wiring as transcript
from headstart.ui.wording import say

# share of the context below which a notice that it is nearly full is out of date
NEARLY_FULL = 0.8
# fewest tokens of a reply whose speed is meaningful
TELLING = 24


def make_window(controllers: Controllers, preferences: Preferences) -> MainWindow:
    window = MainWindow(controllers, preferences)
    actions.fill(window.commands, window, controllers)
    window.commands.add_shortcuts(window, lambda: sheet_over(window) is not None)
    if sys.platform == "darwin":
        add_menu_bar(window, window.commands)
    window.commands.rebind(preferences.current.shortcuts)
    preferences.listen(lambda now: window.commands.rebind(now.shortcuts), "shortcuts")
    _connect(window, controllers, preferences)
    calm(window)
    window.composer.edit.setFocus()
    return window


def _connect(window: MainWindow, controllers: Controllers, preferences: Preferences) -> None:
    sidebar.connect(window.sidebar, controllers, window.commands)
    transcript.connect(window.transcript, window.find_bar, controllers, window.commands)
    transcript.connect_spoken(
        window.transcript, controllers.reply, lambda: preferences.current.announce_replies
    )
    composer.connect(window.composer, window.attachments, controllers, preferences)
    composer.connect_queue(window.queued, window.composer, controllers)
    inspector.connect(window.inspector, controllers, preferences)
    _connect_header(window, controllers)
    _connect_pages(window, controllers)
    window.sidebar.chat_chosen.connect(window.open_chat)
    window.sidebar.results.chat_chosen.connect(window.open_chat)
    window.sidebar.results.message_chosen.connect(window.open_message)
    window.sidebar.results.passage_chosen.connect(window.knowledge.open_passage)
    window.sidebar.results.all_files_chosen.connect(
        lambda: window.knowledge.open_search(window.sidebar.search.text())
    )
    window.sidebar.view.dragged.connect(window.transfer.drag)
    window.sidebar.view.folder_dragged.connect(window.transfer.drag_folder)
    window.sidebar.move_requested.connect(window.order.move)
    window.transcript.copy_requested.connect(
        lambda message, form: window.transfer.copy(controllers.open.id, form, message)
    )
    window.greeting.chosen.connect(window.sending.begin_example)
    window.composer.submitted.connect(window.sending.submit)
    window.composer.edit.history = window.sending.asked_before
    window.keyboard.connect_to(controllers)
    window.transcript.host.part_opened.connect(window.attachments.show_part)
    window.composer.tools.clicked.connect(window.show_tools)
    window.composer.tool_chips.opened.connect(window.show_tools)
    _connect_knowledge(window, controllers)
    servers = window.inspector.tools.servers
    servers.add_wanted.connect(lambda: window.settings.open("tools"))
    ToolOffers(window, controllers)
    controllers.tools.result_read.connect(window.attachments.show_part)
    window.transcript.host.save_requested.connect(window.transfer.save_code)
    window.transcript.host.link_hover_changed.connect(window.composer.set_hint)
    window.inspector.prefix.sizes_requested.connect(window.sizes.open)
    view = OpenChatView(window, controllers)
    _connect_context(window, controllers)
    _connect_notices(window, controllers)
    _connect_toasts(window, controllers)
    _connect_gain(window, controllers, view)
    _connect_settings(window, controllers, preferences, view)


def _connect_knowledge(window: MainWindow, controllers: Controllers) -> None:
    knowledge, panel = window.knowledge, window.inspector.knowledge
    window.transcript.host.part_opened.connect(knowledge.open_passage)
    window.transcript.host.citation_opened.connect(knowledge.open_passage)
    window.composer.source_chips.opened.connect(window.show_sources)
    window.composer.source_chips.every_wanted.connect(
        lambda: window.commands.run("files.ask_every")
    )

    def ask_every(text: str) -> None:
        # it stays in the composer until it is stored
        window.composer.set_text(text)
        controllers.open.write(text)
        controllers.conversation.send(text, every=True)

    knowledge.every_asked.connect(ask_every)
    window.composer.source_menu.chosen.connect(knowledge.switch_on)
    panel.add_wanted.connect(lambda: window.settings.open("knowledge"))
    knowledge.sources_chosen.connect(panel.chosen)
    panel.pinned.pin_wanted.connect(knowledge.ask_document)
    knowledge.files_wanted.connect(window.attachments.add_files)

    def pin(chat_id: str, document: PinnedDocument, before: str) -> None:
        panel.pin(chat_id, document, before)
        # read now, so that the first question is as fast as the second
        controllers.ahead.read_now()

    knowledge.pinned.connect(pin)

    def write(text: str) -> None:
        window.pages.show_chat()
        window.composer.edit.insertPlainText(text)
        window.composer.edit.setFocus()

    knowledge.text_wanted.connect(write)


def _connect_context(window: MainWindow, controllers: Controllers) -> None:
    """Show the use of the context: the size of the next prompt if known, else that of the last
    one."""
    used: tuple[int, int] = (0, 0)
    sized: PromptSize | None = None

    def show() -> None:
        if sized is not None:
            window.composer.set_context(sized.tokens, sized.size, sized.limit)
            window.inspector.set_context(sized.tokens, sized.size)
        else:
            window.composer.set_context(*used)
            window.inspector.set_context(*used)

    def on_used(tokens: int, size: int) -> None:
        nonlocal used, sized
        if (tokens, size) != used and size:
            # the known size of the next prompt is outdated
            sized = None
        used = (tokens, size)
        show()

    def on_sized(size: PromptSize | None) -> None:
        nonlocal sized
        sized = size
        show()

    controllers.reply.context_changed.connect(on_used)
    controllers.attaching.sized.connect(on_sized)
    _connect_room(window, controllers)


def _connect_room(window: MainWindow, controllers: Controllers) -> None:
    """Tell that a message does not fit before it is sent, with what is possible here."""
    room, files = controllers.room, window.attachments

    def choose_model() -> None:
        row = window.room
        window.header.pill.choices.popup(row.mapToGlobal(row.rect().bottomLeft()))

    def show(misfit: Misfit | None) -> None:
        if misfit is None:
            window.room.show_ways("", ())
            return
        actions: list[Action] = []
        if files.has_pages:
            actions.append((say("composer.choose-what-fits"), files.choose_of_largest))
        ways = misfit.ways
        if ways.drop:
            actions.append((say("composer.leave-out-earlier"), room.drop_earlier))
        if ways.context:
            label = say("shell.use-context", context=ways.context)
            actions.append((label, partial(room.use_context, ways.context)))
        if ways.other:
            actions.append((say("composer.another-model"), choose_model))
        window.room.show_ways(misfit_words(misfit.room), actions)

    room.changed.connect(show)
    window.composer.typed.connect(lambda _text: room.look())
    controllers.attaching.attached.connect(room.look)


def _connect_gain(window: MainWindow, controllers: Controllers, view: OpenChatView) -> None:
    """Tell the gain of drafting once per model and draft."""

    def on_stats(stats: TurnStats | None) -> None:
        speculation = None if stats is None else stats.speculation
        if stats is None or speculation is None or stats.generated_tokens < TELLING:
            return
        if speculation.accepted:
            view.tell_gain(window.inspector.speculation.draft_name, stats.against_plain)

    controllers.branch.stats_shown.connect(on_stats)


def _connect_header(window: MainWindow, controllers: Controllers) -> None:
    header, models = window.header, controllers.models
    header.set_commands(window.commands)
    header.drafting_wanted.connect(window.show_drafting)
    header.title.rename_wanted.connect(lambda: window.sidebar.begin_rename(controllers.open.id))
    window.inspector.overview.model_wanted.connect(header.pill.choices.popup)
    window.dialogs.panel_wanted.connect(window.panels.open_branches)
    window.dialogs.panel_closed.connect(window.panels.close_branches)
    header.pill.model_chosen.connect(models.choose)
    header.pill.file_chosen.connect(models.open_file)
    header.pill.menu_opening.connect(controllers.model_list.list)
    header.pill.refused.connect(lambda why: window.show_problem(why, ""))
    controllers.model_list.listed.connect(header.pill.set_models)


def _connect_pages(window: MainWindow, controllers: Controllers) -> None:
    pages = window.pages

    def show_toast(text: str) -> None:
        _toast(window).show_text(text)

    def show() -> None:
        window.sidebar.set_models(pages.line, pages.on_models)
        window.panels.set_page(pages.elsewhere, alone=pages.on_settings)

    def show_settings() -> None:
        page = window.settings.make()
        pages.show_settings(page)
        page.search.setFocus()

    Suggesting(window.note, controllers, window.commands, window.preferences)
    window.settings.opened.connect(show_settings)
    window.settings.keys = lambda: keys_of(window.commands)
    window.settings.closed.connect(pages.show_chat)
    pages.changed.connect(show)
    Sight(window, controllers.unseen)
    RestingCaret(window)
    pages.file_wanted.connect(lambda: window.commands.run("model.open_file"))
    pages.line_changed.connect(lambda line: window.sidebar.set_models(line, pages.on_models))

    def on_token(account: str) -> None:
        code = "shell.signed-in" if account else "shell.token-removed"
        show_toast(say(code, account=account))

    controllers.discover.token_checked.connect(on_token)
    controllers.discover.token_refused.connect(window.show_problem)
    controllers.getting.queued.connect(
        lambda titles: show_toast(say("shell.getting", titles=titles))
    )
    notifier = Notifier(window)

    def on_done(download: Download) -> None:
        show_toast(say("shell.installed", title=download.wanted.title))
        notifier.tell(
            say("shell.download-finished"),
            say("shell.title-installed", title=download.wanted.title),
        )

    def on_failed(download: Download) -> None:
        why = download.reason.text if download.reason is not None else ""
        window.show_problem(say("shell.could-not-download-title", title=download.wanted.title), why)
        notifier.tell(say("shell.could-not-download-title-2", title=download.wanted.title), why)

    controllers.downloads.done.connect(on_done)
    controllers.downloads.failed.connect(on_failed)
    controllers.installed.removed.connect(
        lambda name, size: show_toast(say("shell.deleted-model", name=name, size=size))
    )


def _connect_notices(window: MainWindow, controllers: Controllers) -> None:
    """Connect the banner with the events that begin and end its notices."""
    banner = window.banner

    def on_stored(chat_id: str) -> None:
        if chat_id == controllers.open.id:
            window.transcript.scroll_to_end()
        if banner.kind is NoticeKind.PROBLEM:
            banner.withdraw()

    def on_unsaved(count: int, problem: Told | None) -> None:
        if window.unsaved.count and not count:
            window.toast.show_text(say("shell.all-saved"))
        window.unsaved.show_count(count, problem)

    def on_writing(writing: bool) -> None:
        if not writing and banner.kind is NoticeKind.SERVER:
            # the answer came after all, or the reply shows its failure
            banner.withdraw()

    def on_context(used: int, size: int) -> None:
        if banner.kind is NoticeKind.CONTEXT_NEARLY_FULL and used < NEARLY_FULL * size:
            banner.withdraw()

    def on_stats(stats: TurnStats | None) -> None:
        full = stats is not None and stats.finish is FinishReason.CONTEXT_FULL
        if full and banner.kind is NoticeKind.CONTEXT_NEARLY_FULL:
            # the reply itself shows that it ended for this reason
            banner.withdraw()

    def show_smaller(fits: SmallerContext) -> None:
        told = window.show_problem(fits.told.message, fits.told.remedy)
        with_kv = fits.told.code == "does-not-fit-kv"
        code = "shell.use-context-and-kv" if with_kv else "shell.use-context"
        label = say(code, context=fits.context, kv=fits.kv_type)
        told.offer(label, partial(controllers.models.use_smaller, fits))

    def show_told(told: Told) -> None:
        window.show_problem(told.message, told.remedy)

    controllers.reply.context_changed.connect(on_context)
    controllers.branch.stats_shown.connect(on_stats)
    controllers.reply.noticed.connect(banner.show_text)
    controllers.reply.writing_changed.connect(on_writing)
    controllers.problems.told.connect(window.show_problem)
    controllers.beginnings.changed.connect(window.held.show_held)
    controllers.outbox.changed.connect(on_unsaved)
    window.unsaved.try_wanted.connect(controllers.outbox.try_now)
    window.held.begin_again.connect(controllers.beginnings.begin_again)
    window.held.begin_all.connect(controllers.beginnings.begin_all)
    controllers.consent.needed.connect(partial(ask_consent, window, window.keyboard.reclaim))
    controllers.consent.doubted.connect(partial(ask_doubted, window, window.keyboard.reclaim))
    controllers.conversation.message_stored.connect(on_stored)
    controllers.installed.smaller_fits.connect(show_smaller)
    controllers.attaching.refused.connect(show_told)
    controllers.transfer.sorted.connect(window.take_files)
    controllers.versions.branched_off.connect(window.open_chat)
    window.transfer.chat_wanted.connect(window.open_chat)
    window.settings.command_wanted.connect(window.commands.run)
    window.settings.restore_wanted.connect(window.transfer.restore)


def _connect_toasts(window: MainWindow, controllers: Controllers) -> None:
    """Connect the short notices of finished actions, some with an undo."""

    def show(text: str, undo: Callable[[], None] | None = None, about: str = "") -> None:
        _toast(window).show_text(text, undo, about=about)

    def on_deleted(chat_ids: list[str], title: str) -> None:
        one = len(chat_ids) == 1
        code = "shell.deleted-chat" if one else "shell.deleted-chats"
        words = say(code, title=shortened(title, 40), count=len(chat_ids))
        show(words, partial(controllers.chat_list.restore, chat_ids), about=chat_ids[0])

    def on_archived(chat_ids: list[str]) -> None:
        back = partial(controllers.folders.archive, chat_ids, archived=False)
        show(say("shell.archived", count=len(chat_ids)), back)

    def on_removed(removed: RemovedBranch, count: int) -> None:
        undo = partial(controllers.versions.put_back, removed)
        show(say("shell.deleted-messages", count=count), undo)

    def on_exported(path: str, count: int) -> None:
        code = "shell.exported-to" if count == 1 else "shell.count-exported-to"
        show(say(code, count=count, path=path))

    def on_unloaded(name: str, other: str) -> None:
        show(say("shell.unloaded", name=name, other=other))

    def on_backup(path: str, size: int) -> None:
        if path:
            show(say("shell.backed-up", size=size, path=path))

    controllers.chat_list.deleted.connect(on_deleted)
    controllers.folders.archived.connect(on_archived)
    controllers.versions.removed.connect(on_removed)
    controllers.installed.unloaded.connect(on_unloaded)
    controllers.transfer.exported.connect(on_exported)
    controllers.pictures.saved.connect(lambda path: show(say("shell.saved-to", path=path)))
    controllers.backups.made.connect(on_backup)
    for toast in (window.toast, *window.pages.toasts):
        controllers.chat_list.left_trash.connect(toast.withdraw)


def _toast(window: MainWindow) -> Toast:
    """The toast of the shown page."""
    place = window.pages.place
    return window.toast if place is None else place.toast


def _connect_settings(
    window: MainWindow, controllers: Controllers, preferences: Preferences, view: OpenChatView
) -> None:
    connections = preferences.current.connections

    def on_settings(settings: Settings) -> None:
        nonlocal connections
        if settings.connections != connections:
            connections = settings.connections
            controllers.models.show()
        take_over(settings)
        view.show_draft()

    def take_over(settings: Settings) -> None:
        window.inspector.set_settings(settings)
        window.transcript.host.set_tinted(settings.show_origins)
        window.transcript.set_stats(settings.stats_shown)
        window.composer.set_prefills_ahead(settings.prefix.prefill_ahead)
        window.looks.apply()

    take_over(preferences.current)
    preferences.listen(on_settings)

    controllers.updates.found.connect(window.news.offer)
