"""Content of messages in any format: text, or a list of typed pieces. One table of kinds serves
every reader; a piece of an unknown kind is reported, never dropped silently."""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
from collections.abc import Callable, Iterable

from msgspec import Struct, field

from headstart.core.chats.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from headstart.core.strange_json import decoded
from headstart.exchange.fields import Fields
from headstart.exchange.media import MediaBlobs
from headstart.exchange.report import Report

# most bytes of one embedded file, and deepest nesting of pieces
_LARGEST_FILE, _DEEPEST = 64 << 20, 20
_TEXTS = frozenset(
    (
        "", "text", "input_text", "output_text", "paragraph", "markdown", "voice_note",
        "transcript", "audio_transcription", "refusal", "summary_text", "response", "answer",
        "knowledge", "reference", "text_delta",
    )
)  # fmt: skip
_THOUGHTS = frozenset(("thinking", "reasoning", "think", "thought", "reasoning_text"))
_CALLS = frozenset(
    (
        "tool_use", "toolcallrequest", "tool_call", "tool-call", "function_call",
        "server_tool_use", "mcp_tool_use", "custom_tool_call", "functioncall", "tool-invocation",
    )
)  # fmt: skip
_RESULTS = frozenset(
    (
        "tool_result", "toolcallresult", "tool-result", "function_call_output", "tool_response",
        "web_search_tool_result", "mcp_tool_result", "custom_tool_call_output",
        "functionresponse", "code_execution_tool_result",
    )
)  # fmt: skip
_PICTURES = frozenset(("image", "image_url", "input_image", "image_file", "inlineimage", "picture"))
_FILES = frozenset(
    ("file", "document", "input_file", "input_audio", "audio", "video", "inlinefile", "attachment")
)
# notes of a program to itself: no text of any author
_NOTES = frozenset(
    ("redacted_thinking", "token_budget", "step-start", "step_start", "flag", "cache_control")
)


