"""Replies of a slow server's model, streamed and with a local draft: for `heads`.

The server is a process of its own with the wide model on one thread; it speaks vLLM's protocol,
reading each prompt to be scored from its start as vLLM does, or beginning where its cache ends.
"""

from __future__ import annotations

import asyncio
import statistics

from headstart.chat.answering.server_drafts import Engine, ServerDraft, draft_prompt
from headstart.core.chats.values import Role, TurnStats
from headstart.core.events import Failed, Finished, Notice, TextAdded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage, RemoteRequest
from headstart.core.servers import Connection, ServerKind, ServerModel
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.engine.local import LocalGenerator
from headstart.engine.remote.session import RemoteSession
from headstart.engine.resources import Resources
from headstart.engine.runner import Runner
from headstart.hub.checked import CheckedModelsFile
from tests.benchmarks.peers import bench_cache
from tests.benchmarks.report import Report, spread
from tests.benchmarks.speculation_texts import PROMPTS
from tests.support.scoring_server import scoring_process

TOKENS = 120
_WAYS: dict[str, tuple[ServerKind, bool]] = {
    "caching": ("vllm", True),
    "rereading": ("vllm", False),
    "llama_cpp": ("llama-cpp-python", True),
}


class Asker:
    """Asks one server, with or without a draft."""

    def __init__(self, url: str, kind: ServerKind, draft: ModelRef) -> None:
        self.session = RemoteSession(lambda _account: None)
        checked = CheckedModelsFile(bench_cache() / "checked-models.json")
        self.runner = Runner(lambda: LocalGenerator(Resources(checked)))
        self.model = ServerModel(Connection("s", "Slow", url, "", 600, True, kind), "harbour-7b")
        self.draft = draft

    def close(self) -> None:
        self.session.close()
        self.runner.close()

    async def ask(self, prompt: str, drafted: bool) -> tuple[TurnStats, str]:
        messages = (PromptMessage(Role.USER, prompt, "q"),)
        sampling = Sampling(temperature=0, max_tokens=TOKENS)
        speculation = Speculation(enabled=drafted)
        request = RemoteRequest(self.model, messages, sampling, speculation=speculation)
        load = LoadRequest(self.draft, EngineSettings())
        local = GenerationRequest(load, messages, sampling, speculation=Speculation(enabled=False))
        text_prompt = draft_prompt(self.draft, request) if self.model.checks_text else None
        engine = Engine(self.runner, lambda _event: None, lambda: False, set())
        draft = ServerDraft(engine, local, text_prompt)
        text = ""
        async for event in self.session.stream(request, draft if drafted else None):
            match event:
                case TextAdded():
                    text += "".join(piece.text for piece in event.pieces)
                case Notice():
                    print(f"  {event.told.text}", flush=True)
                case Failed():
                    raise RuntimeError(event.told.text)
                case Finished(stats):
                    return stats, text
        raise AssertionError("no end")

    async def rest(self) -> None:
        """What is learned after a reply; it begins when the reply's stream has been closed."""
        await asyncio.sleep(1.5)
        while self.session.learning:
            await asyncio.sleep(0.05)


def server_drafts(report: Report, wide: ModelRef, draft: ModelRef) -> None:
    for name, (kind, caches) in _WAYS.items():
        with scoring_process(wide.path, kind, caches, threads=1) as url:
            asker = Asker(url, kind, draft)
            asyncio.run(_measure(report, name, asker))
            asker.close()


async def _measure(report: Report, name: str, asker: Asker) -> None:
    # the first reply of a pair is only learned from
    await asker.ask(PROMPTS["chat"][4], drafted=True)
    await asker.rest()
    ratios, accepted, verified = [], 0, 0
    for prompt in [prompt for kind in ("prose", "chat", "code") for prompt in PROMPTS[kind][:3]]:
        before, _ = await asker.ask(prompt, drafted=False)
        stats, _ = await asker.ask(prompt, drafted=True)
        await asker.rest()
        after, _ = await asker.ask(prompt, drafted=False)
        plain = (_speed(before) + _speed(after)) / 2
        ratios.append(_speed(stats) / plain)
        if stats.speculation is not None:
            accepted += stats.speculation.accepted
            verified += stats.speculation.verified
        print(f"  {name}: {ratios[-1]:.3f} of {plain:.1f} tokens/s", flush=True)
    suffix = "" if name == "caching" else f"_{name}"
    wanted = "1.0, never below 0.97"
    report.add(f"server_draft_vs_stream{suffix}", statistics.median(ratios), wanted, spread(ratios))
    report.add(f"server_draft_least{suffix}", min(ratios), "0.97")
    if verified:
        report.add(f"server_draft_acceptance{suffix}", accepted / verified)


def _speed(stats: TurnStats) -> float:
    """Tokens a second from the request on: what is waited for first counts as well."""
    return stats.generated_tokens / ((stats.first_token_seconds or 0.0) + stats.generate_seconds)
