"""Replies as the model wrote them, for prompts in which they come back with other white space.

Templates and programs trim replies, or write white space around them: the prompt would differ from
what is computed already, and the whole reply would be processed again. A reply is found by the
whole prompt before it, so that the same words elsewhere are left alone. Engine thread.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.engine.foreign import GUARD
from headstart.engine.template import ChatTemplate, TemplateError
from headstart.engine.token_finder import TokenFinder

# characters of all replies that are remembered, and replies to one prompt: versions of a message
_MOST, _VERSIONS = 8_000_000, 16
_SIGN = "\ue0f6reply\ue0f6"
# white space that may be another one; a guard is no text
_GAP = re.compile(rf"[\s{GUARD}]*")
_ASKED, _SAID, _MORE = "zq ask qz", "zq said qz", "zq more qz"


class ReplyFrame(Struct, frozen=True):
    """The text that a template writes around a reply. `begins`: ends of prompts, behind the last
    message, from the last control token on; `ends`: what follows a reply, up to the next message.
    `exact`: no white space stands between them and a reply without any. `marks` finds the marks
    inside a reply; with `header` its first line is one, too."""

    marks: TokenFinder
    header: bool = False
    begins: tuple[str, ...] = ()
    ends: str = ""
    exact: bool = True

    def without_end(self, raw: str) -> tuple[str, bool]:
        """A reply without what follows it, and True if the model wrote that itself: in a template
        without control tokens it goes on with the user's next words, where a stop string ends
        it."""
        text = raw.rstrip()
        over = bool(self.ends) and text.endswith(self.ends)
        return (text.removesuffix(self.ends), True) if over else (raw, False)

    def pieces(self, raw: str) -> list[str]:
        """A reply in parts between which a template may write other white space."""
        found = self.marks.split(raw)
        return [*found[0].partition("\n"), *found[1:]] if self.header else found


def frame_of(template: ChatTemplate, finder: TokenFinder) -> ReplyFrame:
    """The frame of a template's replies, found by rendering; `finder` knows the control tokens."""
    return _frame(replace(template, fallback=None), finder)


@functools.lru_cache(maxsize=8)
def _frame(template: ChatTemplate, finder: TokenFinder) -> ReplyFrame:
    marks = finder.plus(mark for mark in template.form.marks if mark.strip())
    header = "\n" in template.form.marks
    asked = PromptMessage(Role.USER, _ASKED)
    said, more = PromptMessage(Role.ASSISTANT, _SAID), PromptMessage(Role.USER, _MORE)
    try:
        prompts = [template.render([asked], thinking) for thinking in template.efforts]
        whole = template.render([asked, said, more], template.efforts[0])
    except TemplateError:
        return ReplyFrame(marks, header)
    ends = whole.rpartition(_SAID)[2].partition(_MORE)[0]
    exact = whole.startswith(f"{prompts[0]}{_SAID}{ends}") and ends == ends.lstrip()
    begins = dict.fromkeys(_end_of(prompt, finder) for prompt in prompts)
    return ReplyFrame(marks, header, tuple(one for one in begins if one), ends.strip(), exact)


def _end_of(prompt: str, finder: TokenFinder) -> str:
    _, asked, tail = prompt.rpartition(_ASKED)
    starts = [start for start, _end in finder.find(tail)]
    return tail[max(starts, default=0) :] if asked else ""