class Collector(Struct):
    """State of reading one conversation: its files, and a report of skipped content. `where`: the
    chat's name for the user. `find`: looks up the bytes of a file beside the export."""

    report: Report
    where: str = ""
    find: Callable[[str], tuple[str, bytes] | None] = lambda _: None
    blobs: MediaBlobs = field(default_factory=MediaBlobs)

    def parts(self, content: object, depth: int = 0) -> list[Part]:
        """Convert text, a piece, or a list of pieces; drops empty parts."""
        if isinstance(content, str):
            return [TextPart(content)] if content else []
        if isinstance(content, dict):
            return [part for part in self._piece(Fields(content), depth) if _is_something(part)]
        found: list[Part] = []
        for piece in content if isinstance(content, list) and depth < _DEEPEST else []:
            found += self.parts(piece, depth + 1)
        return found

    def text(self, content: object) -> str:
        """The text of content alone; everything else in it is reported."""
        parts = self.parts(content)
        for part in parts:
            if not isinstance(part, TextPart | ReasoningPart):
                self.unknown(part.kind.value)
        return "".join(part.text for part in parts if isinstance(part, TextPart | ReasoningPart))

    def unknown(self, kind: str) -> None:
        """Report a piece of unknown kind."""
        self.report.skip(self.where, "import-piece-unknown", name=kind or "?")

    def missing(self, kind: str, name: str) -> TextPart:
        """Text in place of a missing file: the question remains without it."""
        self.report.skip(self.where, "import-file-missing", name=name or kind)
        # a separate paragraph
        return TextPart(f"[{kind}: {name}]\n\n" if name else f"[{kind}]\n\n")

    def file(self, piece: Fields, kind: str = "file") -> list[Part]:
        """A file or an image: its bytes or text from the piece, or from beside the export;
        otherwise the name of the missing file, or its address."""
        inner = Fields(None)
        for key in (kind, "source", "image_url", "file", "inlineData", "inlineFile", "image_file",
                    "inlineImage", "input_audio", "data", "image"):  # fmt: skip
            inner = inner or piece.inside(key)
        sources = (piece, inner)
        name = _first_words(
            sources, "name", "file_name", "filename", "fileName", "title", "originalName"
        )
        media = _first_text(
            sources, "mimeType", "mime_type", "media_type", "mime", "mediaType", "content_type"
        )
        address = _first_text(
            sources, "url", "image_url", "image", "file_data", "data", "value", "base64", "href",
            "audio_url",
        )  # fmt: skip
        text = _first_text(
            sources, "extracted_content", "extractedContent", "content", "text", "pageContent"
        )
        found = data_of(address) or self._plain(address, media)
        if found is not None:
            data, said = found
            return [self.blobs.part(name or _named(kind, said), data, said or media, text)]
        pointer = _first_id(
            sources, "fileIdentifier", "asset_pointer", "file_id", "fileId", "id", "uuid"
        )
        beside = self.find(pointer or name)
        if beside is not None:
            return [self.blobs.part(name or beside[0], beside[1], media, text)]
        if text:
            return [self.blobs.text_part(name or kind, text)]
        if address.startswith(("http://", "https://")):
            # remote files are not fetched; the address identifies the file
            return [self.missing(kind, f"{name} {address}".strip())]
        return [self.missing(kind, name or pointer)]

    def call(self, fields: Fields) -> list[Part]:
        """A tool call, with its result if included."""
        inner = fields.inside("tool_call") or fields.inside("toolInvocation") or fields
        function = inner.inside("function") or inner
        key = inner.id("id", "callId", "call_id", "toolCallId", "tool_use_id")
        name = function.words("name", "toolName", "apiName", "tool_name", "tool") or "tool"
        arguments = next(
            (
                function.all[one]
                for one in ("arguments", "args", "input", "parameters", "params", "query")
                if function.all.get(one) is not None
            ),
            "",
        )
        parts: list[Part] = [ToolCallPart(key, name, as_json(arguments))]
        result = next(
            (inner.all[one] for one in ("result", "output", "response") if inner.all.get(one)), None
        )
        if result is not None:
            parts += self.result(Fields({"id": key, "name": name, "content": result}))
        return parts

    def result(self, fields: Fields) -> list[Part]:
        """The result of a tool, and its pictures."""
        key = fields.id("tool_use_id", "toolCallId", "tool_call_id", "call_id", "callId", "id")
        name = fields.words("name", "toolName", "tool_name") or "tool"
        content = next(
            (
                fields.all[one]
                for one in ("content", "output", "result", "response", "text")
                if fields.all.get(one) is not None
            ),
            "",
        )
        if isinstance(content, str) and content.lstrip().startswith('[{"type"'):
            # pieces as text
            content = _as_pieces(content)
        inside = Fields(content)
        if isinstance(inside.all.get("content"), list | str):
            content = inside.all["content"]
        texts, others = [], list[Part]()
        for piece in content if isinstance(content, list) else [content]:
            if isinstance(piece, dict) and not _is_piece(Fields(piece)):
                texts.append(as_json(piece))
                continue
            for part in self.parts(piece):
                if isinstance(part, TextPart | ReasoningPart):
                    texts.append(_with_source(Fields(piece), part.text))
                else:
                    others.append(part)
        failed = fields.flag("is_error") or fields.flag("isError") or fields.flag("failed")
        return [ToolResultPart(key, name, "\n\n".join(texts), failed), *others]

    def _piece(self, piece: Fields, depth: int) -> list[Part]:
        kind = piece.text("type", "kind").casefold()
        found: list[Part] = []
        match kind:
            case _ if kind in _THOUGHTS:
                keys = ("thinking", "text", "reasoning", "content", "think", "value", "thought")
                found = [ReasoningPart(self._words(piece, keys, depth))]
            case _ if kind in _CALLS:
                found = self.call(piece)
            case _ if kind in _RESULTS:
                found = self.result(piece)
            case _ if kind in _PICTURES:
                found = self.file(piece, "image")
            case _ if kind in _FILES:
                found = self.file(piece)
            case _ if kind in _NOTES:
                pass
            case "error":
                found = [TextPart(piece.text("error", "text", "message"))]
            case _:
                found = self._by_keys(piece, kind, depth)
        return found

    def _by_keys(self, piece: Fields, kind: str, depth: int) -> list[Part]:
        """Pieces identified by their keys: Google's, and those without a kind."""
        for key in ("inlineData", "inlineFile", "inlineImage", "inline_data"):
            if piece.inside(key):
                return self.file(piece.inside(key), "image" if "Image" in key else "file")
        for key in ("functionCall", "function_call"):
            if piece.inside(key):
                return self.call(piece.inside(key))
        for key in ("functionResponse", "function_response"):
            if piece.inside(key):
                return self.result(piece.inside(key))
        if kind not in _TEXTS and not _words_of(piece):
            self.unknown(kind)
            return []
        words = self._words(piece, ("text", "content", "value", "transcript", "markdown"), depth)
        if piece.flag("thought"):
            return [ReasoningPart(words)]
        return [TextPart(words)]

    def _words(self, piece: Fields, keys: Iterable[str], depth: int) -> str:
        for key in keys:
            value = piece.all.get(key)
            if isinstance(value, str) and value:
                return value
            if isinstance(value, list | dict) and value and depth < _DEEPEST:
                inner = Fields(value)
                if inner and "value" in inner:
                    return inner.text("value")
                return "".join(
                    part.text
                    for part in self.parts(value, depth + 1)
                    if isinstance(part, TextPart | ReasoningPart)
                )
        return ""

    @staticmethod
    def _plain(data: str, media: str) -> tuple[bytes, str] | None:
        """Bytes from base64 without a data address; only if a media type is given."""
        if not media or not data or data.startswith(("http:", "https:", "/")):
            return None
        found = _decoded(data)
        return None if found is None else (found, media)


