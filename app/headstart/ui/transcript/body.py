"""The body of a reply: its thoughts, its words and its tool calls, in the order in which they were
written. Main thread.

The words of all sections are the blocks of one stack, so that selection, search and reading places
count through the whole message; everything else lies between two of its blocks.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from headstart.chat.agent.permissions import Permission
from headstart.core.chats.parts import BlobRef, OriginRun
from headstart.core.chats.sections import ReplySections, SaidText, Thought
from headstart.core.chats.values import TurnStats
from headstart.ui.transcript.block_stack import BlockStack, Span
from headstart.ui.transcript.blocks import BlockHost, TextBlock
from headstart.ui.transcript.call_box import CallBox
from headstart.ui.transcript.markdown import Block
from headstart.ui.transcript.reasoning import Reasoning
from headstart.ui.transcript.sectioned import SectionedMarkdown

# px above and below a group of calls
_AROUND = 10
# characters of a text that takes more than a few milliseconds to parse
_LONG = 8_000


class CallVerbs:
    """The user's actions on the calls of a message."""

    def __init__(
        self,
        answer: Callable[[int, Permission], object],
        stop: Callable[[int], object],
        open_result: Callable[[str, BlobRef], object],
    ) -> None:
        self.answer = answer
        self.stop = stop
        self.open_result = open_result


class Body:
    """Its widgets are children of `parent`; `resized` is called when its height changes."""

    def __init__(
        self,
        host: BlockHost,
        parent: QWidget,
        verbs: CallVerbs,
        resized: Callable[[], object],
    ) -> None:
        self._host = host
        self._parent = parent
        self._verbs = verbs
        self.resized = resized
        self.text = BlockStack(host, parent)
        self.thoughts = [Reasoning(host, parent, resized)]
        self.calls: dict[int, CallBox] = {}
        self._markdown = SectionedMarkdown()
        self.sections = ReplySections()

    # --- content -------------------------------------------------------------------------

    def show(self, sections: ReplySections, stats: TurnStats | None, writing: bool) -> None:
        """Show these sections; `writing`: more will follow."""
        self.sections = sections
        changed = self._markdown.show(sections.words)
        if changed < len(self._markdown.blocks) or len(self.text.slots) > len(
            self._markdown.blocks
        ):
            self.text.set_blocks(self._markdown.blocks, changed)
        self._show_thoughts(stats, writing)
        self._show_calls()

    def _show_thoughts(self, stats: TurnStats | None, writing: bool) -> None:
        thoughts = [one for one in self.sections.all if isinstance(one, Thought)]
        last = self.sections.all[-1] if self.sections else None
        while len(self.thoughts) < len(thoughts):
            self.thoughts.append(Reasoning(self._host, self._parent, self.resized))
        for number, shown in enumerate(self.thoughts):
            thought = thoughts[number] if number < len(thoughts) else None
            # the time is that of all thoughts together
            timed = stats if len(thoughts) == 1 else None
            text = "" if thought is None else thought.text
            shown.show(text, timed, writing and thought is last and thought is not None)

    def _show_calls(self) -> None:
        calls = {one.number: one for one in self.sections.calls}
        for number in [one for one in self.calls if one not in calls]:
            box = self.calls.pop(number)
            box.hide()
            box.deleteLater()
        for number, call in calls.items():
            known = self.calls.get(number)
            if known is None:
                self.calls[number] = box = CallBox(self, self._parent, call)
                box.show()
            else:
                known.set_call(call)

    def settle(self, later: Callable[[str], object]) -> None:
        """The text is complete: parse it as a whole, a long section by `later`, which ends in
        `take_parsed`."""
        for text in self._markdown.texts:
            if len(text) > _LONG:
                later(text)
            else:
                self.take_parsed(text, self._markdown.finished(text))

    def take_parsed(self, text: str, blocks: list[Block]) -> bool:
        """Take the blocks of a section's whole text; True if any changed."""
        changed = self._markdown.finish(text, blocks)
        if changed >= len(self._markdown.blocks):
            return False
        self.text.set_blocks(self._markdown.blocks, changed)
        return True

    def set_origins(self, origins: tuple[OriginRun, ...]) -> None:
        self.text.set_origins(origins)

    def show_tint(self) -> None:
        """Tint the arguments of calls, or no longer."""
        for box in self.calls.values():
            box.show_tint()

    def refresh(self) -> None:
        """Apply the theme's current fonts and colours."""
        self.text.refresh()
        for thought in self.thoughts:
            thought.refresh()
        for box in self.calls.values():
            box.refresh()

    def measure_again(self, block: TextBlock) -> None:
        self.text.measure_again(block)
        for thought in self.thoughts:
            thought.stack.measure_again(block)

    def hide(self) -> None:
        """Make room for an editor: hide everything but the first thought."""
        self.text.hide()
        for thought in self.thoughts[1:]:
            thought.toggle.hide()
            thought.stack.hide()
        for box in self.calls.values():
            box.hide()

    # --- for the calls -------------------------------------------------------------------

    @property
    def tinted(self) -> bool:
        return self._host.tinted

    def answer_call(self, number: int, permission: Permission) -> None:
        self._verbs.answer(number, permission)

    def stop_call(self, number: int) -> None:
        self._verbs.stop(number)

    def open_result(self, name: str, whole: BlobRef) -> None:
        self._verbs.open_result(name, whole)

    # --- position ------------------------------------------------------------------------

    def place(self, y: int, width: int, near: Span) -> int:
        """Place everything from `y` on; return the lower end."""
        between: dict[int, Callable[[int], int]] = {}
        firsts = [*self._markdown.firsts, len(self._markdown.blocks)]
        thought = words = 0
        waiting: list[Reasoning | CallBox] = []
        for section in self.sections.all:
            if isinstance(section, SaidText):
                self._put_before(between, firsts[words], waiting, width, near)
                waiting = []
                words += 1
            elif isinstance(section, Thought):
                waiting.append(self.thoughts[thought])
                thought += 1
            else:
                waiting.append(self.calls[section.number])
        self._put_before(between, firsts[-1], waiting, width, near)
        y = self.text.lay_out(width, 0, y, near, between)
        return y + 6 if self.text.slots or self.calls else y

    def _put_before(
        self,
        between: dict[int, Callable[[int], int]],
        block: int,
        things: list[Reasoning | CallBox],
        width: int,
        near: Span,
    ) -> None:
        if not things:
            return
        earlier = between.get(block)

        def put(y: int) -> int:
            if earlier is not None:
                y = earlier(y)
            above = False
            for number, thing in enumerate(things):
                if isinstance(thing, Reasoning):
                    y = thing.place(y + (_AROUND if above else 0), width, near)
                    above = False
                    continue
                if not above and (number or block):
                    y += _AROUND
                under = number + 1 < len(things) and isinstance(things[number + 1], CallBox)
                y = _put(thing, (above, under), y, width)
                above = True
            return y + (_AROUND if above and block < len(self._markdown.blocks) else 0)

        between[block] = put


def _put(box: CallBox, joined: tuple[bool, bool], y: int, width: int) -> int:
    if box.joined != joined:
        box.joined = joined
        box.update()
    height = box.lay_out(width)
    # cards that share a line overlap by it
    y -= 1 if joined[0] else 0
    box.setGeometry(0, y, width, height)
    box.show()
    return y + height
