"""Markdown as `writers.markdown` writes it: front matter, and a heading before each message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from headstart.core.chats.parts import Part, ReasoningPart, TextPart
from headstart.core.chats.values import MessageStatus, Role
from headstart.core.settings.schema import ChatOptions, changed
from headstart.core.text.whole import whole
from headstart.exchange import ids
from headstart.exchange.fields import compact, decode, time_of
from headstart.exchange.include import Include
from headstart.exchange.material import Material
from headstart.exchange.readers.building import LONGEST_TEXT
from headstart.exchange.readers.common import model_name
from headstart.exchange.report import Report
from headstart.exchange.tree import ChatNode, ExchangeChat, chain
from headstart.exchange.writers.markdown import REASONING, body_of, front_of, opened
from headstart.exchange.writers.words import ENDINGS, HEADINGS

SOURCE, NAME = "markdown", "Markdown"
_FRONT = re.compile(r"\A\ufeff?---\n(?P<lines>.*?)\n---(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(
    r"^## (?P<role>User|Assistant|System)"
    r"(?: \((?P<ending>interrupted|stopped|failed|being written)\))?"
    r"(?: <!-- (?P<mark>\w{6}) -->)?$",
    re.MULTILINE,
)
_ROLES = {heading: role for role, heading in HEADINGS.items()}
_STATES = {ending: status for status, ending in ENDINGS.items()}


def recognise(text: str) -> bool:
    """True if the beginning of a file looks like a conversation."""
    return _HEADING.search(text) is not None


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    for member in members:
        data = material.data(member)
        if len(data) > LONGEST_TEXT:
            report.skip(member, "import-chat-too-large", size=len(data))
            continue
        try:
            text = bytes(data).decode("utf-8")
        except UnicodeDecodeError:
            report.skip(member, "import-encoding")
            continue
        found = from_markdown(text, whole(member.rpartition("/")[2].removesuffix(".md")))
        if found is None:
            report.skip(member, "import-empty")
        else:
            yield replace(found, folder=whole(member.rpartition("/")[0]))


def from_markdown(text: str, name: str = "") -> ExchangeChat | None:
    """Returns None for text without a message."""
    if text.count("\r\n") == text.count("\n"):
        # written by a program with such line ends
        text = text.replace("\r\n", "\n")
    front = _FRONT.match(text)
    lines = front["lines"] if front is not None else ""
    facts = _facts(lines)
    headings = [
        found
        for found in _HEADING.finditer(text, front.end() if front is not None else 0)
        if (found["mark"] or "") == facts.get("mark", "")
    ]
    prompt, nodes = "", list[ChatNode]()
    for number, heading in enumerate(headings):
        end = headings[number + 1].start() if number + 1 < len(headings) else len(text)
        body = text[heading.end() : end].strip("\n")
        role = _ROLES[heading["role"]]
        if role is Role.SYSTEM and not nodes and not prompt and body and body == body.strip():
            prompt = body
            continue
        status = _STATES.get(heading["ending"] or "", MessageStatus.COMPLETE)
        status = MessageStatus.INTERRUPTED if status is MessageStatus.OPEN else status
        nodes.append(ChatNode(f"{number}", None, role, _parts(body), status=status))
    if not nodes:
        return None
    models = facts.get("model", "")
    model = model_name(models) if models and ", " not in models else None
    nodes = [replace(node, model=model) if node.role is Role.ASSISTANT else node for node in nodes]
    created = time_of(facts.get("date", ""))
    found = ExchangeChat(
        source=SOURCE,
        id=_own_id(facts) or ids.content_id(text),
        title=facts.get("title", name),
        nodes=chain(nodes),
        created_at=created,
        updated_at=created,
        model=model,
        options=changed(ChatOptions(), system_prompt=prompt) if prompt else ChatOptions(),
    )
    written = front_of(found, found.branch(), facts.get("mark", ""))[4:-4]
    if front is not None and written != lines:
        found = replace(found, extra=compact({"front": [written, lines]}))
    return found


def _own_id(facts: dict[str, str]) -> str:
    """The id of our chat that a mirrored file names."""
    chat = facts.get("chat", "")
    return chat if ids.is_own(chat) else ""


def _facts(lines: str) -> dict[str, str]:
    found = {}
    for line in lines.split("\n"):
        key, colon, value = line.partition(": ")
        if not colon or key in found:
            continue
        try:
            text = decode(value.encode())
        except ValueError:
            text = value
        found[key] = text if isinstance(text, str) else value
    return found


def _parts(body: str) -> tuple[Part, ...]:
    """Split off reasoning in the form that we write; anything doubtful is text."""
    parts: list[Part] = []
    at = 0
    while (start := body.find(REASONING[0], at)) >= 0:
        end = body.find(REASONING[1], start + len(REASONING[0]))
        if end < 0:
            break
        if body[at:start].strip("\n"):
            parts.append(TextPart(opened(body[at:start].strip("\n"))))
        parts.append(ReasoningPart(opened(body[start + len(REASONING[0]) : end])))
        at = end + len(REASONING[1])
    if body[at:].strip("\n"):
        parts.append(TextPart(opened(body[at:].strip("\n"))))
    same = body_of(ChatNode("", None, Role.ASSISTANT, tuple(parts)), Include()) == body
    if same:
        return tuple(parts)
    return (TextPart(body),)
