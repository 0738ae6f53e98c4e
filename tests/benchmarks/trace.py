"""What the time of a reply is made of: `python -m tests.benchmarks.trace`.

Parts exclude what they call, so that they add up to the whole. The wide 1.2 B target with the
starter model as its draft; replies to prompts of each class, after one that makes the pair known.
"""

from __future__ import annotations

import functools
import statistics
from collections import defaultdict
from collections.abc import Callable
from time import perf_counter
from typing import Any

from headstart.core.settings.schema import Speculation
from headstart.engine.backends.llama_cpp import context as llama_context
from headstart.engine.backends.llama_cpp import sampler as llama_sampler
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.speculation import (
    draft_model,
    earlier,
    history,
    loop,
    outcome,
    prompt_lookup,
    recycling,
)
from headstart.engine.speculation.depth import choice
from headstart.hub.library import ref, starter_model
from tests.benchmarks.peers import bench_cache
from tests.benchmarks.report import Report, json_path
from tests.benchmarks.speculation_runs import Engine, Run
from tests.benchmarks.speculation_texts import EARLIER, PROMPTS

TOKENS = 200
AUTO = Speculation(draft="draft")


class Trace:
    """Seconds and calls by part. One thread."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        self._stack = ["else"]
        self._since = perf_counter()

    def _switch(self) -> None:
        now = perf_counter()
        self.seconds[self._stack[-1]] += now - self._since
        self._since = now

    def enter(self, part: str) -> None:
        self._switch()
        self._stack.append(part)
        self.calls[part] += 1

    def leave(self) -> None:
        self._switch()
        self._stack.pop()

    def begin(self) -> None:
        self.seconds.clear()
        self.calls.clear()
        self._since = perf_counter()

    def end(self) -> None:
        self._switch()

    def watch(self, owner: Any, name: str, part: str | Callable[..., str]) -> None:
        """Count a method's time as a part's; `part` may depend on what it is called with."""
        inner = getattr(owner, name)

        @functools.wraps(inner)
        def watched(*given: Any, **more: Any) -> Any:
            self.enter(part if isinstance(part, str) else part(*given))
            try:
                return inner(*given, **more)
            finally:
                self.leave()

        setattr(owner, name, watched)


def watch(trace: Trace, target: LlamaCppDecoder, draft: LlamaCppDecoder) -> None:
    whose = {id(target.llama): "target", id(draft.llama): "draft"}

    def forward(llama: Any, _batch: Any, count: int) -> str:
        who = whose.get(id(llama), "else")
        return f"{who}: forward of {'one' if count == 1 else 'several'}"

    def decoder(one: Any, *_given: Any) -> str:
        return "target: around a forward" if one is target else "draft: around a forward"

    trace.watch(llama_context.LlamaContext, "decode", forward)
    trace.watch(LlamaCppDecoder, "forward", decoder)
    trace.watch(LlamaCppDecoder, "truncate", "taking back")
    trace.watch(LlamaCppDecoder, "keep", "taking back")
    for name in ("draw", "predict", "likeliest", "accept", "mark", "rewind"):
        label = "choosing tokens (numpy)" if name in ("draw", "predict", "likeliest") else "sampler"
        trace.watch(llama_sampler.LlamaCppSampler, name, label)
    trace.watch(choice.Depth, "plan", "depth")
    for name in ("go_on", "cut", "branches"):
        trace.watch(choice.Depth, name, "depth")
    for name in ("extend", "find", "sync", "continuation", "copied"):
        trace.watch(prompt_lookup.PromptLookup, name, "repeats")
    trace.watch(recycling.Recycling, "wrote", "earlier chats")
    trace.watch(history.History, "chain", "earlier chats")
    trace.watch(earlier.EarlierChats, "begin", "earlier chats")
    trace.watch(loop, "learn_outcome", "learning")
    trace.watch(outcome, "learn_repeat", "learning")
    trace.watch(draft_model.DraftModel, "draft", "draft: its chain")
    trace.watch(draft_model.DraftModel, "prefill", "draft: reading")
    trace.watch(loop.Speculator, "_verify", "loop: verifying")
    trace.watch(loop.Speculator, "step", "loop")


def main() -> None:
    path = json_path(__doc__ or "")
    starter = starter_model()
    assert starter is not None
    wide = ref(bench_cache() / "wide-1.2b-q8_0.gguf")
    engine = Engine(wide, starter)
    engine.calibrate()
    report = Report("trace of a reply (shares of its time)")
    trace = Trace()
    assert engine.state.draft is not None
    for prompt in EARLIER:
        engine.run(prompt, TOKENS, AUTO, chat_id="chat")
    watch(trace, engine.decoder, engine.state.draft.decoder)  # type: ignore[arg-type]
    for kind, prompts in PROMPTS.items():
        runs: list[tuple[dict[str, float], dict[str, int], float, Run]] = []
        for prompt in prompts[:3]:
            trace.begin()
            began = perf_counter()
            run = engine.run(prompt, TOKENS, AUTO, chat_id="chat")
            trace.end()
            runs.append((dict(trace.seconds), dict(trace.calls), perf_counter() - began, run))
        print(kind)
        parts = sorted({part for seconds, *_ in runs for part in seconds})
        shares = {
            part: statistics.median(
                [seconds.get(part, 0.0) / whole for seconds, _, whole, _ in runs]
            )
            for part in parts
        }
        for part, share in sorted(shares.items(), key=lambda one: -one[1]):
            calls = statistics.median([calls.get(part, 0) for _, calls, _, _ in runs])
            print(f"  {share:6.1%}  {part} ({calls:.0f} times)")
            report.add(f"{kind}: {part}", share)
        whole = [sum(seconds.values()) / total for seconds, _, total, _ in runs]
        report.add(f"{kind}: sum", statistics.median(whole), "1.0")
    report.write(path)
    engine.close()


if __name__ == "__main__":
    main()
