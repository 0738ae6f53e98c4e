"""The main window: sidebar, header, transcript, composer, inspector, and how they talk.

Widgets emit, the controller does; nothing here waits for anything.
"""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeySequence,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMainWindow,
    QVBoxLayout,
    QWidget,
)

from headstart.chat.preferences import Preferences
from headstart.chat.titles import NEW_CHAT
from headstart.core.events import AnyModel
from headstart.core.prefixes import PrefixUse
from headstart.core.servers import ServerModel
from headstart.core.settings import Settings
from headstart.core.values import BranchPage, Chat
from headstart.ui import theme
from headstart.ui.chat_controller import ChatController
from headstart.ui.composer import Composer
from headstart.ui.consent import ask_consent
from headstart.ui.export_dialog import ask_export_path
from headstart.ui.header import Header
from headstart.ui.inspector.inspector import Inspector
from headstart.ui.inspector.prefix_sizes import PrefixSizes
from headstart.ui.notices import Banner, Toast
from headstart.ui.settings.opener import SettingsOpener
from headstart.ui.sidebar.sidebar import Sidebar
from headstart.ui.transcript.view import TranscriptView

EMPTY_HINT = (
    "Ask something.\n\nThe model runs on this computer; your words do not leave it.\n"
    "To use another model, drop a GGUF file or an MLX folder here, or choose it above."
)
PRIVATE_HINT = (
    "Ask something that stays between you and the model.\n\nNothing of this chat is written to "
    "disk, neither its words nor what the model read.\nIt is gone when Headstart closes."
)
NEW_PRIVATE_CHAT = "New private chat"
SAVED_MS = 2500
# narrower than this there is no room for the inspector
INSPECTOR_FROM = 1100


