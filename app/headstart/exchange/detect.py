"""Detects the format of a file from its content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import Struct, field

from headstart.exchange.fields import Fields, decode
from headstart.exchange.material import ImportProblem, Material, wide_encoding
from headstart.exchange.readers import (
    activity,
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
    tables,
    transcripts,
)
from headstart.exchange.readers.common import LARGEST_CONVERSATION, raws
from headstart.exchange.readers.programs_apps import APPS
from headstart.exchange.readers.programs_code import CODE
from headstart.exchange.readers.programs_pairs import PAIRS
from headstart.exchange.readers.programs_web import WEB
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

Read = Callable[[Material, Sequence[str], Report], Iterator[ExchangeChat]]
# bytes examined to recognize a file
_START = 1 << 20
# most objects of an array, and most lines, to examine
_FIRST, _LINES = 5, 40
_IGNORED = (
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


class Format(Struct, frozen=True):
    code: str
    name: str
    reader: Read
    recognise: Callable[[Fields], bool]

    def read(
        self, material: Material, members: Sequence[str], report: Report
    ) -> Iterator[ExchangeChat]:
        """The conversations of files; reports a file that yields none."""
        for member in members:
            told, found = report.counts.total(), False
            for conversation in self.reader(material, [member], report):
                found = True
                yield conversation
            if not found and report.counts.total() == told:
                report.skip(member, "import-empty")


# the first format that accepts a file wins: narrow ones before broad ones
FORMATS = (
    Format(own.SOURCE, own.NAME, own.read, own.recognise),
    *(
        Format(one.source, one.name, one.read, one.recognise)
        for one in (*WEB, *CODE, *APPS, *PAIRS)
    ),
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
_BY_CODE = {form.code: form for form in FORMATS}
GPT4ALL = Format(gpt4all.SOURCE, gpt4all.NAME, gpt4all.read, lambda _: False)
MARKDOWN = Format(markdown.SOURCE, markdown.NAME, markdown.read, lambda _: False)
# texts and tables of other programs
TEXTS: tuple[tuple[Callable[[str], bool], Format], ...] = (
    *(
        (one.recognise, Format(one.source, one.name, one.read, lambda _: False))
        for one in transcripts.KINDS
    ),
    (tables.recognise, Format(tables.SOURCE, tables.NAME, tables.read, lambda _: False)),
)


class Recognised(Struct):
    """Files of one format, in their order."""

    format: Format
    members: list[str] = field(default_factory=list)


def recognise(
    material: Material, report: Report, stopped: Callable[[], bool] = lambda: False
) -> list[Recognised]:
    """Group files by their format; other files are reported if nothing was recognized, or if they
    look like conversations. `stopped` ends the scan of a large folder."""
    found: dict[str, Recognised] = {}
    unknown: list[tuple[str, str]] = []
    for member in material.members:
        if stopped():
            return []
        if member.lower().endswith(_IGNORED) or _is_blob(member):
            continue
        try:
            data = material.data(member)
            if wide_encoding(data) and len(data) <= LARGEST_CONVERSATION:
                material.wide.add(member)
                data = material.data(member)
            form, why = _format_of(data, member)
        except ImportProblem as problem:
            report.problem(member, problem.told)
            continue
        if form is None:
            unknown.append((member, why))
        else:
            found.setdefault(form.code, Recognised(form)).members.append(member)
    for member, why in unknown:
        if why == "import-page" and not found:
            report.skip(member, "import-page", name=member)
        elif not found or why not in ("import-not-known", "import-page"):
            report.skip(member, why, name=member)
    if not found and not unknown and not report.counts:
        report.skip(material.name, "import-not-known", name=material.name)
    return list(found.values())


def _is_blob(member: str) -> bool:
    return f"/{own.BLOBS}/" in f"/{member}"


def _format_of(data: memoryview, member: str) -> tuple[Format | None, str]:
    """The format, or the code of the reason why there is none."""
    if bytes(data[:4]) == gpt4all.MAGIC:
        return GPT4ALL, ""
    start = bytes(data[:_START])
    first = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if first in (b"{", b"["):
        for fields in _first_objects(data):
            for form in FORMATS:
                if form.recognise(fields):
                    return form, ""
        return None, "import-not-known" if _is_json(data) else "import-unreadable"
    if b"\0" in start:
        return None, "import-not-known"
    if activity.is_page(data):
        return _BY_CODE[gemini.SOURCE], ""
    if member.lower().endswith((".html", ".htm")):
        return None, "import-page" if b"jsonData" in start else "import-not-known"
    text = start.decode("utf-8", "ignore")
    if markdown.recognise(text):
        return MARKDOWN, ""
    for recognises, form in TEXTS:
        if recognises(text):
            return form, ""
    if member.lower().endswith((".json", ".jsonl")):
        return None, "import-unreadable"
    return None, "import-not-known"


def _first_objects(data: memoryview) -> Iterator[Fields]:
    """The first objects of a file: of its array, of its lines, or the file itself. Raises
    ImportProblem at the end if one is too large to examine."""
    found = _first_lines(data)
    if found:
        yield from found
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
            # shards of some exports wrap the array in an object
            for key in ("conversations", "chats", "data", "threads"):
                for inner in fields.list(key)[:1]:
                    yield Fields(inner)
    except (ValueError, msgspec.MsgspecError):
        return
    if too_large:
        raise ImportProblem("import-chat-too-large", size=too_large)


def _first_lines(data: memoryview) -> list[Fields]:
    """The first lines that hold an object each; none if the file is one object."""
    start = bytes(data[: 4 << 20]).removeprefix(b"\xef\xbb\xbf").lstrip()
    found: list[Fields] = []
    given = [line for line in start.split(b"\n", _LINES * 4) if line.strip()]
    if len(given) < 2:
        return []
    for line in given[:_LINES]:
        try:
            found.append(Fields(decode(line)))
        except ValueError:
            if not found:
                # the beginning of an object that spans lines
                return []
    return found


def _is_json(data: memoryview) -> bool:
    """True for valid JSON, or lines of it: an unknown structure, but not damaged."""
    if _first_lines(data):
        return True
    try:
        for _ in raws(data):
            pass
    except ValueError:
        return False
    return True


def title_of_source(code: str) -> str:
    """The name of the program that a chat came from; "" for an unknown one."""
    known = (*FORMATS, GPT4ALL, MARKDOWN, *(form for _, form in TEXTS))
    return next((form.name for form in known if form.code == code), "")
