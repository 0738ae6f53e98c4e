"""Gemini: activity from Google's Takeout, and files saved by AI Studio.

Takeout has no conversations, only questions with their times, newest first. A question within half
an hour of the previous one belongs to the same chat. AI Studio's files have one conversation each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from headstart.core.chats.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from headstart.core.chats.values import MessageStatus, Role
from headstart.exchange.fields import Fields, decode, time_of
from headstart.exchange.ids import content_id
from headstart.exchange.material import Material
from headstart.exchange.readers import activity
from headstart.exchange.readers.building import Facts, ReadMessage, build
from headstart.exchange.readers.common import ROLES, model_name, objects
from headstart.exchange.readers.html_text import to_markdown
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = "gemini", "Gemini"
STUDIO_SOURCE, STUDIO_NAME = "ai-studio", "Google AI Studio"
# milliseconds without a question that separate two chats
_GAP = 30 * 60_000
_ASKED = re.compile(
    r"(?:Prompted with:|Asked Gemini:|Asked Bard:|Prompted|Asked|Said|Branched|Answered)\s"
)
# activities that are not questions
_NOT_ASKED = re.compile(
    r"(?:Created|Used|Added|Gave|Selected|Shared|Deleted|Viewed|Visited|Searched|Edited|Pinned"
    r"|Renamed|Exported|Updated|Listened)\b"
)
# Takeout's text before a question in other languages: “Eingegebener Prompt:”
_PROMPTED = re.compile(r"(?:[^\s:：]+\s){0,3}[^\s:：]*prompt[^\s:：]*\s?[:：]\s*", re.IGNORECASE)
# a prefix common to all questions of a file counts as Google's
_SHARED = re.compile(r"(?:[^\s:：]{2,20}\s){0,3}[^\s:：]{2,20}\s?[:：]\s")
_ATTACHED = re.compile(r"(?<!\s)\s*Attached \d+ files?\.?\s*$")


def recognise(first: Fields) -> bool:
    labels = [first.text("header"), *first.texts("products")]
    ours = any("gemini" in label.casefold() or "bard" in label.casefold() for label in labels)
    return ours and "title" in first and "time" in first


def recognise_studio(first: Fields) -> bool:
    return isinstance(first.inside("chunkedPrompt").all.get("chunks"), list)


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    for member in members:
        data = material.data(member)
        records = (
            activity.records(data) if activity.is_page(data) else objects(data, report, member)
        )
        known = [record for record in records if recognise(record)]
        shared = _shared(known)
        asked = [(record, question) for record in known if (question := _question(record, shared))]
        # newest first: without times, the order is all there is
        asked.reverse()
        asked.sort(key=lambda one: one[0].time("time"))
        together: list[tuple[Fields, str]] = []
        for record, question in asked:
            before = together[-1][0].time("time") if together else 0
            if together and record.time("time") - before > _GAP:
                yield from _chat(together, report)
                together = []
            together.append((record, question))
        yield from _chat(together, report)


def _shared(records: Sequence[Fields]) -> str:
    """The prefix of every question, in the language of the account; "" if they differ."""
    titles = [record.text("title").strip() for record in records if record.list("safeHtmlItem")]
    found = _SHARED.match(titles[0]) if len(titles) > 2 else None
    prefix = found[0] if found is not None else ""
    return prefix if all(title.startswith(prefix) for title in titles) else ""


def read_studio(
    material: Material, members: Sequence[str], report: Report
) -> Iterator[ExchangeChat]:
    for member in members:
        try:
            fields = Fields(decode(material.data(member)))
        except ValueError:
            report.skip(member, "import-unreadable")
            continue
        found = _studio(fields, member, report)
        if found is not None:
            yield found


def _question(record: Fields, shared: str) -> str:
    title = record.text("title").strip()
    if _NOT_ASKED.match(title):
        return ""
    found = _ASKED.match(title) or _PROMPTED.match(title)
    if found is None and not record.list("safeHtmlItem"):
        # in another language only an answered activity is certainly a question
        return ""
    asked = title[found.end() :] if found else title.removeprefix(shared)
    # only a file was sent
    return _ATTACHED.sub("", asked).strip() or (f"[{asked.strip()}]" if asked.strip() else "")


def _chat(records: Sequence[tuple[Fields, str]], report: Report) -> Iterator[ExchangeChat]:
    if not records:
        return
    seen: list[ReadMessage] = []
    for record, question in records:
        moment = record.time("time")
        key = content_id(record.text("time"), question)[:16]
        seen.append(
            _follow(seen, ReadMessage(f"{key}q", None, Role.USER, [TextPart(question)], moment))
        )
        answer = "\n\n".join(
            to_markdown(item.text("html")) for item in record.each("safeHtmlItem")
        ).strip()
        if answer:
            reply = ReadMessage(f"{key}a", None, Role.ASSISTANT, [TextPart(answer)], moment)
            reply.model = model_name("Gemini")
            seen.append(_follow(seen, reply))
    facts = Facts(id=seen[0].id, created_at=seen[0].created_at, updated_at=seen[-1].created_at)
    found = build(SOURCE, facts, seen, report)
    if found is not None:
        yield found


def _follow(before: Sequence[ReadMessage], one: ReadMessage) -> ReadMessage:
    one.parent = before[-1].id if before else None
    return one


def _studio(fields: Fields, member: str, report: Report) -> ExchangeChat | None:
    prompt = fields.inside("systemInstruction")
    words = "\n".join(part.text("text") for part in prompt.each("parts")) or prompt.text("text")
    facts = Facts(
        title=member.rpartition("/")[2].removesuffix(".json"),
        system_prompt=words.strip(),
        model=model_name(fields.inside("runSettings").words("model").rpartition("/")[2]),
    )
    collect = Collector(report, facts.title)
    facts.blobs = collect.blobs.found
    seen: list[ReadMessage] = []
    prompt = fields.inside("chunkedPrompt")
    for number, chunk in enumerate(prompt.each("chunks")):
        role = ROLES.get(chunk.text("role"), Role.USER)
        one = ReadMessage(f"{number}", None, role, _chunk_parts(chunk, collect))
        one.created_at = time_of(chunk.all.get("createTime"))
        one.model = facts.model if role is Role.ASSISTANT else None
        if chunk.text("errorMessage"):
            one.error, one.status = chunk.text("errorMessage"), MessageStatus.FAILED
        before = seen[-1] if seen else None
        if before is not None and before.role is role is Role.USER:
            # files of a question are separate chunks
            before.parts = [*before.parts, *_apart(before.parts), *one.parts]
        else:
            seen.append(_follow(seen, one))
    for pending in prompt.each("pendingInputs"):
        if pending.text("text"):
            report.skip(facts.title, "import-unsent")
    return build(STUDIO_SOURCE, facts, seen, report)


def _chunk_parts(chunk: Fields, collect: Collector) -> list[Part]:
    found: list[Part] = []
    text = chunk.text("text")
    if text:
        found.append(ReasoningPart(text) if chunk.flag("isThought") else TextPart(text))
    for key in chunk.all:
        inner = chunk.inside(key)
        if not inner or key == "grounding":
            continue
        if key == "executableCode":
            language = inner.words("language").lower() or "code"
            found.append(ToolCallPart("", language, inner.text("code")))
        elif key == "codeExecutionResult":
            failed = inner.text("outcome") not in ("", "OUTCOME_OK")
            found.append(ToolResultPart("", "code", inner.text("output"), failed))
        elif key.startswith("inline"):
            found += collect.file(inner, "image" if "Image" in key else "file")
        elif key.startswith("drive") or key in ("youtubeVideo", "fileData"):
            found.append(collect.missing("file", inner.id("id", "fileUri") or key))
    if not found and not chunk.list("parts"):
        kinds = [key for key in chunk.all if key not in ("role", "tokenCount", "createTime")]
        collect.unknown(", ".join(kinds) or "chunk")
    return found or collect.parts(chunk.all.get("parts"))


def _apart(parts: Sequence[Part]) -> list[Part]:
    return [TextPart("\n\n")] if parts and isinstance(parts[-1], TextPart) else []
