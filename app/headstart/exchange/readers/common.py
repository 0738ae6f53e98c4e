"""What all readers do: make a conversation of a file's messages, in whatever order they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from headstart.core.parts import Part, ReasoningPart, TextPart, ToolResultPart, joined
from headstart.core.settings import ChatOptions, changed
from headstart.core.values import MessageStatus, Role, TurnStats
from headstart.exchange import ids
from headstart.exchange.fields import Fields, decode
from headstart.exchange.report import Report
from headstart.exchange.tree import Conversation, ModelName, Node, active_to, in_order

# characters of one message, bytes of one conversation
LONGEST_TEXT, LARGEST_CONVERSATION = 16_000_000, 512 << 20
_LONGEST_TITLE = 200
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
}
_THINK = re.compile(r"\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>\s*|\Z)", re.DOTALL)


@dataclass(slots=True)
class Seen:
    """A message of a file. Without parts it is passed over: what answers it answers the one before
    it."""

    id: str
    parent: str | None
    role: Role
    parts: Sequence[Part] = ()
    created_at: int = 0
    status: MessageStatus = MessageStatus.COMPLETE
    model: ModelName | None = None
    error: str = ""
    stats: TurnStats | None = None


@dataclass(slots=True)
class Facts:
    """What a file says of a conversation beside its messages."""

    id: str = ""
    title: str = ""
    created_at: int = 0
    updated_at: int = 0
    pinned: bool = False
    folder: str = ""
    tags: tuple[str, ...] = ()
    system_prompt: str = ""
    model: ModelName | None = None
    # the last message on show
    leaf: str | None = None
    blobs: dict[str, bytes] = field(default_factory=dict)


def build(source: str, facts: Facts, seen: Iterable[Seen], report: Report) -> Conversation | None:
    """None, and a line in the report, where nothing is left that could come in."""
    where = facts.title or facts.id
    given = list(seen)
    nodes, moved = in_order(_node(one, where, report) for one in given)
    if moved:
        report.skip(where, "import-mended", count=moved)
    prompt, others = _without_systems(nodes, facts.system_prompt, where, report)
    kept, stands_for = _merged(_without_gaps(others))
    if not kept:
        report.skip(where or source, "import-empty")
        return None
    times = [node.created_at for node in kept if node.created_at]
    created = facts.created_at or min(times, default=0)
    leaf = stands_for.get(facts.leaf) if facts.leaf is not None else None
    title = facts.title or _title_of(kept)
    return Conversation(
        source=source,
        id=facts.id or ids.content_id(source, prompt, *(_words(node) for node in kept)),
        title=title[:_LONGEST_TITLE],
        nodes=tuple(kept),
        active=active_to(leaf, kept),
        created_at=created,
        updated_at=facts.updated_at or max(times, default=created),
        pinned=facts.pinned,
        titled_by_user=bool(facts.title),
        folder=facts.folder,
        tags=facts.tags,
        model=facts.model or _model_of(kept),
        options=changed(ChatOptions(), system_prompt=prompt) if prompt else ChatOptions(),
        blobs=_needed(facts.blobs, kept),
    )


def raws(data: memoryview, key: str = "") -> Iterator[msgspec.Raw]:
    """The objects of an array, each still undecoded; of `key` inside an object, or the object
    itself. Raises ValueError for what is no JSON."""
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
        # a character that is none; a few hundred MB at most are read in another way
        if len(data) > LARGEST_CONVERSATION:
            raise ValueError("no JSON") from error
        value = decode(data)
        if isinstance(value, dict):
            value = value.get(key, value)
        for one in value if isinstance(value, list) else [value]:
            yield msgspec.Raw(msgspec.json.encode(one))
        return
    yield from found


def objects(data: memoryview, report: Report, where: str, key: str = "") -> Iterator[Fields]:
    """The same decoded; what is broken or too large is told."""
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
    """The objects of a file with one on each line."""
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


def content_parts(content: object) -> list[Part]:
    """What several formats call content: text, or a list of typed pieces."""
    if isinstance(content, str):
        return [TextPart(content)] if content else []
    found: list[Part] = []
    for piece in content if isinstance(content, list) else []:
        if isinstance(piece, str):
            found.append(TextPart(piece))
            continue
        fields = Fields(piece)
        kind = fields.text("type")
        if kind in ("thinking", "reasoning"):
            found.append(ReasoningPart(fields.text("thinking", "text", "reasoning", "content")))
        else:
            text = fields.text("text") or fields.inside("text").text("value")
            found.append(TextPart(text))
    return [part for part in found if part.text]


def thinking_apart(text: str) -> list[Part]:
    """A reply whose reasoning stands in tags at its beginning."""
    found = _THINK.match(text)
    if found is None:
        return [TextPart(text)] if text else []
    rest = text[found.end() :]
    parts: list[Part] = [ReasoningPart(found[1].strip())] if found[1].strip() else []
    return [*parts, TextPart(rest)] if rest else parts


def model_name(name: str) -> ModelName | None:
    return ModelName(name) if name else None


def _first(data: memoryview) -> bytes:
    return bytes(data[:64]).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]


def _node(seen: Seen, where: str, report: Report) -> Node:
    parts = joined(seen.parts)
    if sum(len(part.text) for part in parts) > LONGEST_TEXT:
        report.skip(where, "import-message-too-long")
        parts = ()
    return Node(
        seen.id, seen.parent, seen.role, parts, seen.created_at, seen.status, seen.model,
        seen.error, seen.stats,
    )  # fmt: skip


def _without_systems(
    nodes: Sequence[Node], known: str, where: str, report: Report
) -> tuple[str, list[Node]]:
    """A system message at the beginning is the chat's system prompt; later ones have no place."""
    prompt, found, begun = known, [], False
    for node in nodes:
        if node.role is not Role.SYSTEM:
            begun = begun or bool(node.parts)
            found.append(node)
            continue
        text = "".join(part.text for part in node.parts).strip()
        if text and not begun and not prompt:
            prompt = text
        elif text and text != prompt:
            report.skip(where, "import-system-message")
        found.append(replace(node, parts=()))
    return prompt, found


