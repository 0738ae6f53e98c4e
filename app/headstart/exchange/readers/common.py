"""Code shared by all readers: iteration over a file's objects, roles, and reasoning in tags."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from headstart.core.chats.parts import Part, ReasoningPart, TextPart
from headstart.core.chats.values import Role
from headstart.core.errors import EnvironmentProblem
from headstart.exchange.fields import Fields, decode
from headstart.exchange.material import release
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat, ModelName

log = logging.getLogger(__name__)

# bytes of a large file that stay in memory after they were read
_RELEASED = 16 << 20
# most bytes of one conversation
LARGEST_CONVERSATION = 512 << 20
ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "prompter": Role.USER,
    "assistant": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "gpt": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "tool": Role.ASSISTANT,
    "function": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "request": Role.USER,
    "response": Role.ASSISTANT,
    "agent": Role.ASSISTANT,
    "you": Role.USER,
    "assistant_tool": Role.ASSISTANT,
    "tool_result": Role.ASSISTANT,
}
_THINK = re.compile(
    r"\s*<(?P<tag>think|thinking|thought|reasoning)>(?P<words>.*?)(?:</(?P=tag)>\s*|\Z)", re.DOTALL
)


def raws(data: memoryview, key: str = "") -> Iterator[msgspec.Raw]:
    """The objects of an array, still undecoded; of the array under `key` in an object, or the
    object itself. Raises ValueError for invalid JSON."""
    try:
        found: Any
        if _first(data) == b"[":
            found = msgspec.json.decode(data, type=list[msgspec.Raw])
        else:
            inside = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
            if not key or key not in inside:
                yield msgspec.Raw(data)
                return
            found = msgspec.json.decode(inside[key], type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        # an invalid character; up to a few hundred MB can be parsed in another way
        if len(data) > LARGEST_CONVERSATION:
            raise ValueError("no JSON") from error
        value = decode(data)
        if isinstance(value, dict):
            value = value.get(key, value)
        for one in value if isinstance(value, list) else [value]:
            yield msgspec.Raw(msgspec.json.encode(one))
        return
    # splitting has paged in the whole file
    release(data, 0, len(data))
    released = done = 0
    for raw in found:
        yield raw
        done += len(raw)
        if done - released > _RELEASED:
            release(data, released, done)
            released = done


def objects(data: memoryview, report: Report, where: str, key: str = "") -> Iterator[Fields]:
    """The same decoded; broken or oversized objects are reported."""
    try:
        for number, raw in enumerate(raws(data, key), 1):
            if len(raw) > LARGEST_CONVERSATION:
                report.skip(f"{where} ({number})", "import-chat-too-large", size=len(raw))
                continue
            try:
                value = decode(raw)
            except ValueError:
                report.skip(f"{where} ({number})", "import-unreadable")
                continue
            if isinstance(value, dict):
                yield Fields(value)
            else:
                report.skip(f"{where} ({number})", "import-unreadable")
    except ValueError:
        report.skip(where, "import-unreadable")


def lines(data: memoryview, report: Report, where: str) -> Iterator[Fields]:
    """The objects of a file with one per line."""
    whole = bytes(data) if len(data) < LARGEST_CONVERSATION else b""
    if data and not whole:
        report.skip(where, "import-chat-too-large", size=len(data))
    broken = 0
    for line in whole.splitlines():
        if not line.strip():
            continue
        try:
            value = decode(line)
        except ValueError:
            broken += 1
            continue
        if isinstance(value, dict):
            yield Fields(value)
        else:
            broken += 1
    if broken:
        report.skip(where, "import-broken-lines", count=broken)


def each(
    found: Iterable[Fields],
    make: Callable[[Fields], ExchangeChat | None],
    report: Report,
    where: str,
) -> Iterator[ExchangeChat]:
    """The conversations returned by `make`; an error in one does not lose the others."""
    for fields in _as_far_as_it_goes(found, report, where):
        try:
            conversation = make(fields)
        except Exception:
            # a bug of ours, but the user's other chats must not be lost for it
            log.exception("a conversation of a file could not be read")
            report.skip(where, "import-unreadable")
            continue
        if conversation is not None:
            yield conversation


def _as_far_as_it_goes(found: Iterable[Fields], report: Report, where: str) -> Iterator[Fields]:
    try:
        yield from found
    except EnvironmentProblem:
        raise
    except Exception:
        log.exception("the conversations of a file could not be told apart")
        report.skip(where, "import-unreadable")


def thinking_apart(text: str) -> list[Part]:
    """Split a reply into the reasoning in tags at its beginning and the rest."""
    found = _THINK.match(text)
    if found is None:
        return [TextPart(text)] if text else []
    rest = text[found.end() :]
    words = found["words"].strip()
    parts: list[Part] = [ReasoningPart(words)] if words else []
    return [*parts, TextPart(rest)] if rest else parts


def model_name(name: str) -> ModelName | None:
    return ModelName(name) if name else None


def _first(data: memoryview) -> bytes:
    return bytes(data[:64]).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
