"""The models on this computer, put together: what each verb does when the others act.

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
        """Whatever is done ahead ends, and nothing more begins."""
        self.loader.close()
        self.calibrating.cancel()
        self.ahead.cancel()
        self.idle_unload.close()
        self.watch.close()


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
    prompt = NextPrompt(branches, drafts, loader, preferences, sources.images)
    ahead = PrefillAhead(runner, preferences, prompt.request, broadcast, Battery())
    loader.on_request(ahead.cancel)
    preload = Preload(loader, drafts, ahead, preferences, broadcast)

    async def after(change: ReplyEnded, asked: Asked | None, since: int) -> None:
        """The tokens that close the reply; then whatever is looked at and typed."""
        if asked is not None and not background.closing:
            # the next prompt begins with what this reply was made of
            chat = await branches.chat(change.chat_id)
            answer = await branches.message(change.chat_id, change.message_id)
            if chat is not None and answer is not None:
                prompt.know(chat, [*asked.branch, answer], since)
        if not background.closing:
            ahead.used(change.chat_id)
            await ahead.prefill(change.chat_id)
            if ahead.shown != change.chat_id:
                await ahead.prefill_shown()

    def on_ended(change: ReplyEnded) -> None:
        loaded, asked = loader.loaded, loader.end_reply(change.chat_id)
        if asked is not None and loaded is not None:
            background.run(learn(change, loaded))
        background.run(after(change, asked, prompt.forget()))

    def on_chat(change: ChatChanged) -> None:
        prompt.forget()
        if change.what is What.OPTIONS:
            background.run(preload.draft_chosen(change.chat_id))

    def on_branch(change: BranchChanged) -> None:
        prompt.forget()
        ahead.used(change.chat_id)
        if not loader.busy:
            background.run(ahead.prefill(change.chat_id))

    def on_idle(event: GenerationEvent) -> None:
        """What the engine learned while nobody asked for anything; or that it was restarted."""
        if isinstance(event, InMemory):
            loader.follow_memory(event)
        if loader.loaded is None:
            return
        if isinstance(event, DraftActivity):
            broadcast.tell(DraftProgress(loader.loaded.pair, event))
        elif isinstance(event, SpeedCurve):
            broadcast.tell(Calibrated(loader.loaded.pair, event))

    async def learn(change: ReplyEnded, loaded: LoadRequest) -> None:
        """Remember the draft's gain in a reply."""
        answer = await branches.message(change.chat_id, change.message_id)
        if answer is not None and answer.stats is not None:
            await drafts.automatic.learn(loaded.model, loaded.draft, answer.stats)

    broadcast.on(ModelsChanged, lambda _change: drafts.automatic.forget())
    broadcast.on(ChatChanged, on_chat)
    broadcast.on(BranchChanged, on_branch)
    broadcast.on(ReplyEnded, on_ended)
    runner.on_idle(on_idle)
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
