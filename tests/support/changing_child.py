"""Writes a reply with a model whose file changes meanwhile, in a process of its own: a fault that
is not caught ends it. Prints what happened as JSON.

    python -m tests.support.changing_child MODEL HOW WHEN [SECOND]
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from headstart.core.chats.values import Role
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Finished, GenerationEvent, Notice, TextAdded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage
from headstart.core.settings.schema import Sampling, Speculation
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile

TOKENS = 60


def change(path: Path, how: str) -> None:
    size = path.stat().st_size
    if how == "emptied":
        os.truncate(path, 0)
    elif how == "cut":
        os.truncate(path, size // 2)
    elif how == "cut a little":
        os.truncate(path, size - (1 << 20))
    elif how == "emptied and zeros":
        os.truncate(path, 0)
        os.truncate(path, size)
    elif how == "written over":
        with path.open("r+b") as file:
            file.seek(size // 4)
            file.write(b"\0" * (size // 2))
    elif how == "replaced":
        other = path.with_suffix(".new")
        other.write_bytes(path.read_bytes())
        other.replace(path)
    elif how == "removed":
        path.unlink()
    else:
        raise ValueError(how)


HOW = ("emptied", "cut", "cut a little", "emptied and zeros", "written over", "replaced", "removed")
# tokens after which it changes; before the second reply; before it is loaded
WHEN = ("1", "20", "second", "first")


def main() -> None:
    path, how, when = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    folder = path.parent
    checked = CheckedModelsFile(folder / "checked.json")
    generator = LocalGenerator(Resources(checked))
    model = ModelRef(path, path.stem, path.stat().st_size)
    written: list[str] = []
    said: list[str] = []
    tokens = 0

    def emit(event: GenerationEvent) -> None:
        nonlocal tokens
        if isinstance(event, TextAdded):
            written.append("".join(piece.text for piece in event.pieces))
            tokens = event.tokens
            if when.isdecimal() and tokens >= int(when) and "done" not in said:
                said.append("done")
                change(path, how)
        elif isinstance(event, Notice):
            said.append(event.told.text)
        elif isinstance(event, Finished):
            said.append("finished")

    def ask(question: str) -> None:
        written.clear()
        request = GenerationRequest(
            LoadRequest(model),
            (PromptMessage(Role.USER, question, "q"),),
            Sampling(temperature=0, max_tokens=TOKENS),
            speculation=Speculation(enabled=False),
            chat_id="c",
        )
        try:
            generator.generate(request, emit, StopSignal())
        except EnvironmentProblem as problem:
            said.append(problem.message)
        said.append("".join(written))

    if when == "first":
        change(path, how)
    ask("Tell me about rivers.")
    if when == "second":
        change(path, how)
    ask("Tell me about lakes.")
    generator.close()
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
