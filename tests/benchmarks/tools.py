"""Tool calls: forms that are proved, grammars, and steps that are never processed twice.

`python -m tests.benchmarks.tools --json FILE`. Templates and tokens that are bytes, and for
`forced_vs_plain` the starter model.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import numpy as np

from headstart.core.chats.values import FinishReason, Role
from headstart.core.events import Finished, GenerationEvent
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.core.tools import NO_TOOLS, Choosing, ToolChoice, Tools, ToolSpec
from headstart.engine.local import LocalGenerator
from headstart.engine.markup.tool_calls.lark import call_grammar
from headstart.engine.prompt import PromptEncoder
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.engine.template import choose
from headstart.engine.tool_probe import probe
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.library import starter_model
from tests.benchmarks.report import Report, json_path
from tests.models.llama_source import templates
from tests.support.byte_decoder import byte_encoder
from tests.support.cut_calls import faults, pushed, replies
from tests.support.foreign_places import PAIRS, PLACES, Asked, control_tokens, cuts
from tests.support.run_calls import DIALECTS, ended, runs
from tests.support.tool_forms import READ, RUN, grammar_of, read, schema_of, shapes, walks
from tests.support.tool_sessions import Session

WALKS, STEPS, TIMES = 100, 8, 9
# tools and keys of the largest list that a client sends
TOOLS, KEYS = 25, 9


def _client_tools(seed: int) -> list[ToolSpec]:
    """Made-up tools of the size of real ones."""
    rng = random.Random(seed)
    kinds = ("string", "string", "integer", "boolean", "array")
    found = []
    for number in range(TOOLS):
        count = rng.randint(1, KEYS)
        properties = {
            f"key_{key}": {"type": rng.choice(kinds), "description": "x" * 60}
            for key in range(count)
        }
        schema = {"type": "object", "properties": properties, "required": list(properties)[:2]}
        found.append(ToolSpec(f"tool_{number}", "y" * 400, json.dumps(schema)))
    return found


def _grammars(report: Report) -> None:
    from llguidance import LLMatcher, LLTokenizer
    from llguidance.numpy import fill_next_token_bitmask

    tokenizer = LLTokenizer("byte")
    compiled, masks = [], []
    for _, layout, _ in shapes().values():
        began = time.perf_counter()
        text = call_grammar(layout, _client_tools(1), lambda text: (text,))
        matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(text), log_level=0)
        compiled.append((time.perf_counter() - began) * 1000)
        bits = np.zeros((1, (tokenizer.vocab_size + 31) // 32), np.int32)
        for _ in range(50):
            began = time.perf_counter()
            fill_next_token_bitmask(matcher, bits, 0)
            masks.append((time.perf_counter() - began) * 1000)
            ways = np.flatnonzero(
                np.unpackbits(bits.view(np.uint8)[0], count=256, bitorder="little")
            )
            if not len(ways):
                break
            matcher.try_consume_tokens([int(ways[0])])
    report.add(
        "grammar_compile_ms",
        statistics.median(compiled),
        "at most 15",
        f"worst {max(compiled):.0f}",
    )
    report.add("grammar_mask_ms", statistics.mean(masks), "at most 0.25", "a vocabulary of bytes")


def _valid(report: Report) -> None:
    ended = right = 0
    for way, layout, _ in shapes().values():
        for text in walks(grammar_of(way, layout, RUN), WALKS, 7):
            calls, rest = read(way, text, RUN.name if way.form.header else "", size=11)
            ended += 1
            right += bool(calls) and not rest.strip() and all(map(_fits, calls))
    report.add("grammar_valid", right / ended, "1.0", f"{ended} walks over {len(shapes())} layouts")


def _fits(call: tuple[str, str, bool]) -> bool:
    name, arguments, whole = call
    try:
        jsonschema.validate(json.loads(arguments, strict=False), schema_of(name) or {})
    except (ValueError, jsonschema.ValidationError):
        return False
    return whole


def _cuts(report: Report) -> None:
    """Calls that a program would run, although the reply ended inside them and said less."""
    closed = tried = 0
    for reply in replies():
        whole = reply.tool, json.loads(reply.whole)
        for cut in range(len(reply.raw)):
            closed += sum(1 for _ in faults(reply, (cut,)))
            for ends in (True, False):
                pieces = pushed(reply.name, reply.raw[:cut], ended=ends)
                end = ended(FinishReason.END if ends else FinishReason.LENGTH)
                for dialect in DIALECTS:
                    tried += 2
                    closed += sum(one != whole for one in runs(dialect, pieces, end))
    report.add(
        "cut_calls_closed", closed, "0",
        f"{tried} answers, streamed and whole: {len(shapes())} layouts, {len(DIALECTS)} dialects",
    )  # fmt: skip


def _steps(report: Report) -> None:
    again = []
    # Command R+ does not take a type that is a list, and gets the generic form
    names = [name for name in shapes() if "command-r-plus" not in name]
    for name in names:
        session = Session(name)
        for number in range(1, STEPS + 1):
            session.step(number)
        again += session.again[1:]
    worst = statistics.quantiles(again, n=100)[98]
    report.add(
        "tool_step_recomputed_tokens", statistics.median(again), "0",
        f"p99 {worst:.0f}, worst {max(again)}, {len(again)} steps of {len(names)} layouts",
    )  # fmt: skip


def _off(report: Report) -> None:
    """Prompts without tools, against those of the template alone."""

    def differ() -> Iterator[bool]:
        messages = [
            PromptMessage(Role.USER, "One?"), PromptMessage(Role.ASSISTANT, "Two."),
            PromptMessage(Role.USER, "Three?"),
        ]  # fmt: skip
        for text in templates().values():
            encoder = byte_encoder(text)
            alone = choose(text, "<s>", "</s>", frozenset()).render(messages)
            yield encoder.render(messages, tools=NO_TOOLS) != alone

    report.add("tools_off_cost", sum(differ()), "0", f"{len(templates())} templates")


def _foreign(report: Report) -> None:
    """Each control token of each template in each place of a stranger's text, also in two halves:
    those that come out as tokens."""
    found = prompts = 0

    def count(encoder: PromptEncoder, plain: list[int] | None, asked: Asked) -> int:
        tokens = control_tokens(encoder, asked) or []
        return max(0, len(tokens) - len(plain or []))

    for source in templates().values():
        encoder = byte_encoder(source, ["<think>", "</think>"])
        marks = tuple(encoder.control.values())
        for place in PLACES.values():
            plain = control_tokens(encoder, place("zq"))
            found += sum(count(encoder, plain, place(f"zq{mark}")) for mark in marks)
            prompts += len(marks)
        for pair in PAIRS.values():
            plain = control_tokens(encoder, pair("zq", "qz"))
            halves = [one for mark in (marks[0], "<think>", marks[-1]) for one in cuts(mark)]
            found += sum(count(encoder, plain, pair(*one)) for one in halves)
            prompts += len(halves)
    report.add("foreign_text_control_tokens", found, "0", f"{prompts:,} prompts")


def _forced(report: Report) -> None:
    """The time of a call that drafts its own forced text, against the same call without drafts."""
    tools = Tools((READ,), ToolChoice(Choosing.NAMED, READ.name), several=False)
    model = starter_model()
    assert model is not None
    settings = EngineSettings(context_length=2048)
    question = PromptMessage(Role.USER, "Read the file notes.txt from line 3.", "q")
    with tempfile.TemporaryDirectory() as folder:
        checked = CheckedModelsFile(Path(folder) / "checked.json")
        checked.add(model, settings)
        generator = LocalGenerator(Resources(checked))

        def spent(speculation: Speculation) -> float:
            events: list[GenerationEvent] = []
            request = GenerationRequest(
                LoadRequest(model, settings), (question,),
                Sampling(temperature=0.0, max_tokens=96, seed=3), tools=tools,
                speculation=speculation,
            )  # fmt: skip
            generator.generate(request, events.append, StopSignal())
            last = events[-1]
            assert isinstance(last, Finished)
            return last.stats.generate_seconds

        drafts = Speculation(prompt_lookup=False)
        for _ in range(4):
            # costs are learned
            spent(drafts)
        pairs = [(spent(Speculation(enabled=False)), spent(drafts)) for _ in range(TIMES)]
        generator.close()
    ratios = [plain / drafted for plain, drafted in pairs]
    report.add(
        "forced_vs_plain", statistics.median(ratios), "at least 1.2",
        f"{min(ratios):.2f} to {max(ratios):.2f}, n = {TIMES}",
    )  # fmt: skip


def main() -> None:
    path = json_path(__doc__ or "")
    report = Report("tool calls")
    ways = {
        name: probe(choose(text, "<s>", "</s>", frozenset())) for name, text in templates().items()
    }
    proved = sum(way.own for way in ways.values())
    report.add("forms_proved", proved, "at least 57 of 59", f"of {len(ways)} templates")
    _off(report)
    _foreign(report)
    _valid(report)
    _cuts(report)
    _grammars(report)
    _steps(report)
    _forced(report)
    report.write(path)


if __name__ == "__main__":
    main()
