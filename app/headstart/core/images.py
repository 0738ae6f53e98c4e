"""Kind and dimensions of an image, from its first bytes. Pure."""

from __future__ import annotations

import struct
from collections.abc import Callable


def image_of(data: bytes) -> tuple[str, int, int] | None:
    """Media type, width and height of an image that the window can show; None for anything else."""
    for kind, mark, size in _IMAGES:
        if data[: len(mark)] == mark:
            try:
                width, height = size(data)
            except (struct.error, IndexError):
                return None
            sound = 0 < width < 1 << 16 and 0 < height < 1 << 16
            return (kind, width, height) if sound else None
    return None


def _png(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _jpeg(data: bytes) -> tuple[int, int]:
    """Size from the frame header, after segments that state their length."""
    at = 2
    while True:
        mark, kind, length = struct.unpack_from(">BBH", data, at)
        if mark != 0xFF:
            raise IndexError("no segment")
        if kind in range(0xC0, 0xD0) and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length


def _webp(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if data[8:12] != b"WEBP":
        raise IndexError("another RIFF file")
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF


_IMAGES: tuple[tuple[str, bytes, Callable[[bytes], tuple[int, int]]], ...] = (
    ("image/png", b"\x89PNG\r\n\x1a\n", _png),
    ("image/gif", b"GIF8", _gif),
    ("image/jpeg", b"\xff\xd8\xff", _jpeg),
    ("image/webp", b"RIFF", _webp),
)
