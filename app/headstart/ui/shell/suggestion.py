"""The way from the starter model to a good one: a line that offers it, then shows its download, and
then puts it to use. Main thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from headstart.chat.preferences import Preferences
from headstart.core.chats.values import BranchPage, Chat
from headstart.core.hub.downloads import ACTIVE, Download, DownloadState
from headstart.core.models.installed import InstalledModel
from headstart.core.models.recommended import Recommended
from headstart.core.models.ref import ModelRef
from headstart.ui.commands import Commands
from headstart.ui.controllers.everything import Controllers
from headstart.ui.kit.joining import commas
from headstart.ui.shell.note_line import Action, NoteLine
from headstart.ui.wording import say

STARTER = "starter"
_OFFER, _COMING, _HERE = "offer", "coming", "here"


class Suggesting(QObject):
    """Decides the text of the line."""

    def __init__(
        self,
        line: NoteLine,
        controllers: Controllers,
        commands: Commands,
        preferences: Preferences,
    ) -> None:
        super().__init__(line)
        self._line = line
        self._controllers = controllers
        self._commands = commands
        self._preferences = preferences
        self._model: Recommended | None = None
        self._starter = ""
        self._only_starter = self._empty = False
        self._asked = False
        self._installed: list[InstalledModel] = []
        # ids of the downloads begun from the line, the model's first
        self._wanted: tuple[str, ...] = ()
        self._downloads: dict[str, Download] = {}
        # the file of a downloaded model, until it is listed
        self._came = ""
        controllers.installed.listed.connect(self._on_installed)
        controllers.downloads.changed.connect(self._on_downloads)
        controllers.branch.chat_shown.connect(self._on_chat)
        controllers.conversation.message_stored.connect(self._on_message)
        controllers.discover.suggested.connect(self._on_suggested)
        controllers.getting.recommended_queued.connect(self._on_queued)
        controllers.getting.not_queued.connect(self._on_not_queued)

    # --- offering it ---------------------------------------------------------------------

    def _show(self) -> None:
        busy = bool(self._wanted) or any(one.state in ACTIVE for one in self._downloads.values())
        wanted = self._only_starter and not busy
        if wanted and not self._asked:
            self._asked = True
            self._controllers.discover.suggest()
        model = self._model
        # a dismissal applies to this model only
        known = model is None or model.repo == self._preferences.state.current.offer_dismissed
        if model is None or known or not (wanted and self._empty):
            self._line.withdraw(_OFFER)
            return
        offer = say("shell.good-for-computer")
        if self._starter:
            offer = f"{say('shell.starter-tiny-model-to-try', starter=self._starter)} {offer}"
        self._line.say(
            _OFFER,
            offer,
            [
                (say("shell.get-model", name=model.name, size=model.size_gb), self._get),
                (say("shell.other-models"), lambda: self._commands.run("models.discover")),
            ],
            self._dismiss,
        )

    def _get(self) -> None:
        if self._model is not None:
            self._line.say(_OFFER, say("shell.asking-for", name=self._model.name))
            self._controllers.getting.get_recommended(self._model)

    def _dismiss(self) -> None:
        if self._model is not None:
            self._preferences.state.update(offer_dismissed=self._model.repo)
        self._show()

    def _on_not_queued(self) -> None:
        """Show the offer again: the hub is not available."""
        self._show()

    def _on_queued(self, choice: Recommended, ids: tuple[str, ...]) -> None:
        self._model, self._wanted = choice, ids
        self._line.withdraw(_OFFER)
        self._show_coming()

    # --- during the download -------------------------------------------------------------

    def _on_downloads(self, downloads: tuple[Download, ...]) -> None:
        self._downloads = {one.id: one for one in downloads}
        if not self._wanted and self._only_starter:
            # downloads begun before a restart
            going = [one.id for one in downloads if one.state is not DownloadState.DONE]
            self._wanted = tuple(going)
        self._show_coming()
        self._show()

    def _show_coming(self) -> None:
        mine = [self._downloads[one] for one in self._wanted if one in self._downloads]
        if self._wanted and self._downloads and not mine:
            # cancelled on the page about models
            self._wanted = ()
        if not mine:
            self._line.withdraw(_COMING)
            return
        first = mine[0]
        left = [one for one in mine if one.state is not DownloadState.DONE]
        if not left:
            self._wanted = ()
            self._line.withdraw(_COMING)
            self._came = first.path
            self._controllers.installed.look()
            return
        name = self._model.name if self._model is not None else first.wanted.title
        self._line.say(_COMING, self._progress(name, mine, left), self._actions(left))

    @staticmethod
    def _progress(name: str, mine: list[Download], left: list[Download]) -> str:
        size = sum(one.wanted.size for one in mine)
        share = sum(one.received for one in mine) / max(1, size)
        words = [say("shell.name-share-of-size", name=name, share=share, size=size)]
        stopped = next((one for one in left if one.state is DownloadState.FAILED), None)
        running = next((one for one in left if one.state is DownloadState.RUNNING), None)
        if stopped is not None:
            words.append(
                stopped.reason.text if stopped.reason is not None else say("shell.stopped")
            )
        elif running is not None and running.speed > 0:
            rest = sum(one.wanted.size - one.received for one in left)
            words.append(say("shell.rest-left", rest=rest / running.speed))
        elif all(one.state is DownloadState.PAUSED for one in left):
            words.append(say("shell.paused"))
        elif any(one.state is DownloadState.CHECKING for one in left):
            words.append(say("shell.checking"))
        elif left[0].reason is not None:
            words.append(left[0].reason.text)
        return commas(words)

    def _actions(self, left: list[Download]) -> list[Action]:
        downloads = self._controllers.downloads
        going = [one.id for one in left if one.state in ACTIVE]
        still = [one.id for one in left if one.state not in ACTIVE]

        def all_of(act: Callable[[str], None], ids: list[str]) -> Callable[[], object]:
            def run() -> None:
                for one in ids:
                    act(one)

            return run

        if going:
            return [(say("shell.pause"), all_of(downloads.pause, going))]
        failed = any(one.state is DownloadState.FAILED for one in left)
        name = say("shell.try-again") if failed else say("shell.resume")
        return [(name, all_of(downloads.resume, still))]

    # --- after the download --------------------------------------------------------------

    def _on_installed(self, models: list[InstalledModel]) -> None:
        self._installed = models
        self._only_starter = all(model.source == STARTER for model in models)
        self._starter = next((one.ref.name for one in models if one.source == STARTER), "")
        if self._came:
            self._take_over()
        self._show()

    def _take_over(self) -> None:
        """Use the downloaded model for new chats: an empty chat gets it at once, another one offers
        it."""
        found = next((one for one in self._installed if one.ref.key == self._came), None)
        if found is None:
            return
        self._came = ""
        if found.about.no_chat:
            # a head only drafts, and answers no chat
            return
        ref = found.ref
        self._controllers.installed.use_for_new(ref)
        if self._empty:
            self._controllers.models.choose(ref)
            return
        self._line.say(
            _HERE,
            say("shell.used-for-new-chats", name=ref.name),
            [(say("shell.use-in-this-chat"), lambda: self._use(ref))],
            lambda: None,
        )

    def _use(self, ref: ModelRef) -> None:
        self._line.withdraw(_HERE)
        self._controllers.models.choose(ref)

    def _on_chat(self, _chat: Chat, page: BranchPage, _same: bool) -> None:
        self._empty = not page.messages
        if self._empty:
            self._line.withdraw(_HERE)
        self._show()

    def _on_message(self, _chat_id: str) -> None:
        self._empty = False
        self._show()

    def _on_suggested(self, model: Recommended) -> None:
        if not self._wanted:
            self._model = model
        self._show()
