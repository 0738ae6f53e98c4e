"""Messages in the usual forms: objects with a role, text and perhaps a parent, under one of a few
names each. A single implementation, so that every program's list keeps as much as any other's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.chats.parts import Part, ReasoningPart, TextPart, ToolResultPart
from headstart.core.chats.values import MessageStatus, Role
from headstart.exchange.fields import Fields
from headstart.exchange.readers.building import ReadMessage
from headstart.exchange.readers.common import ROLES, model_name, thinking_apart
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.tree import ModelName

TIMES = (
    "createdAt", "created_at", "create_time", "createTime", "inserted_at", "timestamp", "date",
    "send_date", "sentAt", "sent_at", "time", "datetime", "created", "updatedAt",
)  # fmt: skip
_ROLE = ("role", "from", "sender", "author", "speaker", "type")
_CONTENT = (
    "content", "value", "contentParts", "contentChunks", "content_list", "parts", "message", "mes",
    "text", "body", "blocks",
)  # fmt: skip
_IDS = ("id", "messageId", "message_id", "uuid", "_id")
_PARENTS = (
    "parentId", "parentMessageId", "parent_id", "parent_message_uuid", "parent_message_id",
    "parent_response_id", "parentUuid", "parent",
)  # fmt: skip
_CHILDREN = ("children", "childrenIds", "children_ids")
_THOUGHTS = (
    "reasoning_content", "reasoningContent", "reasoning", "thinking", "thinking_trace", "thoughts",
)  # fmt: skip
_MODELS = ("model", "modelName", "model_name", "modelId", "model_slug", "modelID")
_VERSIONS = ("versions", "alternatives", "swipes", "siblings", "regenerations")
_FILES = ("attachments", "files", "images", "image_urls", "experimental_attachments", "documents")
# ids that stand for the parent of a first message
_NOBODY = frozenset(
    ("00000000-0000-0000-0000-000000000000", "00000000-0000-4000-8000-000000000000", "root", "0")
)
_TOOLS = frozenset(("tool", "function", "tool_result"))


class Thread(Struct, frozen=True):
    """Messages of a file. `with_ids`: each has its own; `leaf`: the last shown one."""

    seen: list[ReadMessage]
    with_ids: bool
    leaf: str | None = None


def is_message(fields: Fields) -> bool:
    """True for an object with a known role and text."""
    if not any(key in fields for key in (*_CONTENT, "tool_calls", "versions")):
        return False
    return bool(role_name(fields))


def role_name(fields: Fields) -> str:
    """The name of its author, as ROLES spells it if it is known; "" for none."""
    for key in ("isCreatedByUser", "is_user", "isUser", "fromUser"):
        if isinstance(fields.all.get(key), bool):
            return "user" if fields.all[key] else "assistant"
    for key in _ROLE:
        name = (fields.text(key) or fields.inside(key).text("role", "name")).casefold()
        if name in ROLES or (name and key in ("role", "from", "sender")):
            return name
    return ""


def read_messages(messages: Iterable[Fields], collect: Collector) -> Thread:
    """Messages in order, each after its parent if parents are named, otherwise after the previous
    one. Unknown roles are reported; so is a message that yields nothing."""
    given = list(_flat(messages))
    ids = [one.id(*_IDS) for one in given]
    with_ids = all(ids)
    parents = _parents(given, ids) if with_ids else {}
    branched = bool(parents)
    seen: list[ReadMessage] = []
    above: str | None = None
    chosen: str | None = None
    for number, message in enumerate(given):
        name = role_name(message)
        role = ROLES.get(name)
        if role is None:
            collect.report.skip(collect.where, "import-role-unknown", name=name or "?")
            role, left_out = Role.ASSISTANT, True
        else:
            left_out = False
        key = ids[number] or f"{number}"
        parent = parents.get(key) if branched else above
        versions = _versions(message) or [message]
        on_show = _on_show(message, len(versions))
        for place, version in enumerate(versions):
            one = ReadMessage(key if place == on_show else f"{key}~{place}", parent, role)
            if not left_out:
                _fill(one, message, version, name, collect)
            seen.append(one)
        above = key
        chosen = key if not branched else chosen
    seen = [part for one in _told_versions_apart(seen) for part in _results_apart(one)]
    return Thread(seen, with_ids, chosen if any("~" in one.id for one in seen) else None)


def parts_of(message: Fields, name: str, collect: Collector) -> list[Part]:
    """Everything in a message: reasoning, files, text, tool calls."""
    content = _content(message)
    if name in _TOOLS and not _is_typed(content):
        inside = {
            "id": message.id("tool_call_id", "toolCallId", "call_id"),
            "name": message.words("name", "tool_name"),
            "content": content,
        }
        return collect.result(Fields(inside))
    found: list[Part] = []
    thought = message.text(*_THOUGHTS) or next(
        (text for key in _THOUGHTS if (text := collect.text(message.all.get(key)))), ""
    )
    if thought:
        found.append(ReasoningPart(thought))
    for key in _FILES:
        for file in message.list(key):
            whole = Fields(file if isinstance(file, dict) else {"url": file})
            kind = "image" if key.startswith("image") else "file"
            found += collect.file(whole, kind)
    words = collect.parts(content)
    if ROLES.get(name) is Role.ASSISTANT and words and not thought:
        first = words[0]
        if isinstance(first, TextPart):
            words = [*thinking_apart(first.text), *words[1:]]
    found += words
    for key in ("tool_calls", "toolCalls", "tools"):
        for call in message.each(key):
            found += collect.call(call)
    return found


def model_of(message: Fields) -> ModelName | None:
    """The model that wrote a message, if one is named."""
    for key in _MODELS:
        inner = message.inside(key)
        name = message.words(key) or inner.words("name", "id")
        if name:
            return model_name(name)
    return model_name(message.inside("extra").words("model"))


def time_of_message(message: Fields) -> int:
    return message.time(*TIMES) or message.inside("metadata").time(*TIMES)


def _fill(
    one: ReadMessage, message: Fields, version: Fields, name: str, collect: Collector
) -> None:
    before = collect.report.counts.total()
    one.parts = parts_of(version, name, collect)
    one.created_at = time_of_message(version) or time_of_message(message)
    if one.role is Role.ASSISTANT and name not in _TOOLS:
        one.model = model_of(version) or model_of(message)
    one.error = _error(message, one)
    if message.flag("unfinished") or message.flag("partial") or message.flag("interrupted"):
        one.status = MessageStatus.INTERRUPTED
    nothing = not any(_has(part) for part in one.parts) and not one.error
    if nothing and _had_something(message) and collect.report.counts.total() == before:
        collect.report.skip(collect.where, "import-message-unread", name=name)


def _error(message: Fields, one: ReadMessage) -> str:
    error = message.all.get("error")
    if error is True or message.flag("isError") or message.flag("is_error"):
        text = "".join(part.text for part in one.parts)
        one.parts = ()
        return text
    if isinstance(error, str):
        return error
    return Fields(error).text("message", "content", "text")


def _has(part: Part) -> bool:
    return bool(part.text.strip()) if isinstance(part, TextPart | ReasoningPart) else True


def _had_something(message: Fields) -> bool:
    """True if a message held text that was not examined."""
    return any(
        isinstance(value, str) and len(value.split()) > 1
        for key, value in message.all.items()
        if key not in _IDS and not key.lower().endswith(("id", "at", "time", "date", "name"))
    )


def _content(message: Fields) -> object:
    """The first non-empty content."""
    for key in _CONTENT:
        value = message.all.get(key)
        if value:
            inner = Fields(value)
            # a message inside a message, as in API logs
            return inner.all["content"] if "content" in inner and "role" in inner else value
    return None


def _is_typed(content: object) -> bool:
    return isinstance(content, list) and any(
        Fields(one).text("type") in ("tool_result", "tool-result", "toolCallResult")
        for one in content
    )


def _versions(message: Fields) -> list[Fields]:
    for key in _VERSIONS:
        found = [
            Fields(one) if isinstance(one, dict) else Fields({"content": one})
            for one in message.list(key)
            if isinstance(one, dict | str) and one
        ]
        if found:
            return _with_whole(message, found)
    return []


def _with_whole(message: Fields, found: list[Fields]) -> list[Fields]:
    """Give the shown version the reasoning and files stored beside the versions."""
    shown = _on_show(message, len(found))
    same = Fields(message.all | dict.fromkeys(_VERSIONS) | _only_words(found[shown]))
    return [same if number == shown else one for number, one in enumerate(found)]


def _only_words(version: Fields) -> dict[str, object]:
    content = dict.fromkeys(_CONTENT)
    return content | {key: version.all[key] for key in version.all if key in _CONTENT}


def _on_show(message: Fields, count: int) -> int:
    for key in ("currentlySelected", "current_version_index", "swipe_id", "currentVersion"):
        chosen = message.whole(key)
        if chosen is not None and 0 <= chosen < count:
            return chosen
    return count - 1


def _told_versions_apart(seen: list[ReadMessage]) -> list[ReadMessage]:
    """Rename messages with the id of an earlier one: they are other versions of it."""
    known: dict[str, int] = {}
    for one in seen:
        again = known.get(one.id, 0)
        known[one.id] = again + 1
        if again:
            one.id = f"{one.id}~v{again}"
    return seen


def _results_apart(one: ReadMessage) -> list[ReadMessage]:
    """Split off tool results, which some APIs put into the user's messages: they belong to the
    previous reply. The message keeps the rest of the user's text."""
    results = [part for part in one.parts if isinstance(part, ToolResultPart)]
    if one.role is not Role.USER or not results:
        return [one]
    rest = [part for part in one.parts if not isinstance(part, ToolResultPart)]
    first = replace(one, role=Role.ASSISTANT, parts=results)
    if not rest:
        return [first]
    first.id = f"{one.id}~results"
    return [first, replace(one, parent=first.id, parts=rest)]


