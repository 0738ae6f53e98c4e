"""The page of settings: created on first use, and connected with the controllers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from headstart.chat.preferences import Preferences
from headstart.core.beginnings import Beginning, BegunKind
from headstart.core.settings.schema import Settings, ToolApproval
from headstart.core.told import Told, told
from headstart.ui.controllers.everything import Controllers
from headstart.ui.wording import say

if TYPE_CHECKING:
    from headstart.ui.settings.page import SettingsPage
    from headstart.ui.settings.shortcuts_page import Keys


class SettingsOpener(QObject):
    """`page` is None until first use; `opened` asks the window to show it."""

    opened = Signal()
    closed = Signal()
    command_wanted = Signal(str)
    restore_wanted = Signal(str)  # the path of a backup

    def __init__(self, controllers: Controllers, preferences: Preferences, parent: QWidget) -> None:
        super().__init__(parent)
        self._servers = controllers.servers
        self._discover = controllers.discover
        self._backups = controllers.backups
        self._updates = controllers.updates
        self._tools = controllers.tools
        self._tool_servers = controllers.tools.servers
        self._server = controllers.server
        self._knowledge = controllers.knowledge
        self._beginnings = controllers.beginnings
        self._reload = controllers.models.reload
        self._preferences = preferences
        # every key of the window, for the page that lists them
        self.keys: Callable[[], Keys] = tuple
        self.page: SettingsPage | None = None
        self._shown_knowledge = preferences.current.knowledge
        preferences.listen(self._on_settings)
        controllers.installed.loaded.connect(lambda _models: self._show_state())

    def open(self, page: str = "") -> SettingsPage:
        """Show the settings: one of their pages, or the last shown one."""
        shown = self.make()
        if page:
            shown.show_page(page)
        if shown.page == "servers":
            self._servers.look_around()
        self._backups.list()
        self.opened.emit()
        return shown

    def make(self) -> SettingsPage:
        if self.page is None:
            # imported on first use, not at the start of the program
            from headstart.ui.settings.page import SettingsPage

            parent = self.parent()
            assert isinstance(parent, QWidget)
            self.page = SettingsPage(self._preferences.current, self.keys(), parent)
            self._connect(self.page)
        return self.page

    def _connect(self, page: SettingsPage) -> None:
        page.closed.connect(self.closed)
        page.changed.connect(lambda changes: self._preferences.update(**changes))
        page.expert.reload_requested.connect(self._reload)
        page.models.token.entered.connect(self._discover.set_token)
        page.models.token.forgotten.connect(lambda: self._discover.set_token(""))
        self._connect_tools(page)
        page.general.updates.asked.connect(self._updates.look_now)
        # the commands open the sheets
        for signal, name in (
            (page.files.imported, "chats.import"),
            (page.files.folder_imported, "chats.import_folder"),
            (page.files.exported, "chats.export"),
            (page.privacy.trash_wanted, "chats.trash"),
            (page.cache.sizes_requested, "cache.sizes"),
            (page.guide_wanted, "help.guide"),
            (page.privacy.guide_wanted, "help.privacy"),
            (page.about_wanted, "help.about"),
            (page.appearance.restart_wanted, "app.restart"),
            (page.tools.guide_wanted, "help.tools"),
            (page.server.guide_wanted, "help.server"),
            (page.knowledge.guide_wanted, "help.knowledge"),
            (page.knowledge.search_wanted, "files.search"),
            (page.knowledge.models_wanted, "models.embedders"),
            (page.knowledge.small_model_wanted, "models.small_embedder"),
        ):
            signal.connect(lambda name=name: self.command_wanted.emit(name))
        self._connect_servers(page)
        self._connect_server(page)
        self._connect_knowledge(page)
        self._connect_files(page)
        self._connect_mirror(page)
        updates = self._updates
        updates.found.connect(lambda version, _page: self._show_update(_newer(version)))
        updates.none_found.connect(lambda: self._show_update(told("no-newer-version")))
        updates.failed.connect(self._show_update)
        token = page.models.show_checked
        self._discover.token_checked.connect(
            lambda name: token(
                say("settings.signed-in-as-name", name=name)
                if name
                else say("settings.token-removed")
            )
        )
        self._discover.token_refused.connect(lambda why, how: token(f"{why} {how}"))
        self._servers.explain()
        self._show_state()

    def _connect_mirror(self, page: SettingsPage) -> None:
        def show_held() -> None:
            mirror = self._preferences.current.mirror_folder
            held = self._beginnings.why_held(BegunKind.MIRROR) if mirror else None
            page.files.show_held(held.text if held is not None else "")

        self._beginnings.changed.connect(lambda _held, _safe: show_held())
        page.files.mirror_begun.connect(
            lambda: self._beginnings.begin_again(Beginning(BegunKind.MIRROR))
        )
        show_held()

    def _connect_servers(self, page: SettingsPage) -> None:
        servers, view = self._servers, page.servers
        view.save_requested.connect(servers.save)
        view.remove_requested.connect(servers.remove)
        view.test_requested.connect(servers.test)
        view.look_requested.connect(servers.look_around)
        view.use_requested.connect(servers.use)
        # their ports are checked once when the page is opened, never in the background
        page.shown.connect(lambda name: servers.look_around() if name == "servers" else None)
        servers.saved.connect(view.select)
        servers.found.connect(view.set_nearby)
        servers.offered.connect(view.show_offer)
        servers.explained.connect(page.engine.set_automatic)
        servers.result.connect(
            lambda which, text, more: (view.add_result if more else view.show_result)(which, text)
        )

    def _connect_server(self, page: SettingsPage) -> None:
        server, view = self._server, page.server
        view.stop_wanted.connect(server.stop)
        view.clear_wanted.connect(server.clear)
        view.new_key_wanted.connect(server.new_key)
        view.forget_wanted.connect(server.forget_kept)
        view.test_wanted.connect(server.test)
        server.changed.connect(view.show_state)
        server.requests.connect(view.show_requests)
        server.models_known.connect(view.show_models)
        server.drafts_known.connect(view.show_drafts)
        server.key_known.connect(view.show_key)
        server.kept_known.connect(view.show_kept)
        server.tested.connect(view.show_tested)
        # nothing is read while the page is not on show
        page.shown.connect(lambda name: server.watch(name == "server"))
        self.closed.connect(lambda: server.watch(False))

    def _connect_knowledge(self, page: SettingsPage) -> None:
        knowledge, view = self._knowledge, page.knowledge
        view.add_requested.connect(knowledge.add)
        view.remove_requested.connect(knowledge.remove)
        view.begin_requested.connect(knowledge.begin_again)
        view.rebuild_requested.connect(knowledge.rebuild)
        knowledge.listed.connect(
            lambda state: view.show_index(state.embedder, state.size, state.sources)
        )
        knowledge.large_found.connect(
            lambda large: view.ask_about_large(large.path, large.files, large.size)
        )
        page.shown.connect(lambda name: knowledge.list() if name == "knowledge" else None)

    def _connect_tools(self, page: SettingsPage) -> None:
        tools, view = self._tool_servers, page.tools
        view.ask_again.connect(self._ask_again)
        view.save_requested.connect(tools.save)
        view.remove_requested.connect(tools.remove)
        view.start_requested.connect(tools.start)
        view.end_requested.connect(tools.end)
        view.restart_requested.connect(tools.restart)
        view.tool_switched.connect(tools.switch_tool)
        view.brief_set.connect(tools.set_brief)
        view.look_requested.connect(tools.look)
        view.file_chosen.connect(tools.read_file)
        view.pasted.connect(tools.paste)
        view.taken.connect(tools.take)
        tools.listed.connect(view.show_servers)
        tools.told.connect(lambda told: view.show_problem(told.text))
        tools.found.connect(view.show_found)
        tools.looked.connect(view.show_looked)
        page.shown.connect(lambda name: tools.watch(name == "tools"))
        self.closed.connect(lambda: tools.watch(False))

    def _ask_again(self, tool: str | ToolApproval) -> None:
        if isinstance(tool, str):
            self._tools.ask_again(tool)
        else:
            self._tool_servers.ask_again(tool)

    def _connect_files(self, page: SettingsPage) -> None:
        view, backups = page.files, self._backups
        view.restore_requested.connect(self.restore_wanted)
        view.backup_requested.connect(backups.make)
        backups.listed.connect(view.set_copies)
        backups.progress.connect(view.show_progress)
        backups.began.connect(lambda: view.show_making(True))
        backups.made.connect(lambda _path, _size: view.show_making(False))
        backups.made.connect(view.show_made)

    def _show_state(self) -> None:
        if self.page is not None:
            self.page.expert.set_state(self._servers.engine_state)

    def _show_update(self, said: Told) -> None:
        if self.page is not None:
            self.page.general.updates.show_said(said.text)

    def _on_settings(self, settings: Settings) -> None:
        if settings.knowledge != self._shown_knowledge:
            self._shown_knowledge = settings.knowledge
            self._knowledge.settings_changed()
        if self.page is not None:
            self.page.follow(settings)
            self._show_state()


def _newer(version: str) -> Told:
    return told("newer-version", version=version)