def data_of(address: str) -> tuple[bytes, str] | None:
    """The bytes and media type of a data address; other addresses are never fetched."""
    if not address.startswith("data:") or ";base64," not in address[:200]:
        return None
    head, _, data = address.partition(",")
    found = _decoded(data)
    return None if found is None else (found, head[5:].partition(";")[0])


def as_json(value: object) -> str:
    """Arguments or a result as text: a text stays as it is, other values become JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) if value is not None else ""


def unquoted(text: str) -> str:
    """Undo up to three levels of JSON text quoted inside JSON text."""
    for _ in range(3):
        if not (len(text) > 1 and text[0] == text[-1] == '"'):
            break
        try:
            inner = decoded(text)
        except ValueError:
            break
        if not isinstance(inner, str):
            break
        text = inner
    return text


def _as_pieces(text: str) -> object:
    try:
        return decoded(text)
    except ValueError:
        return text


def _decoded(data: str) -> bytes | None:
    if len(data) > _LARGEST_FILE * 4 // 3:
        return None
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _with_source(piece: Fields, text: str) -> str:
    """A search result's page, with its title and address."""
    title, address = piece.words("title"), piece.text("url")
    head = f"[{title}]({address})" if title and address else title or address
    return f"{head}\n{text}" if head and head not in text else text


def _named(kind: str, media: str) -> str:
    return f"{kind}{mimetypes.guess_extension(media.partition(';')[0]) or ''}"


def _is_something(part: Part) -> bool:
    return bool(part.text) or not isinstance(part, TextPart | ReasoningPart)


def _is_piece(fields: Fields) -> bool:
    return bool(fields.text("type", "kind")) or isinstance(fields.all.get("text"), str)


def _words_of(piece: Fields) -> str:
    return piece.text("text", "content", "value") or piece.inside("text").text("value")


def _first_text(sources: Iterable[Fields], *keys: str) -> str:
    return next((found for one in sources if (found := one.text(*keys))), "")


def _first_words(sources: Iterable[Fields], *keys: str) -> str:
    return " ".join(_first_text(sources, *keys).split())


def _first_id(sources: Iterable[Fields], *keys: str) -> str:
    return next((found for one in sources if (found := one.id(*keys))), "")
