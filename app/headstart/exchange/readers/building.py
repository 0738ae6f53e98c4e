"""Builds a conversation from a file's messages, in any order and structure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from headstart.core.chats.parts import (
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    blob_of,
    joined,
    needed_blobs,
)
from headstart.core.chats.values import MessageStatus, Role, TurnStats
from headstart.core.settings.schema import ChatOptions, changed
from headstart.core.text.whole import whole
from headstart.exchange import ids
from headstart.exchange.report import Report
from headstart.exchange.tree import ChatNode, ExchangeChat, ModelName, active_to, in_order

# characters of one message
LONGEST_TEXT = 16_000_000
_LONGEST_TITLE = 200


class ReadMessage(Struct):
    """A message of a file. One without parts is skipped: replies to it are attached to the message
    before."""

    id: str
    parent: str | None
    role: Role
    parts: Sequence[Part] = ()
    created_at: int = 0
    status: MessageStatus = MessageStatus.COMPLETE
    model: ModelName | None = None
    error: str = ""
    stats: TurnStats | None = None


class Facts(Struct):
    """Facts about a conversation in a file, apart from its messages."""

    id: str = ""
    title: str = ""
    created_at: int = 0
    updated_at: int = 0
    pinned: bool = False
    folder: str = ""
    tags: tuple[str, ...] = ()
    system_prompt: str = ""
    model: ModelName | None = None
    # the last shown message
    leaf: str | None = None
    blobs: dict[str, bytes] = field(default_factory=dict)


def build(
    source: str, facts: Facts, seen: Iterable[ReadMessage], report: Report
) -> ExchangeChat | None:
    """Returns None, with a line in the report, if nothing importable remains."""
    where = facts.title or facts.id
    given = list(seen)
    nodes, moved = in_order(_node(one, where, report) for one in given)
    if moved:
        report.skip(where, "import-mended", count=moved)
    prompt, others = _without_systems(nodes, facts.system_prompt, where, report)
    present, above, apart = _without_gaps(_with_tool_names(others))
    kept, stands_for = _merged(present, apart)
    if not kept:
        report.skip(where or source, "import-empty")
        return None
    times = [node.created_at for node in kept if node.created_at]
    created = facts.created_at or min(times, default=0)
    # an empty message is replaced by the one before it
    last = above.get(facts.leaf, facts.leaf) if facts.leaf is not None else None
    leaf = stands_for.get(last) if last is not None else None
    title = whole(facts.title) or _title_of(kept)
    return ExchangeChat(
        source=source,
        id=whole(facts.id) or ids.content_id(source, prompt, *(_words(node) for node in kept)),
        title=title[:_LONGEST_TITLE],
        nodes=tuple(kept),
        active=active_to(leaf, kept),
        created_at=created,
        updated_at=facts.updated_at or max(times, default=created),
        pinned=facts.pinned,
        titled_by_user=bool(facts.title),
        folder=whole(facts.folder),
        tags=facts.tags,
        model=facts.model or _model_of(kept),
        options=changed(ChatOptions(), system_prompt=prompt) if prompt else ChatOptions(),
        blobs=_needed(facts.blobs, kept),
    )


def named_by_words(seen: Sequence[ReadMessage]) -> list[ReadMessage]:
    """For messages without ids in their file, each after its parent: the id is a digest of the text
    and of everything before, so that a later edit becomes another version instead of another text
    under the same id."""
    new: dict[str, str] = {}
    for one in seen:
        words = [f"{part.kind.value}:{part.text}{_digest(part)}" for part in one.parts]
        parent = new.get(one.parent, "") if one.parent is not None else ""
        new[one.id] = ids.content_id(parent, one.role.value, *words)
    return [
        replace(one, id=new[one.id], parent=new.get(one.parent) if one.parent else None)
        for one in seen
    ]


def renamed(seen: Sequence[ReadMessage], facts: Facts) -> list[ReadMessage]:
    """Like `named_by_words`, and updates the last shown message."""
    found = named_by_words(seen)
    known = {before.id: after.id for before, after in zip(seen, found, strict=True)}
    if facts.leaf is not None:
        facts.leaf = known.get(facts.leaf, facts.leaf)
    return found


def _digest(part: Part) -> str:
    blob = blob_of(part)
    return "" if blob is None else blob.digest


def _node(seen: ReadMessage, where: str, report: Report) -> ChatNode:
    parts = joined(seen.parts)
    if sum(len(part.text) for part in parts) > LONGEST_TEXT:
        report.skip(where, "import-message-too-long")
        parts = ()
    return ChatNode(
        seen.id, seen.parent, seen.role, parts, seen.created_at, seen.status, seen.model,
        seen.error, seen.stats,
    )  # fmt: skip


def _without_systems(
    nodes: Sequence[ChatNode], known: str, where: str, report: Report
) -> tuple[str, list[ChatNode]]:
    """The first system message becomes the chat's system prompt; later ones are reported."""
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


