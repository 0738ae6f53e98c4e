"""Connects the inspector with the controllers, and opens the window of cached prompts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from headstart.chat.preferences import Preferences
from headstart.chat.tool_servers.shown import ShownToolServer
from headstart.core.chats.values import Chat
from headstart.core.prefixes import PrefixUse
from headstart.ui.controllers.everything import Controllers
from headstart.ui.inspector.inspector import Inspector
from headstart.ui.kit.one_window import OneWindow

if TYPE_CHECKING:
    from headstart.ui.inspector.choose_tools_sheet import ChooseToolsSheet
    from headstart.ui.inspector.prefix_sizes import PrefixSizes


def connect(inspector: Inspector, controllers: Controllers, preferences: Preferences) -> None:
    branch, speculation = controllers.branch, controllers.speculation
    panel, prefix, form = inspector.speculation, inspector.prefix, inspector.answer_format

    def show(chat: Chat, _page: object, same_chat: bool) -> None:
        if not same_chat:
            inspector.set_chat(chat)
        else:
            inspector.set_above(chat.above)

    inspector.options_changed.connect(controllers.chat.set_options)
    inspector.sections_changed.connect(lambda names: preferences.state.update(open_sections=names))
    branch.chat_shown.connect(show)
    branch.stats_shown.connect(inspector.set_stats)
    inspector.presets_changed.connect(lambda presets: preferences.update(presets=presets))
    form.check_requested.connect(controllers.formats.check)
    controllers.formats.checked.connect(form.set_checked)
    controllers.models.advised.connect(inspector.set_advice)
    controllers.models.thinking_known.connect(inspector.thinking.set_choices)
    controllers.reply.speculating.connect(panel.set_live)
    panel.tint_changed.connect(lambda on: preferences.update(show_origins=on))
    panel.calibrate_requested.connect(speculation.calibrate)
    panel.cancel_requested.connect(speculation.cancel_calibrating)
    speculation.drafts_listed.connect(panel.set_choices)
    speculation.activity_changed.connect(panel.live.show_activity)
    speculation.measured.connect(panel.set_calibrated)
    controllers.prefixes.listed.connect(prefix.set_use)
    controllers.tools.costs_known.connect(inspector.tools.set_costs)
    controllers.knowledge.listed.connect(
        lambda state: inspector.knowledge.show_sources(state.sources)
    )
    controllers.knowledge.pinning.pinned.connect(inspector.knowledge.pinned.show_states)
    inspector.knowledge.pinned.renewed.connect(controllers.knowledge.pinning.pin_again)
    ToolsChooser(inspector, controllers)


class ToolsChooser(QObject):
    """Opens the sheet that chooses single tools of a server."""

    window: OneWindow[ChooseToolsSheet] = OneWindow()

    def __init__(self, inspector: Inspector, controllers: Controllers) -> None:
        super().__init__(inspector)
        self._inspector = inspector
        self._servers = controllers.tools.servers
        self._wanted = ""
        self._panel = inspector.tools.servers
        self._panel.choose_wanted.connect(self._ask)
        self._panel.brief_wanted.connect(lambda one: self._servers.set_brief(one, True))
        self._servers.listed.connect(self._open)

    def _ask(self, server_id: str) -> None:
        self._wanted = server_id
        self._servers.show()

    def _open(self, shown: list[ShownToolServer]) -> None:
        server_id, self._wanted = self._wanted, ""
        found = next((one for one in shown if one.server.id == server_id), None)
        if found is None:
            return
        from headstart.ui.inspector.choose_tools_sheet import ChooseToolsSheet

        choice = self._inspector.holding.effective.tools_from
        begin = f"{server_id}/"
        on = [one.removeprefix(begin) for one in choice if one.startswith(begin)]
        all_on = server_id in choice
        sheet = self.window = ChooseToolsSheet(found, None if all_on else on, self._inspector)
        sheet.chosen.connect(lambda tools: self._panel.set_tools(server_id, tools))
        sheet.open()


class SizesOpener(QObject):
    """`titles` returns the chats' titles by id."""

    window: OneWindow[PrefixSizes] = OneWindow()

    def __init__(
        self, parent: QWidget, controllers: Controllers, titles: Callable[[], dict[str, str]]
    ) -> None:
        super().__init__(parent)
        self._parent = parent
        self._prefixes = controllers.prefixes
        self._titles = titles
        self._prefixes.listed.connect(self._show)

    def open(self) -> None:
        if self.window is None:
            # imported on first use, not at the start of the program
            from headstart.ui.inspector.prefix_sizes import PrefixSizes

            window = self.window = PrefixSizes(self._parent)
            window.clear_chat_requested.connect(self._prefixes.clear_chat)
            window.clear_all_requested.connect(self._prefixes.clear_all)
        else:
            window = self.window
        window.show()
        window.raise_()
        self._prefixes.list()

    def _show(self, use: PrefixUse | None) -> None:
        if self.window is not None:
            self.window.set_use(use, self._titles())
