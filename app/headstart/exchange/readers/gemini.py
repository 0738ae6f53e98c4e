"""Gemini: what Google's Takeout keeps as activity, and what AI Studio saves.

Takeout knows no conversations, only what was asked when, newest first. What was asked within half
an hour of the question before counts as one chat. AI Studio's files have one conversation each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from headstart.core.parts import Part, ReasoningPart, TextPart
from headstart.core.values import Role
from headstart.exchange.fields import Fields, decode, time_of
from headstart.exchange.ids import content_id
from headstart.exchange.material import Material
from headstart.exchange.readers.building import Facts, Seen, build
from headstart.exchange.readers.common import ROLES, model_name, objects
from headstart.exchange.readers.html_text import to_markdown
from headstart.exchange.report import Report
from headstart.exchange.tree import Conversation

SOURCE, NAME = "gemini", "Gemini"
STUDIO_SOURCE, STUDIO_NAME = "ai-studio", "Google AI Studio"
# milliseconds without a question after which another chat begins
_GAP = 30 * 60_000
_ASKED = re.compile(
    r"(?:Prompted with:|Asked Gemini:|Asked Bard:|Prompted|Asked|Said|Branched|Answered)\s"
)
# what people did that was no question
_NOT_ASKED = re.compile(
    r"(?:Created|Used|Added|Gave|Selected|Shared|Deleted|Viewed|Visited|Searched|Edited|Pinned"
    r"|Renamed|Exported|Updated|Listened)\b"
)
_ATTACHED = re.compile(r"\s*Attached \d+ files?\.?\s*$")


def recognise(first: Fields) -> bool:
    labels = [first.text("header"), *first.texts("products")]
    ours = any("gemini" in label.casefold() or "bard" in label.casefold() for label in labels)
    return ours and "title" in first and "time" in first


def recognise_studio(first: Fields) -> bool:
    return isinstance(first.inside("chunkedPrompt").all.get("chunks"), list)


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[Conversation]:
    for member in members:
        asked = [
            record
            for record in objects(material.data(member), report, member)
            if recognise(record) and _question(record)
        ]
        asked.sort(key=lambda record: record.time("time"))
        together: list[Fields] = []
        for record in asked:
            if together and record.time("time") - together[-1].time("time") > _GAP:
                yield from _chat(together, report)
                together = []
            together.append(record)
        yield from _chat(together, report)


def read_studio(
    material: Material, members: Sequence[str], report: Report
) -> Iterator[Conversation]:
    for member in members:
        try:
            fields = Fields(decode(material.data(member)))
        except ValueError:
            report.skip(member, "import-unreadable")
            continue
        found = _studio(fields, member, report)
        if found is not None:
            yield found


def _question(record: Fields) -> str:
    title = record.text("title").strip()
    if _NOT_ASKED.match(title):
        return ""
    found = _ASKED.match(title)
    if found is None and not record.list("safeHtmlItem"):
        # in another language only what was answered is surely a question
        return ""
    asked = title[found.end() :] if found else title
    # nothing but a file was sent
    return _ATTACHED.sub("", asked).strip() or (f"[{asked.strip()}]" if asked.strip() else "")


def _chat(records: Sequence[Fields], report: Report) -> Iterator[Conversation]:
    if not records:
        return
    seen: list[Seen] = []
    for record in records:
        moment, question = record.time("time"), _question(record)
        key = content_id(record.text("time"), question)[:16]
        seen.append(_follow(seen, Seen(f"{key}q", None, Role.USER, [TextPart(question)], moment)))
        answer = "\n\n".join(
            to_markdown(item.text("html")) for item in record.each("safeHtmlItem")
        ).strip()
        if answer:
            reply = Seen(f"{key}a", None, Role.ASSISTANT, [TextPart(answer)], moment)
            reply.model = model_name("Gemini")
            seen.append(_follow(seen, reply))
    facts = Facts(id=seen[0].id, created_at=seen[0].created_at, updated_at=seen[-1].created_at)
    found = build(SOURCE, facts, seen, report)
    if found is not None:
        yield found


def _follow(before: Sequence[Seen], one: Seen) -> Seen:
    one.parent = before[-1].id if before else None
    return one


def _studio(fields: Fields, member: str, report: Report) -> Conversation | None:
    prompt = fields.inside("systemInstruction")
    words = "\n".join(part.text("text") for part in prompt.each("parts")) or prompt.text("text")
    facts = Facts(
        title=member.rpartition("/")[2].removesuffix(".json"),
        system_prompt=words.strip(),
        model=model_name(fields.inside("runSettings").words("model").rpartition("/")[2]),
    )
    seen: list[Seen] = []
    for number, chunk in enumerate(fields.inside("chunkedPrompt").each("chunks")):
        text = chunk.text("text")
        if not text:
            report.skip(facts.title, "import-file-missing", name=_file_of(chunk))
            continue
        thought = chunk.flag("isThought")
        parts: list[Part] = [ReasoningPart(text) if thought else TextPart(text)]
        role = ROLES.get(chunk.text("role"), Role.USER)
        one = Seen(f"{number}", None, role, parts, time_of(chunk.all.get("createTime")))
        one.model = facts.model if role is Role.ASSISTANT else None
        seen.append(_follow(seen, one))
    return build(STUDIO_SOURCE, facts, seen, report)


def _file_of(chunk: Fields) -> str:
    kinds = [key for key in chunk.all if key.startswith(("drive", "inline"))]
    return kinds[0] if kinds else "file"
