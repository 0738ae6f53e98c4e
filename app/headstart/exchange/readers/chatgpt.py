"""ChatGPT's export: `conversations.json`, or shards of it, in a zip or a folder, with other files.

A conversation is a mapping of nodes by id with `parent`; `current_node` is the last shown one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from headstart.core.chats.attachments import LARGEST
from headstart.core.chats.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from headstart.core.chats.values import MessageStatus, Role
from headstart.exchange.fields import Fields, decode
from headstart.exchange.material import ImportProblem, Material
from headstart.exchange.readers.building import Facts, ReadMessage, build
from headstart.exchange.readers.common import ROLES, each, model_name, objects
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = "chatgpt", "ChatGPT"
_POINTERS = ("sediment://", "file-service://")
# never shown in ChatGPT itself
_NOT_SHOWN = ("model_editable_context", "reasoning_recap")
# marks of sources, places and files in the text: their beginning, parts, and end
_MARK = re.compile("\ue200[^\ue201]*+(?:\ue201|\\Z)")
_LEFT = re.compile("[\ue200-\ue206]")
# the form in older answers, with the number of the passage
_OLD_MARK = re.compile("\u3010[^\u3010\u3011]{1,80}\u2020[^\u3010\u3011]{0,200}\u3011")


def recognise(first: Fields) -> bool:
    return isinstance(first.all.get("mapping"), dict)


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    assets = _Assets(material)
    for member in members:
        found = objects(material.data(member), report, member, "conversations")
        make = partial(_conversation, assets=assets, report=report)
        yield from each(found, make, report, member)


class _Assets:
    """The exported files, found by the id that begins their names."""

    def __init__(self, material: Material) -> None:
        self._material = material
        names = (*material.members, *material.beside)
        self._names = {name.rpartition("/")[2]: name for name in names}

    def find(self, pointer: str) -> tuple[str, bytes] | None:
        key = pointer
        for prefix in _POINTERS:
            key = key.removeprefix(prefix)
        if not key:
            return None
        for name, member in self._names.items():
            if name.startswith(key) and self._material.size(member) <= LARGEST:
                try:
                    return name, bytes(self._material.data(member))
                except ImportProblem:
                    return None
        return None


def _conversation(fields: Fields, assets: _Assets, report: Report) -> ExchangeChat | None:
    facts = Facts(
        id=fields.id("conversation_id", "id"),
        title=fields.words("title"),
        created_at=fields.time("create_time"),
        updated_at=fields.time("update_time"),
        pinned=fields.flag("is_starred") or fields.flag("pinned"),
        tags=("archived",) if fields.flag("is_archived") else (),
        model=model_name(fields.words("default_model_slug")),
        leaf=fields.id("current_node") or None,
    )
    collect = Collector(report, facts.title or facts.id, assets.find)
    facts.blobs = collect.blobs.found
    mapping = fields.inside("mapping").all
    seen = []
    for key, value in mapping.items():
        node = Fields(value)
        if node:
            seen.append(_node(str(key), node, collect))
            facts.system_prompt = facts.system_prompt or _instructions(node.inside("message"))
    if facts.leaf not in mapping:
        facts.leaf = _newest(seen)
    return build(SOURCE, facts, _in_order_of_time(seen), report)


def _node(key: str, node: Fields, collect: Collector) -> ReadMessage:
    parent = node.id("parent") or None
    message = node.inside("message")
    author, metadata = message.inside("author"), message.inside("metadata")
    name = author.text("role")
    role = ROLES.get(name)
    content = message.inside("content")
    hidden = metadata.flag("is_visually_hidden_from_conversation") or message.number("weight") == 0
    seen = ReadMessage(key, parent, role or Role.ASSISTANT, created_at=message.time("create_time"))
    if message and content and role is None:
        collect.report.skip(collect.where, "import-role-unknown", name=name or "?")
    if role is None or not content or (hidden and not metadata.flag("is_user_system_message")):
        return seen
    if content.text("content_type") in (*_NOT_SHOWN, "user_editable_context"):
        return seen
    parts = [_unmarked(part, metadata) for part in _parts(content, collect)]
    if name == "tool":
        text = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
        files = [part for part in parts if not isinstance(part, TextPart)]
        tool = author.words("name") or "tool"
        # a tool result that only reports the call has no content
        parts = [*([ToolResultPart(key, tool, text)] if text else []), *files]
    elif role is Role.ASSISTANT and message.text("recipient") not in ("", "all"):
        text = "".join(part.text for part in parts if isinstance(part, TextPart))
        parts = [ToolCallPart(key, message.words("recipient"), text)] if text else []
    seen.parts = [*_attached(content, metadata, collect), *parts]
    if role is Role.ASSISTANT:
        seen.model = model_name(metadata.words("model_slug"))
        if message.text("status") == "in_progress":
            seen.status = MessageStatus.INTERRUPTED
    return seen


def _instructions(message: Fields) -> str:
    """The user's custom instructions, which precede every chat."""
    content = message.inside("content")
    if content.text("content_type") != "user_editable_context":
        return ""
    said = message.inside("metadata").inside("user_context_message_data")
    about = said.text("about_user_message") or _between_fences(content.text("user_profile"))
    wanted = said.text("about_model_message") or _between_fences(content.text("user_instructions"))
    return "\n\n".join(filter(None, (about, wanted)))