def _without_gaps(nodes: Sequence[Node]) -> list[Node]:
    """Without messages that have nothing: what follows them follows what was before."""
    above: dict[str, str | None] = {}
    found = []
    for node in nodes:
        parent = above.get(node.parent, node.parent) if node.parent is not None else None
        if node.parts or node.error:
            found.append(replace(node, parent=parent))
        else:
            above[node.id] = parent
    return found


def _merged(nodes: Sequence[Node]) -> tuple[list[Node], dict[str, str]]:
    """Replies that go on after a tool, or after thinking, as one message; and which message each
    id is in now."""
    children: dict[str | None, int] = {}
    for node in nodes:
        children[node.parent] = children.get(node.parent, 0) + 1
    found: dict[str, Node] = {}
    into: dict[str, str] = {}
    for node in nodes:
        parent = into.get(node.parent) if node.parent is not None else None
        before = found.get(parent) if parent is not None else None
        goes_on = (
            before is not None
            and before.role is node.role is Role.ASSISTANT
            and children[node.parent] == 1
        )
        if before is not None and goes_on:
            into[node.id] = before.id
            found[before.id] = replace(
                before,
                parts=_paragraphs(before.parts, node.parts),
                model=before.model or node.model,
                status=node.status,
                error=node.error or before.error,
                stats=node.stats or before.stats,
            )
        else:
            into[node.id] = node.id
            found[node.id] = replace(node, parent=parent)
    return list(found.values()), into


def _paragraphs(first: Sequence[Part], second: Sequence[Part]) -> tuple[Part, ...]:
    both = [*first]
    if (
        first
        and second
        and first[-1].kind is second[0].kind
        and not isinstance(second[0], ToolResultPart)
    ):
        both.append(type(first[-1])("\n\n") if isinstance(first[-1], TextPart | ReasoningPart)
                    else TextPart("\n\n"))  # fmt: skip
    return joined([*both, *second])


def _words(node: Node) -> str:
    return node.role.value + "\x1f".join(part.text for part in node.parts)


def _title_of(nodes: Sequence[Node]) -> str:
    first = next((node for node in nodes if node.role is Role.USER), nodes[0])
    text = next((part.text for part in first.parts if isinstance(part, TextPart)), "")
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:59].rstrip()}…"


def _model_of(nodes: Sequence[Node]) -> ModelName | None:
    return next((node.model for node in reversed(nodes) if node.model is not None), None)


def _needed(blobs: dict[str, bytes], nodes: Sequence[Node]) -> dict[str, bytes]:
    needed = {
        part.blob.digest
        for node in nodes
        for part in node.parts
        if not isinstance(part, TextPart | ReasoningPart) and hasattr(part, "blob")
    }
    return {digest: data for digest, data in blobs.items() if digest in needed}
