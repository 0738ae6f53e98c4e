"""The program's own tools. Their words are for models and stay English.

On the event loop's thread; storage calls go to the storage thread.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from headstart.chat.databases import Databases
from headstart.chat.finding import Finding
from headstart.chat.knowledge.tools import FileTools
from headstart.core.calculator import CalculationError, calculate
from headstart.core.chats.parts import BlobRef, FilePart, ImagePart, Part
from headstart.core.chats.values import Chat, Message, Role
from headstart.core.errors import EnvironmentProblem
from headstart.core.own_tools import (
    CALCULATE,
    NOW,
    PIECE,
    READ_FILE,
    READ_INDEXED,
    SEARCH,
    SEARCH_FILES,
)

# chats in the result of a search
_MOST_FOUND = 8


class ToolOutcome(Struct, frozen=True):
    """`whole`: the result before it was shortened to `text`. `source`: the tool server that wrote
    it; `more`: its files and images."""

    text: str
    failed: bool = False
    whole: BlobRef | None = None
    source: str = ""
    more: tuple[FilePart | ImagePart, ...] = ()


class Caller(Struct, frozen=True):
    """The chat whose model calls, the key of that model, and the branch that it answers."""

    chat: Chat
    model_key: str
    branch: Sequence[Message] = ()

    @property
    def parts(self) -> list[Part]:
        """The parts of the branch: those of servers' results before the user's own, which have
        their names."""
        ours = [part for one in self.branch if one.role is Role.USER for part in one.parts]
        lent = [part for one in self.branch if one.role is not Role.USER for part in one.parts]
        return [*lent, *ours]


class ToolProblem(Exception):
    """A call that cannot be carried out; the text says why, to the model."""


class Toolbox:
    def __init__(self, databases: Databases, finding: Finding, files: FileTools) -> None:
        self._databases = databases
        self._finding = finding
        self._files = files
        self._acts: dict[str, Callable[[Mapping[str, Any], Caller], Awaitable[str]]] = {
            CALCULATE.name: self._calculate,
            NOW.name: self._now,
            SEARCH.name: self._search,
            READ_FILE.name: self._read,
            SEARCH_FILES.name: self._search_files,
            READ_INDEXED.name: self._read_indexed,
        }

    async def run(self, name: str, arguments: str, caller: Caller) -> ToolOutcome:
        """Carry out a call; its faults are results, too."""
        act = self._acts.get(name)
        if act is None:
            return ToolOutcome(f"There is no tool {name}.", failed=True)
        try:
            found = json.loads(arguments, strict=False) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            return ToolOutcome(f"The arguments are no JSON: {error}", failed=True)
        if not isinstance(found, dict):
            return ToolOutcome("The arguments are no JSON object.", failed=True)
        try:
            text = await act(found, caller)
        except ToolProblem as problem:
            return ToolOutcome(str(problem), failed=True)
        return ToolOutcome(text)

    async def _calculate(self, arguments: Mapping[str, Any], _caller: Caller) -> str:
        try:
            return calculate(_text(arguments, "term"))
        except CalculationError as error:
            raise ToolProblem(str(error)) from error

    async def _now(self, _arguments: Mapping[str, Any], _caller: Caller) -> str:
        now = datetime.now().astimezone()
        return f"{now.isoformat(timespec='seconds')} ({now:%A})"

    async def _search(self, arguments: Mapping[str, Any], _caller: Caller) -> str:
        words = _text(arguments, "words")
        # a private chat's text goes nowhere else
        found = [
            one
            for one in (await self._finding.find(words)).chats
            if not self._databases.is_private(one.chat_id)
        ]
        if not found:
            return "No chat has all of these words."
        lines = []
        for chat in found[:_MOST_FOUND]:
            lines.append(f"Chat: {chat.title}")
            lines += [f"- {one.snippet.text.strip()}" for one in chat.messages[:3]]
        if len(found) > _MOST_FOUND:
            lines.append(f"{len(found) - _MOST_FOUND} more chats were found.")
        return "\n".join(lines)

    async def _search_files(self, arguments: Mapping[str, Any], caller: Caller) -> str:
        question = _text(arguments, "question")
        try:
            return await self._files.search(question, caller.chat, caller.model_key)
        except EnvironmentProblem as problem:
            raise ToolProblem(str(problem)) from problem

    async def _read_indexed(self, arguments: Mapping[str, Any], caller: Caller) -> str:
        name = _text(arguments, "path")
        begins = arguments.get("from", 0)
        if not isinstance(begins, int):
            raise ToolProblem("The argument from is no whole number.")
        try:
            return await self._files.read(name, begins, caller.chat, caller.model_key)
        except (LookupError, EnvironmentProblem) as problem:
            raise ToolProblem(str(problem)) from problem

    async def _read(self, arguments: Mapping[str, Any], caller: Caller) -> str:
        files = {part.name: part for part in caller.parts if isinstance(part, FilePart)}
        name = _text(arguments, "name")
        if name not in files:
            known = ", ".join(sorted(files)) or "none"
            raise ToolProblem(f"No file {name} is attached to this chat. Attached: {known}.")
        text = files[name].text
        begins = arguments.get("from", 0)
        if not isinstance(begins, int) or not 0 <= begins <= len(text):
            raise ToolProblem(f"The file has {len(text)} characters.")
        piece = text[begins : begins + PIECE]
        ends = begins + len(piece)
        more = f"\n[{len(text) - ends} more characters from {ends} on]" if ends < len(text) else ""
        return f"{piece}{more}" if piece else "The file has no text there."


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ToolProblem(f"The argument {key} is missing.")
    return value
