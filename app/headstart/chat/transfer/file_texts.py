"""Texts of files imported with conversations: extracted as if attached, so that the model knows
them when the chat continues. On a worker thread; documents are read in a child process."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from headstart.chat.transfer.intake import ImportJobRun
from headstart.core.chats.attachments import LARGEST, LONGEST, Extracted, Unit, in_parts
from headstart.core.chats.parts import FilePart, Part
from headstart.core.errors import EnvironmentProblem
from headstart.exchange.report import Report
from headstart.exchange.tree import ChatNode, ExchangeChat
from headstart.extraction.kinds import DocumentKind, kind_of, media_type_of
from headstart.extraction.process import Reading
from headstart.extraction.texts import decode


class FileTexts:
    """The texts of the files in one import; a file shared by several chats is read once."""

    def __init__(self, report: Report, run: ImportJobRun) -> None:
        self._report = report
        self._run = run
        self._known: dict[str, Extracted | None] = {}

    def filled(self, conversation: ExchangeChat) -> ExchangeChat:
        """The conversation with the texts of its files; unreadable files are reported and kept."""
        blobs = conversation.blobs
        if not any(_wants(part, blobs) for node in conversation.nodes for part in node.parts):
            return conversation
        where = conversation.title
        nodes = tuple(self._node(node, blobs, where) for node in conversation.nodes)
        return replace(conversation, nodes=nodes)

    def _node(self, node: ChatNode, blobs: Mapping[str, bytes], where: str) -> ChatNode:
        return replace(node, parts=tuple(self._part(part, blobs, where) for part in node.parts))

    def _part(self, part: Part, blobs: Mapping[str, bytes], where: str) -> Part:
        if not isinstance(part, FilePart) or not _wants(part, blobs):
            return part
        found = self._read(part, blobs[part.blob.digest], where)
        if found is None:
            return part
        return replace(
            part,
            blob=replace(part.blob, media_type=found.media_type),
            text=found.text,
            pages=len(found.pages),
            unit=found.unit.value,
            encoding=found.encoding,
        )

    def _read(self, part: FilePart, data: bytes, where: str) -> Extracted | None:
        digest = part.blob.digest
        if digest not in self._known and not self._run.stop.is_set():
            try:
                self._known[digest] = _extracted(data, part.name)
            except EnvironmentProblem as problem:
                self._known[digest] = None
                self._report.problem(where, problem.told)
        return self._known.get(digest)


def _wants(part: Part, blobs: Mapping[str, bytes]) -> bool:
    return isinstance(part, FilePart) and not part.text and part.blob.digest in blobs


def _extracted(data: bytes, name: str) -> Extracted:
    """Extract a file's text: plain text in this process, all other kinds in a child process."""
    if len(data) > LARGEST:
        raise EnvironmentProblem("attachment-too-large", name=name)
    kind = kind_of(data, name)
    if kind is not DocumentKind.TEXT:
        return Reading().read(data, name, lambda _: None)
    found = decode(data, name, "")
    if len(found.text) > LONGEST:
        raise EnvironmentProblem("attachment-too-long", name=name)
    if not found.text.strip():
        raise EnvironmentProblem("attachment-empty", name=name)
    return Extracted(media_type_of(kind, name), Unit.PART, in_parts(found.text), found.encoding)
