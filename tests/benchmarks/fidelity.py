"""Whether models get their chats as their templates mean it, and replies come out without markup.

Over llama.cpp's own templates and vocabularies. Also how long a paste takes to be guarded against
control tokens, with as many of them as the largest vocabularies have; how soon a cancelled load
ends; and whether the memory that a model takes is what was estimated.
"""

from __future__ import annotations

import os
import shutil
import statistics
from pathlib import Path
from time import perf_counter

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.decoder import DecodeAborted
from headstart.engine.template import TemplateError, choose
from headstart.engine.token_finder import TokenFinder
from tests.benchmarks.fit import add_fit
from tests.benchmarks.peers import bench_cache
from tests.benchmarks.prefix import wide
from tests.benchmarks.report import Report, json_path, spread
from tests.models.llama_source import templates
from tests.support.reply_samples import SAMPLES, read

TOKENS, LETTERS, ROUNDS = 6_249, 100_000, 15
COLD, TRIES = 4 << 30, 5
CHAT = (
    PromptMessage(Role.SYSTEM, "Answer in rhymes."),
    PromptMessage(Role.USER, "Where is Lisbon?"),
    PromptMessage(Role.ASSISTANT, "In Portugal.", reasoning="It lies by the sea."),
    PromptMessage(Role.USER, "And Porto?"),
)


def main() -> None:
    path = json_path(__doc__ or "")
    report = Report("fidelity (prompts, replies)")
    _templates(report)
    _formats(report)
    _guarding(report)
    _cancelling(report)
    add_fit(report)
    report.write(path)


def _templates(report: Report) -> None:
    right, known = 0, templates()
    for name, source in known.items():
        template = choose(source, "<s>", "</s>", frozenset())
        problem = template.fallback.text if template.fallback is not None else ""
        if not problem:
            try:
                shown = template.render(CHAT)
            except TemplateError as error:
                problem = f"fails: {error}"
            else:
                missing = [message.text for message in CHAT if shown.count(message.text) != 1]
                problem = f"leaves out {missing}" if missing else ""
        right += not problem
        if problem:
            print(f"  {name}: {problem}")
    report.add("templates_right", right, f"{len(known)} of {len(known)}")


def _formats(report: Report) -> None:
    right, tried = 0, 0
    for sample in SAMPLES:
        for size in (1, 7, 1_000_000):
            tried += 1
            if read(sample, size) == (sample.reasoning, sample.text):
                right += 1
            else:
                print(f"  {sample.template} in pieces of {size}: {read(sample, size)}")
    report.add("formats_right", right / tried, "1.0", f"({len(SAMPLES)} replies, 3 sizes)")


def _guarding(report: Report) -> None:
    finder = TokenFinder(f"<unused{number}>" for number in range(TOKENS))
    line = '<div class="a"><p>A <b>river</b> <unused12> runs.</p></div>\n'
    text = line * (LETTERS // len(line))
    seconds = []
    for _ in range(ROUNDS):
        began = perf_counter()
        found = sum(1 for _ in finder.find(text))
        seconds.append(perf_counter() - began)
        assert found == LETTERS // len(line)
    report.add(
        "control_tokens_ms",
        1e3 * statistics.median(seconds),
        "at most 20",
        spread([1e3 * each for each in seconds]),
    )


def _cancelling(report: Report) -> None:
    """From the wish to stop to the end of loading, with a file of 4 GB that is not in memory."""
    path = bench_cache() / "cold-4gb.gguf"
    if not path.exists() or path.stat().st_size != COLD:
        shutil.copyfile(wide(), path)
        block = os.urandom(1 << 24)
        with path.open("ab") as file:
            while file.tell() < COLD:
                file.write(block[: COLD - file.tell()])
            os.fsync(file.fileno())
    waits = []
    for number in range(TRIES):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        waits.append(_cancelled_after(path, 0.4 + 0.3 * number))
    report.add("load_cancel_s", max(waits), "at most 0.3", f"the worst of {TRIES}")
    path.unlink()


def _cancelled_after(path: Path, seconds: float) -> float:
    began, wished = perf_counter(), 0.0

    def progress(_fraction: float) -> bool:
        # the wish comes while nobody looks: at the worst, right after the last look
        return perf_counter() < began + seconds

    try:
        LlamaCppDecoder(path, EngineSettings(), progress).close()
    except DecodeAborted:
        wished = perf_counter() - (began + seconds)
    return wished


if __name__ == "__main__":
    main()
