"""Text of the reply in progress in the open chat, as the transcript shows it."""

from __future__ import annotations

from collections.abc import Iterable

from headstart.core.chats.parts import (
    OriginRun,
    Part,
    PartKind,
    ReasoningPart,
    TextPart,
    append_run,
)
from headstart.core.events import TextPiece


class ReplyText:
    """Text and reasoning, kept apart, and the origins of the text's characters."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        self.text = self.reasoning = ""
        self.origins: list[OriginRun] = []
        for part in parts:
            if isinstance(part, TextPart):
                self.text += part.text
                for run in part.origins:
                    append_run(self.origins, run.length, run.origin)
            elif isinstance(part, ReasoningPart):
                self.reasoning += part.text

    def add(self, piece: TextPiece) -> None:
        if piece.kind is PartKind.TEXT:
            self.text += piece.text
            append_run(self.origins, len(piece.text), piece.origin)
        elif piece.kind is PartKind.REASONING:
            self.reasoning += piece.text
