"""Results of servers' tools as parts of a reply: text, images, files. On the event loop's thread;
files are read in a child process. Words for models stay English."""

from __future__ import annotations

import asyncio
import logging

from headstart.chat.agent.toolbox import ToolOutcome
from headstart.chat.attaching import Attaching
from headstart.core.chats.parts import FilePart, ImagePart
from headstart.core.errors import EnvironmentProblem
from headstart.core.images import image_of
from headstart.core.text.whole import whole
from headstart.core.tool_servers.results import (
    Content,
    FileContent,
    ImageContent,
    OtherContent,
    TextContent,
    ToolReturn,
)
from headstart.extraction.process import Reading, ReadingCancelled

log = logging.getLogger(__name__)

# files and images of one result
MOST_MORE = 20
_LONGEST_NAME = 120


class Receiving:
    def __init__(self, attaching: Attaching) -> None:
        self._attaching = attaching

    async def outcome(self, chat_id: str, found: ToolReturn, server: str) -> ToolOutcome:
        """The result of a call. What cannot be passed on is named in its text."""
        texts: list[str] = []
        more: list[FilePart | ImagePart] = []
        for content in found.content:
            if isinstance(content, TextContent):
                texts.append(content.text)
                continue
            if isinstance(content, FileContent | ImageContent) and len(more) < MOST_MORE:
                part = await self.part(chat_id, content, len(more) + 1)
                if part is not None:
                    more.append(part)
                    continue
            texts.append(f"[{_left_out(content)} was left out]")
        text = await asyncio.to_thread(_together, texts)
        return ToolOutcome(text, found.failed, source=server, more=tuple(more))

    async def part(
        self, chat_id: str, content: FileContent | ImageContent, number: int = 1
    ) -> FilePart | ImagePart | None:
        """An image or a file as an attachment; None for one that cannot be read."""
        data = content.data
        if not data or (isinstance(content, ImageContent) and image_of(data) is None):
            return None
        name = f"image {number}"
        if isinstance(content, FileContent):
            name = whole(" ".join(content.name.split()))[:_LONGEST_NAME] or "file"
        try:
            return await self._attaching.content(
                chat_id, data, name, Reading(), lambda _fraction: None
            )
        except (EnvironmentProblem, ReadingCancelled) as problem:
            log.info("a file of a tool's result is left out: %s", type(problem).__name__)
            return None


def _together(texts: list[str]) -> str:
    """One text that can be stored; on a worker thread, as it may have 20 MB."""
    return whole("\n\n".join(texts)).replace("\0", "\N{REPLACEMENT CHARACTER}")


def _left_out(content: Content) -> str:
    match content:
        case ImageContent():
            return f"An image ({content.media_type or 'unknown'})"
        case FileContent():
            return f"The file {content.name}"
        case OtherContent():
            kind = f"{content.kind} {content.media_type}".strip()
            return f"Content of the kind {kind}"
    return "Content"