class MainWindow(QMainWindow):
    """Emits `closing` once, when the user closes it; whoever made it then ends the program."""

    closing = Signal()

    def __init__(self, controller: ChatController, preferences: Preferences) -> None:
        super().__init__()
        self.controller = controller
        self._preferences = preferences
        self._connections = preferences.current.connections
        self._server: ServerModel | None = None
        self.settings = SettingsOpener(controller.service, preferences, self)
        self._sizes_window: PrefixSizes | None = None
        self._wants_inspector = preferences.current.show_inspector
        self.setWindowTitle("Headstart")
        self.setAcceptDrops(True)
        self.setMinimumSize(720, 480)
        self.resize(1360, 860)
        self.header = Header(self)
        self.title, self.pill = self.header.title, self.header.pill
        self.draft_pill = self.header.draft_pill
        self.sidebar = Sidebar(self)
        self.transcript = TranscriptView(self)
        self.transcript.set_hint(EMPTY_HINT)
        self.transcript.set_tinted(preferences.current.show_origins)
        self.composer = Composer(self)
        self.inspector = Inspector(preferences.current, self)
        self.banner = Banner(self)
        self._build()
        self.toast = Toast(self.transcript)
        self._connect()
        self._shortcuts()
        self._apply_panels()
        self.composer.edit.setFocus()

    # --- building ------------------------------------------------------------------------

    def _build(self) -> None:
        self._centre = QWidget(self)
        column = QVBoxLayout(self._centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.transcript, 1)
        below = QWidget(self._centre)
        below.setMaximumWidth(theme.COLUMN_WIDTH)
        stack = QVBoxLayout(below)
        stack.setContentsMargins(0, 4, 0, 18)
        stack.setSpacing(8)
        stack.addWidget(self.banner)
        stack.addWidget(self.composer)
        row = QHBoxLayout()
        row.setContentsMargins(24, 0, 24, 0)
        row.addStretch(1)
        row.addWidget(below, 1000)
        row.addStretch(1)
        column.addLayout(row)
        body = QWidget(self)
        layout = QHBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.sidebar)
        layout.addWidget(self._centre, 1)
        layout.addWidget(self.inspector)
        self.setCentralWidget(body)
        order: list[QWidget] = [
            self.composer.edit,
            self.composer.button,
            self.pill,
            self.header.export_button,
            self.header.inspector_button,
        ]
        for before, after in itertools.pairwise(order):
            QWidget.setTabOrder(before, after)

    def _connect(self) -> None:
        controller, transcript = self.controller, self.transcript
        self.header.sidebar_button.clicked.connect(self.toggle_sidebar)
        self.header.export_button.clicked.connect(self.ask_export)
        self.header.inspector_button.clicked.connect(self.toggle_inspector)
        self.sidebar.new_requested.connect(self.new_chat)
        self.sidebar.private_requested.connect(self.new_private_chat)
        self.sidebar.chat_chosen.connect(self.open_chat)
        self.sidebar.rename_requested.connect(controller.rename)
        self.sidebar.pin_requested.connect(controller.pin)
        self.sidebar.delete_requested.connect(controller.delete)
        self.sidebar.export_requested.connect(self.ask_export_of)
        self.sidebar.settings_requested.connect(self.open_settings)
        transcript.regenerate_requested.connect(controller.regenerate)
        transcript.continue_requested.connect(controller.continue_reply)
        transcript.edit_submitted.connect(controller.edit)
        transcript.version_requested.connect(controller.show_version)
        transcript.link_hover_changed.connect(self.composer.set_hint)
        self.composer.submitted.connect(self._on_submitted)
        self.composer.stop_requested.connect(controller.stop)
        self.composer.typing_began.connect(controller.warm)
        self.composer.typed.connect(controller.typed)
        self.composer.text_changed.connect(controller.open.write)
        controller.open.opened.connect(self._on_opened)
        controller.open.sent.connect(lambda: self.composer.set_text(""))
        controller.open.sending_changed.connect(self.composer.set_sending)
        self.composer.set_reads_ahead(self._preferences.current.prefix.read_ahead)
        controller.read_ahead.connect(self.composer.set_ahead)
        self.pill.model_chosen.connect(controller.choose_model)
        self.pill.file_chosen.connect(controller.open_model_file)
        self.pill.menu_opening.connect(controller.list_models)
        self.pill.refused.connect(lambda why: self.show_problem(why, ""))
        self.pill.servers_requested.connect(lambda: self.settings.open("servers"))
        self.settings.problem.connect(self.show_problem)
        self.settings.reload_requested.connect(controller.reload)
        controller.consent_needed.connect(partial(ask_consent, self))
        controller.answering.connect(self._on_answering)
        self.inspector.options_changed.connect(controller.set_options)
        self.inspector.options_changed.connect(lambda *_: self._show_draft_pill())
        panel = self.inspector.speculation
        panel.tint_changed.connect(lambda on: self._preferences.update(show_origins=on))
        panel.measure_requested.connect(controller.measure)
        panel.cancel_requested.connect(controller.cancel_measuring)
        prefix = self.inspector.prefix
        prefix.sizes_requested.connect(self.open_sizes)
        controller.prefixes_listed.connect(self._on_prefixes)
        controller.guessed.connect(prefix.set_figures)
        controller.drafts_listed.connect(panel.set_choices)
        controller.guessing.connect(panel.set_live)
        controller.draft_activity.connect(panel.set_activity)
        controller.guessed.connect(panel.set_figures)
        controller.measured.connect(panel.set_measured)
        controller.draft_changed.connect(self._on_draft)
        controller.chats_listed.connect(self.sidebar.set_chats)
        controller.chat_listed.connect(self.sidebar.set_chat)
        controller.chat_shown.connect(self._on_chat_shown)
        controller.chat_renamed.connect(self._show_title)
        controller.earlier_shown.connect(transcript.show_earlier)
        controller.message_changed.connect(transcript.set_message)
        transcript.earlier_requested.connect(controller.show_earlier)
        controller.reply_origins.connect(transcript.show_origins)
        controller.reply_text.connect(transcript.show_reply)
        controller.reply_progress.connect(transcript.show_progress)
        controller.list_status.connect(self.sidebar.model.set_writing)
        controller.writing_changed.connect(self.composer.set_writing)
        controller.writing_changed.connect(transcript.set_writing)
        controller.writing_changed.connect(self._on_writing)
        controller.context_changed.connect(self.inspector.set_context)
        controller.noticed.connect(self.banner.show_text)
        controller.problem.connect(self.show_problem)
        controller.model_changed.connect(self._on_model)
        controller.models_listed.connect(self.pill.set_models)
        controller.message_stored.connect(self._on_stored)
        controller.chat_deleted.connect(self._on_deleted)
        controller.exported.connect(lambda path: self.toast.show_text(f"Exported to {path}"))
        self._preferences.listen(self._on_settings)
        self._preferences.on_error(lambda text: self.show_problem(text, ""))
        QGuiApplication.styleHints().colorSchemeChanged.connect(lambda _scheme: self.apply_theme())

    def _shortcuts(self) -> None:
        for keys, action in (
            ("Ctrl+N", self.new_chat),
            ("Ctrl+Shift+N", self.new_private_chat),
            ("Ctrl+S", self.ask_export),
            ("Ctrl+O", self.pill.ask_file),
            ("Ctrl+B", self.toggle_sidebar),
            ("Ctrl+I", self.toggle_inspector),
            ("Ctrl+,", self.open_settings),
            ("Ctrl+L", self.composer.edit.setFocus),
            ("Esc", self._on_escape),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(action)
        self.header.apply_icons()

    def _on_escape(self) -> None:
        if not self.transcript.leave_edit():
            self.controller.stop()

    # --- what the user does here ---------------------------------------------------------

    def open_chat(self, chat_id: str) -> None:
        self.inspector.flush()
        self.controller.open_chat(chat_id)

    def new_chat(self) -> None:
        self._new_chat(private=False)

    def new_private_chat(self) -> None:
        self._new_chat(private=True)

    def _new_chat(self, private: bool) -> None:
        self.inspector.flush()
        self.controller.new_chat(private)
        self.composer.edit.setFocus()

    def toggle_sidebar(self) -> None:
        self._preferences.update(show_sidebar=not self.sidebar.isVisible())
        self._apply_panels()
        QTimer.singleShot(0, self._after_resize)

    def toggle_inspector(self) -> None:
        self._wants_inspector = not self.inspector.isVisible()
        self._preferences.update(show_inspector=self._wants_inspector)
        self.inspector.setVisible(self._wants_inspector)
        QTimer.singleShot(0, self._after_resize)

    def open_settings(self) -> None:
        self.settings.open()

    def open_sizes(self) -> None:
        if self._sizes_window is None:
            window = self._sizes_window = PrefixSizes(self)
            window.clear_requested.connect(self.controller.clear_prefixes)
            window.finished.connect(self._on_sizes_closed)
        self._sizes_window.show()
        self._sizes_window.raise_()
        self.controller.list_prefixes()

    def _on_sizes_closed(self) -> None:
        if self._sizes_window is not None:
            self._sizes_window.deleteLater()
            self._sizes_window = None

    def ask_export(self) -> None:
        if self.controller.open.stored:
            self.ask_export_of(self.controller.open.id)

    def ask_export_of(self, chat_id: str) -> None:
        index = self.sidebar.model.index_of(chat_id)
        title = str(index.data()) if index.isValid() else NEW_CHAT
        ask_export_path(self, title, lambda path: self.controller.export_markdown(chat_id, path))

    def show_problem(self, message: str, remedy: str) -> None:
        self.banner.show_text("problem", f"{message} {remedy}".strip())

    # --- what happens --------------------------------------------------------------------

    def _on_opened(self) -> None:
        self.composer.set_text(self.controller.open.unsent)
        if self.banner.kind != "start":
            self.banner.dismiss()

    def _on_chat_shown(self, chat: Chat, page: BranchPage, same_chat: bool) -> None:
        self._show_title(chat)
        if not same_chat:
            self.inspector.set_chat(chat.id, chat.options, chat.private)
            self._show_draft_pill()
        self.transcript.set_branch(page.messages, same_chat, page.earlier)
        self.sidebar.show_current(chat.id)
        self.header.export_button.setEnabled(bool(page.messages))

    def _show_title(self, chat: Chat) -> None:
        stored = self.controller.open.stored
        title = chat.title if stored else NEW_PRIVATE_CHAT if chat.private else NEW_CHAT
        self.transcript.set_hint(PRIVATE_HINT if chat.private else EMPTY_HINT)
        self.header.private.setVisible(chat.private)
        self.header.set_title(title)
        # the desktop sees this one, and may remember it
        name = "Private chat" if chat.private else title
        self.setWindowTitle(f"{name} – Headstart" if stored else "Headstart")

    def _on_submitted(self, text: str) -> None:
        self.inspector.flush()
        self.controller.send(text)

    def _on_stored(self, chat_id: str) -> None:
        if chat_id == self.controller.open.id:
            self.transcript.scroll_to_end()
        if self.banner.kind == "problem":
            self.banner.dismiss()

    def _on_writing(self, writing: bool) -> None:
        if not writing:
            if self.banner.kind == "server":
                # the answer came after all, or its failure is told
                self.banner.dismiss()
            # what the reply has read is on disk by then
            QTimer.singleShot(SAVED_MS, self.controller.list_prefixes)

    def _on_prefixes(self, use: PrefixUse | None) -> None:
        self.inspector.prefix.set_use(use)
        if self._sizes_window is not None:
            self._sizes_window.set_use(use, self.sidebar.model.titles())

    def _on_model(self, name: str, state: str) -> None:
        self.pill.set_current(name)
        self.pill.show_state(state)
        self.settings.show_state()

    def _on_answering(self, model: AnyModel | None) -> None:
        server = self._server = model if isinstance(model, ServerModel) else None
        host = server.host if server is not None else ""
        self.header.show_host(host)
        self.composer.set_host(host)
        self.inspector.set_server(server)
        self.transcript.set_hint(self._hint(server))
        self._show_draft_pill()

    def _hint(self, server: ServerModel | None) -> str:
        private = self.controller.open.private
        if server is not None:
            kept = "Nothing of this chat is written to disk here.\n" if private else ""
            where = f"{server.name} answers on {server.host}: your words go there."
            return f"Ask something.\n\n{kept}{where}"
        return PRIVATE_HINT if private else EMPTY_HINT

    def _on_draft(self, name: str, loaded: bool) -> None:
        self._loaded_draft = name if loaded else ""
        self._show_draft_pill()

    _loaded_draft = ""

    def _show_draft_pill(self) -> None:
        """The draft of this chat, and whether it is really there; not in a narrow window."""
        chosen = self.inspector.speculation.value
        # a server's guesses are its own business
        guesses = chosen.enabled and self._server is None
        name = Path(chosen.draft).name.removesuffix(".gguf") if guesses else ""
        self.header.show_draft(
            name, loaded=name == self._loaded_draft, room=self.width() >= INSPECTOR_FROM
        )

    def _on_deleted(self, chat_id: str, title: str) -> None:
        short = title if len(title) <= 40 else title[:39] + "…"
        self.toast.show_text(f"Deleted “{short}”", lambda: self.controller.undo_delete(chat_id))

    def _on_settings(self, settings: Settings) -> None:
        if settings.connections != self._connections:
            self._connections = settings.connections
            self.controller.show_model()
        self.inspector.set_settings(settings)
        self.transcript.set_tinted(settings.show_origins)
        self.composer.set_reads_ahead(settings.prefix.read_ahead)
        self._show_draft_pill()
        self.apply_theme()

    # --- looks ---------------------------------------------------------------------------

    def apply_theme(self) -> None:
        """Take over the theme and font that the settings and the system ask for."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        settings = self._preferences.current
        wanted = (settings.theme, settings.text_font, QGuiApplication.styleHints().colorScheme())
        if wanted == self._applied:
            return
        self._applied = wanted
        theme.apply(app, settings.theme, settings.text_font)
        self.header.apply_icons()
        self.sidebar.refresh_theme()
        self.transcript.refresh_theme()
        self.composer.refresh_theme()
        self.banner.refresh_theme()

    _applied: tuple[object, ...] = ()

    def _apply_panels(self) -> None:
        self.sidebar.setVisible(self._preferences.current.show_sidebar)
        self.inspector.setVisible(self._wants_inspector and self.width() >= INSPECTOR_FROM)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow, was = event.size().width() < INSPECTOR_FROM, event.oldSize().width()
        if narrow != (was < INSPECTOR_FROM) or was < 0:
            self.inspector.setVisible(self._wants_inspector and not narrow)
            self._show_draft_pill()
        QTimer.singleShot(0, self._after_resize)

    def _after_resize(self) -> None:
        self.header.elide_title()
        self.toast.place()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        files = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if files:
            event.acceptProposedAction()
            self.controller.open_model_file(files[0])

    def closeEvent(self, event: QCloseEvent) -> None:
        self.inspector.flush()
        self.transcript.close_workers()
        event.accept()
        self.closing.emit()