class WrittenReplies:
    """`finder` knows the control tokens; `recall` returns a reply of an earlier start by its
    name."""

    def __init__(self, finder: TokenFinder, recall: Callable[[str], str | None]) -> None:
        self._finder = finder
        self._recall = recall
        # by the digest of the prompt before them
        self._known: OrderedDict[bytes, list[str]] = OrderedDict()
        self._size = 0

    def keep(self, prompt: str, raw: str, frame: ReplyFrame, stop: str = "") -> tuple[str, str]:
        """Remember the reply `raw` to a rendered prompt, which may end with the beginning of the
        reply, control tokens and guards included; `stop` is the stop string that ended it. Returns
        its name among the texts that are kept on disk, and the whole reply; "" for one that the
        template shows as it is."""
        begins = _last_end(frame, prompt)
        if begins < 0:
            # a text without a template
            return "", ""
        prompt, raw = prompt[:begins], prompt[begins:] + raw
        if stop and not frame.without_end(raw)[1]:
            raw = raw[: max(raw.rfind(stop), 0)] or raw
        pieces = frame.pieces(raw)
        same = frame.exact and all(piece == _trimmed(piece) for piece in pieces)
        if same or not any(map(_trimmed, pieces)):
            return "", ""
        digest = _hash(prompt).digest()
        known = self._known.pop(digest, None)
        if known is None:
            known = list(self._recalled(digest))
        if raw not in known:
            known = [*known, raw][-_VERSIONS:]
            self._size += len(raw)
        self._known[digest] = known
        while self._size > _MOST and len(self._known) > 1:
            _, gone = self._known.popitem(last=False)
            self._size -= sum(map(len, gone))
        return _name(digest, known.index(raw)), raw

    def restored(self, rendered: str, frame: ReplyFrame) -> str:
        """A rendered prompt with every reply that is known as the model wrote it."""
        # the end of the last text that is done, and of the last reply
        done, at, last = _hash(""), 0, 0
        found: list[str] = []
        for place, start in sorted(_beginnings(frame, rendered)):
            if place <= at or start < last or place == len(rendered):
                continue
            found.append(rendered[at:place])
            done.update(_encoded(found[-1]))
            at = place
            for raw in self._replies(done.digest()):
                end = self._end(rendered, place, raw, frame)
                if end >= 0:
                    found.append(raw)
                    done.update(_encoded(raw))
                    at = last = end
                    break
        return "".join((*found, rendered[at:])) if found else rendered

    def _replies(self, digest: bytes) -> Iterator[str]:
        known = self._known.get(digest)
        return iter(known) if known is not None else self._recalled(digest)

    def _recalled(self, digest: bytes) -> Iterator[str]:
        for number in range(_VERSIONS):
            raw = self._recall(_name(digest, number))
            if raw is None:
                return
            yield raw

    def _end(self, rendered: str, at: int, raw: str, frame: ReplyFrame) -> int:
        """The end of a reply that stands at a place with any white space; -1 for another text."""
        bare, over = frame.without_end(raw)
        for piece in frame.pieces(bare):
            text = _trimmed(piece)
            if text:
                at = _behind_gap(rendered, at)
                if not rendered.startswith(text, at):
                    return -1
                at += len(text)
        after = _behind_gap(rendered, at)
        if self._finder.longest(rendered, after):
            return after
        # a template without control tokens
        if not frame.ends or not rendered.startswith(frame.ends, after):
            return -1
        return after + len(frame.ends) if over else at


def _beginnings(frame: ReplyFrame, text: str) -> Iterator[tuple[int, int]]:
    """Ends and starts of the texts before replies."""
    for one in frame.begins:
        at = text.find(one)
        while at >= 0:
            yield at + len(one), at
            at = text.find(one, at + len(one))


def _last_end(frame: ReplyFrame, text: str) -> int:
    """The place behind the last beginning of a reply; -1 without one."""
    ends = ((text.rfind(one), len(one)) for one in frame.begins)
    return max((start + size for start, size in ends if start >= 0), default=-1)


def _trimmed(text: str) -> str:
    """A text without white space and guards at its ends."""
    while (shorter := text.strip().strip(GUARD)) != text:
        text = shorter
    return text


def _behind_gap(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return at if found is None else found.end()


def _name(digest: bytes, number: int) -> str:
    """No text of a reply begins like this."""
    return f"{_SIGN}{digest.hex()}{number}"


def _hash(text: str) -> hashlib.blake2b:
    return hashlib.blake2b(_encoded(text), digest_size=16)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
