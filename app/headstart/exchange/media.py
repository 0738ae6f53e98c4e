"""Files and images of messages, collected during an import. Pure."""

from __future__ import annotations

import hashlib

from headstart.core.chats.parts import BlobRef, FilePart, ImagePart
from headstart.core.images import image_of

_TEXT = "text/plain"


class MediaBlobs:
    """Collects the bytes of one conversation's files, each once."""

    def __init__(self) -> None:
        self.found: dict[str, bytes] = {}

    def part(
        self, name: str, data: bytes, media_type: str = "", text: str = ""
    ) -> FilePart | ImagePart:
        """The part for a file; an image part if the bytes are an image, whatever the name."""
        known = image_of(data)
        digest = hashlib.sha256(data).hexdigest()
        self.found[digest] = data
        if known is not None:
            kind, width, height = known
            return ImagePart(name, BlobRef(digest, len(data), kind), width, height, text)
        return FilePart(name, BlobRef(digest, len(data), media_type or _TEXT), text)

    def text_part(self, name: str, text: str) -> FilePart:
        """A file of which only the text is known."""
        data = text.encode("utf-8", "replace")
        digest = hashlib.sha256(data).hexdigest()
        self.found[digest] = data
        return FilePart(name, BlobRef(digest, len(data), _TEXT), text)
