"""Assembles the parts that run the models on this computer.

On the event loop's thread.
"""

from __future__ import annotations

from msgspec import Struct

from headstart.chat.answering.battery import Battery
from headstart.chat.answering.calibrating import Calibrating
from headstart.chat.answering.drafts import Drafts
from headstart.chat.answering.engine_watch import EngineWatch
from headstart.chat.answering.idle_unload import IdleUnload
from headstart.chat.answering.loading import Loader
from headstart.chat.answering.local import LocalAnswerer, ModelSources
from headstart.chat.answering.next_prompt import NextPrompt
from headstart.chat.answering.prefill_ahead import PrefillAhead
from headstart.chat.answering.preload import Preload
from headstart.chat.background import Background
from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import (
    BranchChanged,
    Calibrated,
    ChatChanged,
    DraftProgress,
    ModelsChanged,
    ReplyEnded,
    What,
)
from headstart.chat.preferences import Preferences
from headstart.chat.requests import Asked
from headstart.core.events import DraftActivity, GenerationEvent, InMemory, SpeedCurve
from headstart.core.requests import LoadRequest
from headstart.engine.runner import Runner


class LocalModels(Struct, frozen=True):
    answerer: LocalAnswerer
    drafts: Drafts
    calibrating: Calibrating
    preload: Preload
    ahead: PrefillAhead
    loader: Loader
    idle_unload: IdleUnload
    watch: EngineWatch

    def close(self) -> None:
        """End all work done ahead, and begin no more."""
        self.loader.close()
        self.calibrating.cancel()
        self.ahead.cancel()
        self.idle_unload.close()
        self.watch.close()


class _Reactions(Struct, frozen=True):
    """Reactions of the parts to changes elsewhere."""

    loader: Loader
    drafts: Drafts
    prompt: NextPrompt
    ahead: PrefillAhead
    preload: Preload
    branches: Branches
    background: Background
    broadcast: Broadcast

    def connect(self, runner: Runner) -> None:
        on = self.broadcast.on
        on(ModelsChanged, lambda _change: self.drafts.automatic.forget())
        on(ChatChanged, self._on_chat)
        on(BranchChanged, self._on_branch)
        on(ReplyEnded, self._on_ended)
        runner.on_idle(self._on_idle)

    async def _after(self, change: ReplyEnded, asked: Asked | None, since: int) -> None:
        """Prefill the tokens that close the reply, then the chat on show and the typed text."""
        if asked is not None and not self.background.closing:
            # the next prompt begins with this reply's prompt and the reply
            chat = await self.branches.chat(change.chat_id)
            answer = await self.branches.message(change.chat_id, change.message_id)
            if chat is not None and answer is not None:
                self.prompt.know(chat, [*asked.branch, answer], since)
        if not self.background.closing:
            self.ahead.used(change.chat_id)
            await self.ahead.prefill(change.chat_id)
            if self.ahead.shown != change.chat_id:
                await self.ahead.prefill_shown()

    def _on_ended(self, change: ReplyEnded) -> None:
        loaded, asked = self.loader.loaded, self.loader.end_reply(change.chat_id)
        if asked is not None and loaded is not None:
            self.background.run(self._learn(change, loaded))
        self.background.run(self._after(change, asked, self.prompt.forget()))

    def _on_chat(self, change: ChatChanged) -> None:
        self.prompt.forget()
        if change.what is What.OPTIONS:
            self.background.run(self.preload.draft_chosen(change.chat_id))

    def _on_branch(self, change: BranchChanged) -> None:
        self.prompt.forget()
        self.ahead.used(change.chat_id)
        if not self.loader.busy:
            self.background.run(self.ahead.prefill(change.chat_id))

    def _on_idle(self, event: GenerationEvent) -> None:
        """Pass on the idle engine's measurements, and its restart."""
        if isinstance(event, InMemory):
            self.loader.follow_memory(event)
        if self.loader.loaded is None:
            return
        if isinstance(event, DraftActivity):
            self.broadcast.tell(DraftProgress(self.loader.loaded.pair, event))
        elif isinstance(event, SpeedCurve):
            self.broadcast.tell(Calibrated(self.loader.loaded.pair, event))

    async def _learn(self, change: ReplyEnded, loaded: LoadRequest) -> None:
        """Remember the draft's gain from a reply."""
        answer = await self.branches.message(change.chat_id, change.message_id)
        if answer is not None and answer.stats is not None:
            await self.drafts.automatic.learn(loaded.model, loaded.draft, answer.stats)


def make_local_models(
    runner: Runner,
    sources: ModelSources,
    branches: Branches,
    preferences: Preferences,
    broadcast: Broadcast,
    background: Background,
) -> LocalModels:
    loader = Loader(runner, preferences, broadcast)
    drafts = Drafts(sources.models, branches, preferences)
    prompt = NextPrompt(branches, drafts, loader, preferences, sources)
    ahead = PrefillAhead(runner, preferences, prompt.request, broadcast, Battery())
    loader.on_request(ahead.cancel)
    preload = Preload(loader, drafts, ahead, preferences, broadcast)

    _Reactions(loader, drafts, prompt, ahead, preload, branches, background, broadcast).connect(
        runner
    )
    watch = EngineWatch(runner, broadcast)
    watch.begin()
    answerer = LocalAnswerer(runner, loader, drafts, sources, preferences)
    return LocalModels(
        answerer,
        drafts,
        Calibrating(runner, loader, drafts, broadcast),
        preload,
        ahead,
        loader,
        IdleUnload(loader, preferences, broadcast, background),
        watch,
    )