def _flat(messages: Iterable[Fields]) -> Iterator[Fields]:
    """Messages of a list, or of a tree in which each holds its children."""
    waiting: list[tuple[Fields, str]] = [(one, "") for one in messages]
    waiting.reverse()
    while waiting:
        message, parent = waiting.pop()
        nested = [one for key in _CHILDREN for one in message.each(key)]
        if parent and not message.id(*_PARENTS):
            message = Fields(message.all | {"parentId": parent})
        yield message
        waiting += [(one, message.id(*_IDS)) for one in reversed(nested)]


def _parents(given: Sequence[Fields], ids: Sequence[str]) -> dict[str, str | None]:
    """The parent of each message, by ids; empty if the file names none."""
    known = set(ids)
    by_child: dict[str, str] = {}
    for message, key in zip(given, ids, strict=True):
        for children in _CHILDREN:
            by_child.update((child, key) for child in message.texts(children))
    found: dict[str, str | None] = {}
    named = False
    for message, key in zip(given, ids, strict=True):
        ancestors = message.texts("ancestors")
        parent = message.id(*_PARENTS) or by_child.get(key, "") or (ancestors or ("",))[-1]
        named = named or parent in known
        found[key] = None if parent in _NOBODY and parent not in known else parent or None
    return found if named else {}
