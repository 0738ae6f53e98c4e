"""The real engine with words from a table: every reply of an agent's task is known before.

Prompts are rendered, tokenized, restored and processed as always; only the sampler is exchanged,
and draws the tokens of the table's text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from headstart.core.chats.values import Role
from headstart.core.events import Emit
from headstart.core.requests import GenerationRequest, ToolRole
from headstart.core.tools import ToolSpec
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.decoder import Prediction
from headstart.engine.local import LocalGenerator
from headstart.engine.stop import StopSignal

DONE = "The file says: forty-two. Done."
AGAIN = "It still says forty-two."
# tools that run a command or read a file, by the names that agents give them
RUNS = (
    "exec_command",
    "shell",
    "bash",
    "Bash",
    "run_commands",
    "execute_command",
    "run_terminal_command",
)
READS = ("read", "Read", "read_file", "read_files", "ReadFile")


class TableSampler:
    """A sampler whose tokens are known."""

    def __init__(self, tokens: Sequence[int], end: int) -> None:
        self._tokens, self._end = tokens, end
        self._start: int | None = None

    def draw(self, row: int, position: int) -> int:
        del row
        if self._start is None:
            self._start = position
        at = position - self._start
        return self._tokens[at] if at < len(self._tokens) else self._end

    def predict(self, row: int, position: int) -> Prediction:
        return Prediction(self.draw(row, position), self._end, math.inf)

    def likeliest(self, row: int) -> Prediction:
        return Prediction(self._end, self._end, math.inf)

    def look_ahead(self, position: int) -> None: ...

    def see(self, tokens: Sequence[int]) -> None: ...

    def accept(self, tokens: Sequence[int]) -> None: ...

    def mark(self) -> None: ...

    def rewind(self) -> None: ...

    def close(self) -> None: ...


def reply_to(request: GenerationRequest, file: str) -> str:
    """The table: two calls for the first question of a task, then an answer; one sentence for the
    next one, and for requests without tools."""
    questions = [number for number, one in enumerate(request.messages) if one.role is Role.USER]
    results = [
        one for one in request.messages[questions[-1] if questions else 0 :]
        if one.role is ToolRole.TOOL
    ]  # fmt: skip
    every = sum(one.role is ToolRole.TOOL for one in request.messages)
    if not request.tools:
        return "Look at notes"
    if every >= 2 and not results:
        return AGAIN
    if len(results) >= 2 or every >= 2:
        return DONE
    wanted = RUNS if not results else (*READS, *RUNS)
    spec = _first(request.tools.specs, wanted)
    if spec is None:
        return DONE
    given = json.dumps({"name": spec.name, "arguments": _arguments(spec, file)})
    said = "I look.\n" if not results else ""
    return f"{said}<tool_call>\n{given}\n</tool_call>"


def _first(specs: Sequence[ToolSpec], names: Sequence[str]) -> ToolSpec | None:
    for name in names:
        for spec in specs:
            if spec.name == name:
                return spec
    return None


def _arguments(spec: ToolSpec, file: str) -> dict[str, Any]:
    """Arguments that the schema asks for: a command, or the file's path."""
    schema = spec.parameters
    properties = schema.get("properties", {})
    found: dict[str, Any] = {}
    for name in schema.get("required", list(properties)[:1]):
        found[name] = _value(name, properties.get(name, {}), file)
    return found


def _value(name: str, schema: dict[str, Any], file: str) -> Any:
    kinds = schema.get("type")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if schema.get("enum"):
        return schema["enum"][0]
    if kind == "array":
        inner = schema.get("items", {})
        return [_value(name, inner, file)]
    if kind == "object":
        properties = schema.get("properties", {})
        required = schema.get("required", list(properties))
        return {key: _value(key, properties.get(key, {}), file) for key in required}
    if kind in ("integer", "number"):
        return 1
    if kind == "boolean":
        return False
    lowered = name.casefold()
    if "command" in lowered or lowered == "cmd":
        return f"cat {file}"
    return file if "path" in lowered or "file" in lowered else "Read the notes"


@contextmanager
def from_table(file: Callable[[], str]) -> Iterator[list[GenerationRequest]]:
    """Every reply inside comes from the table; yields the requests."""
    asked: list[GenerationRequest] = []
    generate, sampler = LocalGenerator.generate, LlamaCppDecoder.sampler

    def noted(
        self: LocalGenerator, request: GenerationRequest, emit: Emit, stop: StopSignal
    ) -> None:
        asked.append(request)
        generate(self, request, emit, stop)

    def scripted(self: LlamaCppDecoder, *_arguments: Any, **_more: Any) -> Any:
        tokens = list(self.encode(reply_to(asked[-1], file())))
        end = next(token for token in range(self.facts.vocabulary_size) if self.is_end(token))
        return TableSampler(tokens, end)

    LocalGenerator.generate = noted  # type: ignore[method-assign]
    LlamaCppDecoder.sampler = scripted  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        LocalGenerator.generate = generate  # type: ignore[method-assign]
        LlamaCppDecoder.sampler = sampler  # type: ignore[method-assign]
