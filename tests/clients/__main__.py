"""Runs programs of other people against the server: a task of three steps with two calls, a next
turn, a restart of the server, and a new session; then one sentence from the starter model.

`python -m tests.clients [NAME...] --json FILE`, best inside a network namespace (`make
peers-clients`). Each program gets its set-up from the text that the page shows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import keyring
from msgspec import Struct
from msgspec.structs import replace

from headstart.core.serving.line import LineState, ServedLine
from headstart.core.serving.setups import SETUPS, Target
from headstart.core.settings.schema import EngineSettings, Settings, changed
from headstart.home import Home
from headstart.hub.library import starter_model
from headstart.parts import Parts, open_parts
from headstart.ui.kit.pictures import pixels
from tests.benchmarks.answering import check_name, served_name
from tests.clients.install import install, node, program
from tests.clients.table import AGAIN, DONE, from_table
from tests.models.drafts import drop_layers
from tests.support.keyrings import MemoryKeyring
from tests.support.program import free_port

CONTEXT = 32_768
SECONDS = 600
QUESTION = "Look what notes.txt says, first with a command, then by reading it."
NEXT = "And now?"
# not free software: whoever has it names it
ON_DEMAND = ("claude-code",)
# Codex asks nobody here, and its sandbox needs a kernel that lets it
_FREE = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")


class Client(Struct, frozen=True):
    """A program. `place`: its configuration within a home; `ask`, `go_on`: its commands for a new
    session and for the next turn, without the question; `prepare`: a command before them."""

    code: str
    ask: Sequence[str]
    go_on: Sequence[str] = ()
    place: str = ""
    tools: bool = True
    prepare: bool = False
    context: int = CONTEXT


def clients(model: str, home: Path) -> list[Client]:
    config = str(home / ".continue" / "config.yaml")
    return [
        Client(
            "codex",
            ("codex", "exec", *_FREE),
            ("codex", "exec", "resume", "--last", *_FREE),
            ".codex/config.toml",
        ),
        Client(
            "opencode", ("opencode", "run"), ("opencode", "run", "-c"),
            ".config/opencode/opencode.json",
        ),
        Client("cline", ("cline", "-P", "openai", "-m", model), prepare=True),
        Client(
            "continue",
            ("cn", "--config", config, "--auto", "-p"),
            ("cn", "--config", config, "--auto", "--resume", "-p"),
            ".continue/config.yaml",
        ),
        Client(
            "pi",
            ("pi", "--provider", "headstart", "--model", model, "-p"),
            ("pi", "--provider", "headstart", "--model", model, "-c", "-p"),
            ".pi/agent/models.json",
        ),
        Client(
            "aider",
            (
                "aider", "--model", f"openai/{model}", "--no-check-update", "--yes-always",
                "--no-git", "--no-stream", "--no-show-model-warnings", "--no-analytics",
                "--message",
            ),
            tools=False,
        ),
        Client(
            "llm", ("llm", "-m", "headstart"), ("llm", "-c"),
            ".config/io.datasette.llm/extra-openai-models.yaml", tools=False,
        ),
        Client(
            "claude-code", ("claude", "--allowedTools=Bash,Read", "-p"),
            ("claude", "--allowedTools=Bash,Read", "-c", "-p"),
            # its first prompt has 20,000 tokens, and it keeps room for its longest reply
            context=65_536,
        ),
    ]  # fmt: skip


class Served(Struct):
    """One opening of the server."""

    parts: Parts
    target: Target

    @property
    def lines(self) -> list[ServedLine]:
        return list(reversed(self.parts.services.serving.log.lines))


@asynccontextmanager
async def served(
    home: Path, model: Path, port: int, context: int = CONTEXT
) -> AsyncIterator[Served]:
    def change(settings: Settings) -> Settings:
        server = replace(settings.server, on=True, port=port, model=str(model))
        return changed(settings, server=server, engine=EngineSettings(context_length=context))

    parts = open_parts(Home(home), pixels, change=change)
    try:
        await parts.storage.ready()
        serving = parts.services.serving
        await serving.open()
        assert serving.state.problem is None, serving.state.problem
        (first, *_) = await serving.models()
        check_name(served_name(model), first.id)
        key = await serving.key()
        found = Served(parts, Target(serving.state.address, key, first.id, context))
        yield found
        for line in found.lines:
            check_name(first.id, line.model)
    finally:
        await parts.close()


class Outcome(Struct):
    name: str
    wrong: list[str]
    lines: list[ServedLine]


async def run(client: Client, words: Sequence[str], home: Path, more: dict[str, str]) -> str:
    """Run a command in the folder with the notes; returns what it said."""
    environment = {
        "HOME": str(home), "PATH": f"{node()}:{os.environ['PATH']}", "TERM": "dumb",
        "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "PI_OFFLINE": "1", "NO_COLOR": "1", "CI": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        **more,
    }  # fmt: skip
    command = [str(program(words[0])), *words[1:]]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=home / "work", env=environment, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    except TimeoutError:
        os.killpg(process.pid, 9)
        return f"{client.code} did not end"
    return said.decode("utf-8", "replace")


async def prepare(client: Client, home: Path, target: Target) -> dict[str, str]:
    """Set the program up with the text of its card."""
    setup = next(one for one in SETUPS if one.code == client.code)
    text = setup.text(target)
    if client.place:
        place = home / client.place
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return {}
    if client.prepare:
        await run(client, text.split(), home, {})
        return {}
    exports = [line.removeprefix("export ") for line in text.splitlines() if "export" in line]
    return dict(line.split("=", 1) for line in exports)


async def try_client(make: Callable[[str, Path], Client], place: Path, model: Path) -> Outcome:
    """The whole task with one program."""
    home, port = place / "home", free_port()
    (home / "work").mkdir(parents=True)
    notes = home / "work" / "notes.txt"
    notes.write_text("forty-two\n")
    wrong: list[str] = []
    lines: list[ServedLine] = []
    context = make("", home).context

    def want(words: str, said: str, step: str) -> None:
        if words not in said:
            wrong.append(f"{step}: {said[-600:]!r}")

    with from_table(lambda: str(notes)):
        async with served(place / "headstart", model, port, context) as server:
            client = make(server.target.model, home)
            more = await prepare(client, home, server.target)
            said = await run(client, [*client.ask, QUESTION], home, more)
            want(DONE if client.tools else "Look at notes", said, "task")
            if client.go_on:
                said = await run(client, [*client.go_on, NEXT], home, more)
                want(AGAIN if client.tools else "Look at notes", said, "next turn")
            lines += server.lines
        async with served(place / "headstart", model, port, context) as server:
            if client.go_on:
                said = await run(client, [*client.go_on, NEXT], home, more)
                want(AGAIN if client.tools else "Look at notes", said, "after a restart")
            said = await run(client, [*client.ask, QUESTION], home, more)
            want(DONE if client.tools else "Look at notes", said, "new session")
            lines += server.lines
    wrong += [
        f"{line.state.value}: {line.why}" for line in lines if line.state is not LineState.DONE
    ]
    return Outcome(client.code, wrong, lines)


async def sentence(make: Callable[[str, Path], Client], place: Path) -> Outcome:
    """One sentence from the starter model."""
    home, port = place / "home", free_port()
    (home / "work").mkdir(parents=True)
    starter = starter_model()
    assert starter is not None
    async with served(place / "headstart", starter.path, port, make("", home).context) as server:
        client = make(server.target.model, home)
        more = await prepare(client, home, server.target)
        await run(client, [*client.ask, "Say hello."], home, more)
        lines = server.lines
    wrong = [] if any(line.written for line in lines) else ["no word was written"]
    return Outcome(client.code, wrong, lines)


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--sentence", action="store_true", help="the starter model's words too")
    options = parser.parse_args()
    keyring.set_keyring(MemoryKeyring())
    starter = starter_model()
    assert starter is not None
    right, found = 0, dict[str, Any]()
    everybody = [client.code for client in clients("", Path()) if client.code not in ON_DEMAND]
    names = options.names or everybody
    with tempfile.TemporaryDirectory(dir=Path.home() / ".cache") as folder:
        # few layers: prompts of 10,000 tokens are processed in seconds
        shallow = drop_layers(starter.path, Path(folder) / "table-135m.gguf", range(4, 26))
        for name in names:

            def make(model: str, home: Path, name: str = name) -> Client:
                return next(one for one in clients(model, home) if one.code == name)

            place = Path(folder) / name
            outcome = await try_client(make, place, shallow)
            shutil.rmtree(place, ignore_errors=True)
            if options.sentence:
                more = await sentence(make, place)
                outcome.wrong += more.wrong
                shutil.rmtree(place, ignore_errors=True)
            right += not outcome.wrong
            _tell(outcome)
            found[name] = [
                [line.prompt, line.reused, line.processed, line.recomputed]
                for line in outcome.lines
            ]
    print(f"clients_right: {right} of {len(names)}")
    if options.json:
        options.json.write_text(json.dumps({"clients_right": right, "lines": found}, indent=1))
    return 0 if right == len(names) else 1


def _tell(outcome: Outcome) -> None:
    print(f"{outcome.name}: {'right' if not outcome.wrong else 'WRONG'}", flush=True)
    for line in outcome.lines:
        why = "" if line.why is None else line.why.text
        print(
            f"   {line.program:12} {line.prompt:6,} tokens, {line.reused:6,} reused "
            f"({line.from_disk:,} from disk), {line.processed:6,} processed, "
            f"{line.recomputed:,} again {line.state.value} {why}"
        )
    for wrong in outcome.wrong:
        print(f"   {wrong}")


if __name__ == "__main__":
    install()
    sys.exit(asyncio.run(main()))
