"""Which format a file has, by what is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from headstart.exchange.fields import Fields, decode
from headstart.exchange.material import ImportProblem, Material
from headstart.exchange.readers import (
    chatgpt,
    claude,
    gemini,
    gpt4all,
    jan,
    lists,
    llamacpp,
    lmstudio,
    markdown,
    openwebui,
    own,
)
from headstart.exchange.readers.common import LARGEST_CONVERSATION, raws
from headstart.exchange.report import Report
from headstart.exchange.tree import Conversation

Read = Callable[[Material, Sequence[str], Report], Iterator[Conversation]]
# bytes that are looked at to know what a file is
_START = 1 << 20
# objects of an array that are looked at
_FIRST = 5
_IGNORED = (
    ".html",
    ".css",
    ".js",
    ".png",
    ".jpg",
    ".jpeg",
    ".webp",
    ".gif",
    ".pdf",
    ".dat",
    ".wav",
)


@dataclass(frozen=True, slots=True)
class Format:
    code: str
    name: str
    read: Read
    recognise: Callable[[Fields], bool]


FORMATS = (
    Format(own.SOURCE, own.NAME, own.read, own.recognise),
    Format(chatgpt.SOURCE, chatgpt.NAME, chatgpt.read, chatgpt.recognise),
    Format(claude.SOURCE, claude.NAME, claude.read, claude.recognise),
    Format(openwebui.SOURCE, openwebui.NAME, openwebui.read, openwebui.recognise),
    Format(llamacpp.SOURCE, llamacpp.NAME, llamacpp.read, llamacpp.recognise),
    Format(
        llamacpp.TRACE_SOURCE, llamacpp.TRACE_NAME, llamacpp.read_trace, llamacpp.recognise_trace
    ),
    Format(lmstudio.SOURCE, lmstudio.NAME, lmstudio.read, lmstudio.recognise),
    Format(gemini.SOURCE, gemini.NAME, gemini.read, gemini.recognise),
    Format(gemini.STUDIO_SOURCE, gemini.STUDIO_NAME, gemini.read_studio, gemini.recognise_studio),
    Format(jan.SOURCE, jan.NAME, jan.read, jan.recognise),
    Format(lists.SOURCE, lists.NAME, lists.read, lists.recognise),
)
GPT4ALL = Format(gpt4all.SOURCE, gpt4all.NAME, gpt4all.read, lambda _: False)
MARKDOWN = Format(markdown.SOURCE, markdown.NAME, markdown.read, lambda _: False)


@dataclass(slots=True)
class Recognised:
    """Files of one format, in their order."""

    format: Format
    members: list[str] = field(default_factory=list)


def recognise(
    material: Material, report: Report, stopped: Callable[[], bool] = lambda: False
) -> list[Recognised]:
    """What is in it; files that are none of these are told where nothing else was found, and where
    they could have been one. `stopped` ends the look at a large folder."""
    found: dict[str, Recognised] = {}
    unknown: list[tuple[str, str]] = []
    for member in material.members:
        if stopped():
            return []
        if member.lower().endswith(_IGNORED) or _is_blob(member):
            continue
        try:
            form, why = _format_of(material.data(member), member)
        except ImportProblem as problem:
            report.problem(member, problem.told)
            continue
        if form is None:
            unknown.append((member, why))
        else:
            found.setdefault(form.code, Recognised(form)).members.append(member)
    for member, why in unknown:
        if not found or why != "import-not-known":
            report.skip(member, why, name=member)
    if not found and not unknown and not report.counts:
        report.skip(material.name, "import-not-known", name=material.name)
    return list(found.values())


def _is_blob(member: str) -> bool:
    return f"/{own.BLOBS}/" in f"/{member}"


def _format_of(data: memoryview, member: str) -> tuple[Format | None, str]:
    """The format, or the code of why there is none."""
    if bytes(data[:4]) == gpt4all.MAGIC:
        return GPT4ALL, ""
    start = bytes(data[:_START])
    if start[:2] in (b"\xff\xfe", b"\xfe\xff") or (b"\0" in start[:4] and any(start[:4])):
        # characters of two or four bytes
        return None, "import-encoding"
    first = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if first in (b"{", b"["):
        for fields in _first_objects(data):
            for form in FORMATS:
                if form.recognise(fields):
                    return form, ""
        return None, "import-not-known" if _is_json(data) else "import-unreadable"
    if b"\0" in start:
        return None, "import-not-known"
    text = start.decode("utf-8", "ignore")
    if markdown.recognise(text):
        return MARKDOWN, ""
    if member.lower().endswith((".json", ".jsonl")):
        return None, "import-unreadable"
    return None, "import-not-known"


def _first_objects(data: memoryview) -> Iterator[Fields]:
    """The first objects of a file: of its array, of its lines, or the file itself. Raises
    ImportProblem at the end where one is too large to be looked at."""
    line = _first_line(data)
    if line is not None:
        yield line
        return
    too_large = 0
    try:
        for number, raw in enumerate(raws(data)):
            if number == _FIRST:
                break
            if len(raw) > LARGEST_CONVERSATION:
                too_large = max(too_large, len(raw))
                continue
            fields = Fields(decode(raw))
            yield fields
            # shards of some exports wrap the array
            for key in ("conversations", "chats"):
                for inner in fields.list(key)[:1]:
                    yield Fields(inner)
    except (ValueError, msgspec.MsgspecError):
        return
    if too_large:
        raise ImportProblem("import-chat-too-large", size=too_large)


def _first_line(data: memoryview) -> Fields | None:
    """The first of several lines that are an object each."""
    start = bytes(data[: 4 << 20]).removeprefix(b"\xef\xbb\xbf").lstrip()
    line, more, rest = start.partition(b"\n")
    if not more or not line.startswith(b"{") or not rest.strip():
        return None
    try:
        return Fields(decode(line))
    except ValueError:
        return None


def _is_json(data: memoryview) -> bool:
    try:
        next(raws(data), None)
    except ValueError:
        return False
    return True


def title_of_source(code: str) -> str:
    """What the program is called from which a chat came; "" for an unknown one."""
    found = (form.name for form in (*FORMATS, GPT4ALL, MARKDOWN) if form.code == code)
    return next(found, "")
