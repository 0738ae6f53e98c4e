"""The blocks of a reply whose text comes in several sections. Pure, no Qt."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from headstart.core.chats.parts import PARAGRAPH
from headstart.ui.transcript.markdown import Block
from headstart.ui.transcript.streaming import StreamingMarkdown


class SectionedMarkdown:
    """Each section is parsed for itself; `blocks` has the blocks of all of them, which begin where
    they stand in the message's text."""

    def __init__(self) -> None:
        self._sections: list[StreamingMarkdown] = []
        self.blocks: list[Block] = []

    @property
    def texts(self) -> list[str]:
        return [one.text for one in self._sections]

    @property
    def firsts(self) -> list[int]:
        """The number of each section's first block."""
        found, number = [], 0
        for section in self._sections:
            found.append(number)
            number += len(section.blocks)
        return found

    def show(self, texts: Sequence[str]) -> int:
        """Show these sections; return the number of the first changed block."""
        changed, number, start = None, 0, 0
        for place, text in enumerate(texts):
            if place == len(self._sections):
                self._sections.append(StreamingMarkdown())
            section = self._sections[place]
            before = section.text
            at = len(section.blocks)
            if text.startswith(before):
                at = section.append(text[len(before) :])
            else:
                section.reset(text)
                at = 0
            if changed is None and (at < len(section.blocks) or before != text):
                changed = number + at
            number += len(section.blocks)
            start += len(text) + len(PARAGRAPH)
        if len(texts) < len(self._sections):
            changed = number if changed is None else min(changed, number)
            del self._sections[len(texts) :]
        if changed is None:
            return len(self.blocks)
        self._join(changed)
        return changed

    def finish(self, text: str, blocks: list[Block]) -> int:
        """Take the blocks of a section's whole text, parsed as a whole; return the number of the
        first changed block."""
        number = 0
        for section in self._sections:
            if section.text == text:
                at = section.adopt(blocks)
                if at < len(section.blocks):
                    self._join(number + at)
                    return number + at
                break
            number += len(section.blocks)
        return len(self.blocks)

    def finished(self, text: str) -> list[Block]:
        """The blocks of a section's text, parsed as a whole."""
        return next(one.finished() for one in self._sections if one.text == text)

    def _join(self, changed: int) -> None:
        """Join the blocks of all sections again, beginning with the block that changed."""
        if len(self._sections) == 1:
            self.blocks = self._sections[0].blocks
            return
        joined = list(self.blocks[:changed])
        number = start = 0
        for section in self._sections:
            joined += [
                replace(block, start=block.start + start) if start else block
                for block in section.blocks[max(0, changed - number) :]
            ]
            number += len(section.blocks)
            start += len(section.text) + len(PARAGRAPH)
        self.blocks = joined