def _with_tool_names(nodes: Sequence[ChatNode]) -> list[ChatNode]:
    """Name tool results after their calls; many formats give the id only."""
    names = {
        part.id: part.name
        for node in nodes
        for part in node.parts
        if isinstance(part, ToolCallPart) and part.id
    }

    def named(part: Part) -> Part:
        if isinstance(part, ToolResultPart) and part.name == "tool" and part.id in names:
            return replace(part, name=names[part.id])
        return part

    return [replace(node, parts=tuple(named(part) for part in node.parts)) for node in nodes]


def _without_gaps(
    nodes: Sequence[ChatNode],
) -> tuple[list[ChatNode], dict[str, str | None], set[str]]:
    """Remove empty messages: their children move up to the parent. Also returns the new parent of
    each removed one, and the messages that were removed questions or follow one."""
    above: dict[str, str | None] = {}
    apart: set[str] = set()
    found = []
    for node in nodes:
        parent = above.get(node.parent, node.parent) if node.parent is not None else None
        after_question = node.parent in above and node.parent in apart
        if node.parts or node.error:
            found.append(replace(node, parent=parent))
            if after_question:
                apart.add(node.id)
        else:
            above[node.id] = parent
            if node.role is Role.USER or after_question:
                apart.add(node.id)
    return found, above, apart


class _Run(Struct, dict=True):
    """Messages that form one: a reply that continues after a tool call, or after reasoning."""

    nodes: list[ChatNode]
    parent: str | None

    def whole(self) -> ChatNode:
        first, last = self.nodes[0], self.nodes[-1]
        if len(self.nodes) == 1:
            return replace(first, parent=self.parent)
        parts: list[Part] = []
        for node in self.nodes:
            if parts and node.parts and _needs_space(parts[-1], node.parts[0]):
                parts.append(type(parts[-1])("\n\n"))  # type: ignore[call-arg, arg-type]
            parts += node.parts
        with_stats = [node.stats for node in self.nodes if node.stats is not None]
        return replace(
            first,
            id=self.id,
            parent=self.parent,
            parts=joined(parts),
            model=next((node.model for node in self.nodes if node.model is not None), None),
            status=last.status,
            error=next((node.error for node in reversed(self.nodes) if node.error), ""),
            stats=with_stats[-1] if with_stats else None,
        )

    @cached_property
    def id(self) -> str:
        """The first message's id and a digest of the others': a longer run is another version."""
        rest = [node.id for node in self.nodes[1:]]
        return f"{self.nodes[0].id}+{ids.content_id(*rest)}" if rest else self.nodes[0].id


def _merged(nodes: Sequence[ChatNode], apart: set[str]) -> tuple[list[ChatNode], dict[str, str]]:
    """Merge consecutive messages of one reply; returns them, and the new id of each old one.
    `apart`: nodes that answer a removed question."""
    children = Counter(node.parent for node in nodes)
    runs: dict[str, _Run] = {}
    order: list[_Run] = []
    for node in nodes:
        before = runs.get(node.parent) if node.parent is not None else None
        if (
            before is not None
            and node.id not in apart
            and before.nodes[-1].id == node.parent
            and before.nodes[-1].role is node.role is Role.ASSISTANT
            and children[node.parent] == 1
        ):
            before.nodes.append(node)
            runs[node.id] = before
        else:
            runs[node.id] = _Run([node], node.parent)
            order.append(runs[node.id])
    for run in order:
        if run.parent is not None:
            run.parent = runs[run.parent].id if run.parent in runs else None
    return [run.whole() for run in order], {one: run.id for one, run in runs.items()}


def _needs_space(before: Part, after: Part) -> bool:
    return isinstance(before, TextPart | ReasoningPart) and before.kind is after.kind


def _words(node: ChatNode) -> str:
    return node.role.value + "\x1f".join(part.text for part in node.parts)


def _title_of(nodes: Sequence[ChatNode]) -> str:
    first = next((node for node in nodes if node.role is Role.USER), nodes[0])
    text = next((part.text for part in first.parts if isinstance(part, TextPart)), "")
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:59].rstrip()}…"


def _model_of(nodes: Sequence[ChatNode]) -> ModelName | None:
    return next((node.model for node in reversed(nodes) if node.model is not None), None)


def _needed(blobs: dict[str, bytes], nodes: Sequence[ChatNode]) -> dict[str, bytes]:
    named = needed_blobs(part for node in nodes for part in node.parts)
    return {digest: blobs[digest] for digest in named if digest in blobs}
