"""GPT4All's files of every version, made by hand after how the program writes them."""

from __future__ import annotations

import struct


class QtStream:
    """Writes as Qt's QDataStream does, big-endian."""

    def __init__(self) -> None:
        self.data = b""

    def number(self, form: str, value: int) -> QtStream:
        self.data += struct.pack(f">{form}", value)
        return self

    def text(self, value: str | None) -> QtStream:
        if value is None:
            return self.number("I", 0xFFFFFFFF)
        data = value.encode("utf-16-be")
        self.number("I", len(data))
        self.data += data
        return self

    def bytes(self, value: bytes) -> QtStream:
        self.number("I", len(value))
        self.data += value
        return self


def gpt4all(version: int = 12) -> bytes:
    out = QtStream()
    out.data = b"\xf5\xd5\x53\xcc"
    out.number("i", version).number("q", 1_720_000_000)
    out.text("chat-1").text("Ducks").text("you").text("Llama 3")
    if version > 2:
        out.number("I", 1).text("Documents")
    if version <= 10:
        _state(out, version)
    out.number("i", 2)
    _item(out, version, "Prompt: ", "Do ducks swim?")
    _item(out, version, "Response: ", "They do.")
    return out.data


def _state(out: QtStream, version: int) -> None:
    if version >= 6:
        out.number("B", 1)
    if version >= 2:
        out.number("i", 1).number("i", 0)
    out.text("They do.").text("").number("i", 12)
    if version < 4:
        out.number("i", 0)
    out.number("i", 12)
    if version >= 7:
        out.number("i", 2048)
    if version < 9:
        out.number("Q", 3)
        out.data += bytes(12)
    out.number("Q", 2)
    out.data += bytes(8)
    out.bytes(b"state of the model")


def _item(out: QtStream, version: int, kind: str, value: str) -> None:
    if version < 12:
        out.number("i", 0)
    out.text(kind).text(value)
    if version < 10:
        out.text("")
    out.text("")
    out.data += bytes(4)
    if version >= 11 and kind.startswith("Response"):
        out.number("B", 0)
    if version >= 8:
        out.number("q", 1)
        for word in ("c", "p", "file.txt", "t", "a", "d", "excerpt"):
            out.text(word)
        out.number("i", 1).number("i", 2).number("i", 3)
    elif version >= 3:
        out.text("").number("I", 0)
    if version >= 10:
        attached = kind.startswith("Prompt")
        out.number("q", int(attached))
        if attached:
            out.bytes(b"file:///home/someone/ducks%20all.txt").bytes(b"All ducks swim.")
    if version >= 12:
        thinks = kind.startswith("Response")
        out.number("q", int(thinks))
        if thinks:
            out.text("Response: ").text("").number("q", 1)
            out.text("Think: ").text("<think>Ducks.</think>").number("i", 900).number("q", 0)
