"""LM Studio's conversations: one `*.conversation.json` each; folders are directories.

The versions of a message share one position: later messages follow the shown version, so the others
become branches that end there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from headstart.core.chats.attachments import LARGEST
from headstart.core.chats.bounds import converted
from headstart.core.chats.parts import Part, ReasoningPart, TextPart
from headstart.core.chats.values import FinishReason, MessageStatus, Role, TurnStats
from headstart.exchange.fields import Fields
from headstart.exchange.material import ImportProblem, Material
from headstart.exchange.readers.building import Facts, ReadMessage, build, renamed
from headstart.exchange.readers.common import ROLES, each, model_name, objects, thinking_apart
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = "lm-studio", "LM Studio"
_SUFFIX = ".conversation.json"
_ENDS = {
    "eosFound": FinishReason.END,
    "stopStringFound": FinishReason.STOP_STRING,
    "maxPredictedTokensReached": FinishReason.LENGTH,
    "userStopped": FinishReason.CANCELLED,
    "contextLengthReached": FinishReason.CONTEXT_FULL,
}


def recognise(first: Fields) -> bool:
    messages = list(first.each("messages"))
    return any(isinstance(one.all.get("versions"), list) for one in messages) or (
        "messages" in first and ("lastUsedModel" in first or "usePerChatPredictionConfig" in first)
    )


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    for member in members:
        found = objects(material.data(member), report, member)
        make = partial(_conversation, member=member, material=material, report=report)
        yield from each(found, make, report, member)


def _conversation(
    fields: Fields, member: str, material: Material, report: Report
) -> ExchangeChat | None:
    folder, _, name = member.rpartition("/")
    # the folder of all conversations is not one of the user's folders
    if "conversations" in folder.split("/"):
        folder = folder.rpartition("conversations")[2].strip("/")
    facts = Facts(
        id=name.removesuffix(_SUFFIX),
        title=fields.words("name"),
        created_at=fields.time("createdAt"),
        updated_at=fields.time("assistantLastMessagedAt", "userLastMessagedAt"),
        pinned=fields.flag("pinned"),
        folder=folder,
        system_prompt=fields.text("systemPrompt").strip() or _prompt(fields),
        model=model_name(_model(fields.inside("lastUsedModel"))),
    )
    collect = Collector(report, facts.title or member, partial(_file_beside, material))
    facts.blobs = collect.blobs.found
    seen: list[ReadMessage] = []
    parent: str | None = None
    moment = facts.created_at
    for number, message in enumerate(fields.each("messages")):
        versions = list(message.each("versions")) or [message]
        chosen = message.whole("currentlySelected") or 0
        chosen = chosen if 0 <= chosen < len(versions) else len(versions) - 1
        for place, version in enumerate(versions):
            # messages have no times: keep their order
            moment += 1 if moment else 0
            seen.append(_version(version, f"{number}.{place}", parent, moment, collect))
        parent = f"{number}.{chosen}"
    facts.leaf = parent
    # its messages have no ids, and are edited in place
    return build(SOURCE, facts, renamed(seen, facts), report)


def _version(
    version: Fields, key: str, parent: str | None, moment: int, collect: Collector
) -> ReadMessage:
    role = ROLES.get(version.text("role"), Role.USER)
    seen = ReadMessage(key, parent, role, created_at=moment)
    if version.text("type") != "multiStep":
        seen.parts = collect.parts(version.all.get("content"))
        return seen
    parts: list[Part] = []
    for step in version.each("steps"):
        kind = step.text("type")
        if kind == "contentBlock":
            new = collect.parts(step.all.get("content"))
            if step.inside("style").text("type") == "thinking":
                new = [ReasoningPart(one.text) if _is_words(one) else one for one in new]
            parts += new
            info = step.inside("genInfo")
            seen.model = seen.model or model_name(_model(info))
            seen.stats = _stats(info.inside("stats"), collect) or seen.stats
        elif kind not in ("debugInfoBlock", "status", "toolStatus"):
            collect.report.skip(collect.where, "import-step-unknown", name=kind or "step")
    seen.model = seen.model or model_name(version.inside("senderInfo").words("senderName"))
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    plain = all(isinstance(part, TextPart) for part in parts)
    seen.parts = thinking_apart(text) if plain and role is Role.ASSISTANT else parts
    if seen.stats is not None and seen.stats.finish is FinishReason.CANCELLED:
        seen.status = MessageStatus.STOPPED
    return seen


def _is_words(part: Part) -> bool:
    return isinstance(part, TextPart)


def _file_beside(material: Material, key: str) -> tuple[str, bytes] | None:
    """A user's file, which the program stores in another folder under its key."""
    for member in material.members:
        name = member.rpartition("/")[2]
        if key and name == key and material.size(member) <= LARGEST:
            try:
                return name, bytes(material.data(member))
            except ImportProblem:
                return None
    return None


def _model(fields: Fields) -> str:
    return fields.words("identifier", "indexedModelIdentifier", "name").rpartition("/")[2]


def _prompt(fields: Fields) -> str:
    """The system prompt in the settings of the chat."""
    if not fields.flag("usePerChatPredictionConfig"):
        return ""
    for field in fields.inside("perChatPredictionConfig").each("fields"):
        if field.text("key").endswith("systemPrompt"):
            return field.text("value").strip()
    return ""


def _stats(fields: Fields, collect: Collector) -> TurnStats | None:
    generated = fields.number("predictedTokensCount")
    speed = fields.number("tokensPerSecond")
    if not generated or generated < 0:
        return None
    given = {
        "finish": _ENDS.get(fields.text("stopReason"), FinishReason.END).value,
        "prompt_tokens": fields.all.get("promptTokensCount") or 0,
        "reused_tokens": 0,
        "prefill_seconds": 0.0,
        "first_token_seconds": fields.all.get("timeToFirstTokenSec"),
        "generated_tokens": generated,
        "generate_seconds": generated / speed if speed and speed > 0 else 0.0,
    }
    stats, odd = converted(given, TurnStats)
    if odd:
        collect.report.skip(collect.where, "import-numbers", count=odd)
    return stats if stats.generated_tokens else None