def _between_fences(text: str) -> str:
    """The user's own text, which the program fences behind a text of its own."""
    _before, fence, rest = text.partition("```")
    inside, end, _after = rest.partition("```")
    return inside.strip("\n") if fence and end else text


def _attached(content: Fields, metadata: Fields, collect: Collector) -> list[Part]:
    """Documents attached to a question; images stand in its content too."""
    pointers = [Fields(piece).text("asset_pointer") for piece in content.list("parts")]
    found: list[Part] = []
    for file in metadata.each("attachments"):
        key, name = file.id("id"), file.words("name")
        if not key or any(pointer.endswith(key) for pointer in pointers if pointer):
            continue
        asset = collect.find(key)
        if asset is None:
            found.append(collect.missing("file", name))
        else:
            kind = file.text("mime_type", "mimeType") or "application/octet-stream"
            found.append(collect.blobs.part(name or asset[0], asset[1], kind))
    return found


def _parts(content: Fields, collect: Collector) -> list[Part]:
    kind = content.text("content_type")
    if kind == "thoughts":
        thoughts = [
            "\n".join(filter(None, (one.text("summary"), one.text("content"))))
            for one in content.each("thoughts")
        ]
        return [ReasoningPart("\n\n".join(thoughts))] if any(thoughts) else []
    if kind == "system_error":
        text = " ".join(filter(None, (content.text("name"), content.text("text"))))
        return [TextPart(text)] if text else []
    found: list[Part] = []
    for piece in content.list("parts"):
        if isinstance(piece, str):
            if piece:
                found.append(TextPart(piece))
        else:
            found += _piece(Fields(piece), collect)
    screen = content.inside("screenshot")
    if screen:
        found += _piece(screen, collect)
    if found:
        return found
    # rarer kinds: code, its output, pages, apps; each has its text under one of a few names
    text = content.text("text", "result", "output_str", "output", "summary", "content", "body")
    title, address = content.words("title"), content.text("url")
    head = f"[{title}]({address})" if title and address else title or address
    head = head or content.words("domain")
    words = "\n\n".join(filter(None, (head, text)))
    if not words and _has_words(content):
        collect.unknown(kind)
    return [TextPart(words)] if words else []


def _has_words(content: Fields) -> bool:
    """True if it has content that was not examined."""
    return any(
        any(value) if isinstance(value, list) else bool(value)
        for key, value in content.all.items()
        if key not in ("content_type", "language", "response_format_name", "parts")
    )


def _piece(piece: Fields, collect: Collector) -> list[Part]:
    """An image, a file or speech within text."""
    if "text" in piece and not piece.text("asset_pointer"):
        return [TextPart(piece.text("text"))] if piece.text("text") else []
    inner = piece.inside("audio_asset_pointer") or piece
    pointer = inner.text("asset_pointer")
    kind = piece.text("content_type")
    if not pointer:
        if kind:
            collect.unknown(kind)
        return []
    found = collect.find(pointer)
    if found is None:
        name = pointer.rpartition("/")[2]
        return [collect.missing("image" if "image" in kind else "file", name)]
    name, data = found
    return [collect.blobs.part(name, data, "application/octet-stream")]


def _unmarked(part: Part, metadata: Fields) -> Part:
    """Text with marks of sources turned into links, or removed."""
    if not isinstance(part, TextPart) or not (
        "\ue200" in part.text or "\u3010" in part.text or _LEFT.search(part.text)
    ):
        return part
    text = part.text
    for one in metadata.each("content_references"):
        mark = one.text("matched_text")
        if "\ue200" in mark or _OLD_MARK.fullmatch(mark):
            text = text.replace(mark, _link(one))
    text = _MARK.sub(lambda it: _name_in(it[0]) if it[0].endswith("\ue201") else it[0], text)
    return TextPart(_OLD_MARK.sub("", _LEFT.sub("", text)))


def _link(reference: Fields) -> str:
    alt = reference.text("alt")
    if alt:
        return alt
    pages = [*reference.each("items"), reference]
    for page in pages:
        title, address = page.words("title", "name"), page.text("url")
        if address.startswith(("http://", "https://")):
            return f" ([{title or address}]({address}))"
    name = reference.words("name")
    return f" ({name})" if name else ""


def _name_in(mark: str) -> str:
    """The name of a place or a person in a mark; "" for the number of a source."""
    kind, _, rest = mark.strip("\ue200\ue201").partition("\ue202")
    if kind != "entity":
        return ""
    try:
        found = decode(rest.encode())
    except ValueError:
        return ""
    return (
        found[1] if isinstance(found, list) and len(found) > 1 and isinstance(found[1], str) else ""
    )


def _newest(seen: Sequence[ReadMessage]) -> str | None:
    """The most recently written message, for a file that does not say which message is shown."""
    written = [one for one in seen if one.parts]
    return max(written, key=lambda one: one.created_at).id if written else None


def _in_order_of_time(seen: Sequence[ReadMessage]) -> list[ReadMessage]:
    """Versions by time of creation; a mapping has no order."""
    return sorted(seen, key=lambda one: one.created_at)
