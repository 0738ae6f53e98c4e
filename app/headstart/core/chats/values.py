"""The program's vocabulary as frozen values: chat, message, part, turn, model ref.

They cross every boundary between rooms. Times are milliseconds since 1970 (UTC), durations are
seconds, text lengths are Python characters.
"""

from __future__ import annotations

import time
import uuid
from enum import StrEnum

from msgspec import Struct, field

from headstart.core.chats.bounds import Count, Seconds, Seed
from headstart.core.chats.parts import (
    OtherPart,
    Part,
    PassagePart,
    ReasoningPart,
    WrittenPart,
    text_of,
)
from headstart.core.settings.schema import ChatOptions
from headstart.core.told import Told
from headstart.core.wording import say

# with fewer verified drafts no speed is shown: the difference would have another cause
FEW_VERIFIED = 8
# no turn is shorter: a file or a server says so, and a speed would have hundreds of digits
_LEAST_SECONDS = 1e-6


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class MessageStatus(StrEnum):
    OPEN = "open"  # being written now
    COMPLETE = "complete"  # the model ended it
    STOPPED = "stopped"  # the user, a token limit or a full context ended it
    INTERRUPTED = "interrupted"  # the program ended in the middle of it
    FAILED = "failed"


class FinishReason(StrEnum):
    END = "end"
    STOP_STRING = "stop string"
    LENGTH = "length"
    CANCELLED = "cancelled"
    CONTEXT_FULL = "context full"


class SpeculationStats(Struct, frozen=True):
    """Statistics of speculation in a turn. Verified: processed by the target; draft tokens after a
    wrong one in the same round were never verified."""

    rounds: Count = 0  # forwards of the target, plain ones included
    draft_verified: Count = 0
    draft_accepted: Count = 0
    lookup_verified: Count = 0
    lookup_accepted: Count = 0
    # seconds to decode the same tokens one by one, at the measured speed of plain steps
    plain_seconds: Seconds = 0.0

    def against_plain(self, seconds: float) -> float | None:
        """Speed relative to plain decoding in the same minutes; None if too few drafts were
        verified to attribute the difference to drafting."""
        known = seconds >= _LEAST_SECONDS and self.plain_seconds > 0
        if self.verified < FEW_VERIFIED or not known:
            return None
        return self.plain_seconds / seconds

    @property
    def verified(self) -> int:
        return self.draft_verified + self.lookup_verified

    @property
    def accepted(self) -> int:
        # files and servers may say more
        return min(self.draft_accepted + self.lookup_accepted, self.verified)


class PrefixStats(Struct, frozen=True):
    """Sources of a turn's reused tokens, and the number of tokens recomputed although they had been
    processed before. Reused tokens from neither memory nor disk were still in the KV cache."""

    from_memory: Count = 0
    from_disk: Count = 0
    # prefilled while the user read or typed, before the request
    ahead: Count = 0
    recomputed: Count = 0
    # the first message that differs, and why; None when nothing was recomputed
    reason: Told | None = None


# the least gain that is called faster: less is noise
GAIN = 1.05


def gain_words(against_plain: float | None) -> str:
    """The gain from drafting as text: “2.7× faster”; "" without a gain."""
    if against_plain is None or against_plain < GAIN:
        return ""
    return say("gain", times=against_plain)


class TurnStats(Struct, frozen=True):
    """Cost of one generation; shown under the reply and stored with it."""

    finish: FinishReason
    prompt_tokens: Count
    reused_tokens: Count
    prefill_seconds: Seconds
    first_token_seconds: Seconds | None
    generated_tokens: Count
    generate_seconds: Seconds
    seed: Seed | None = None
    speculation: SpeculationStats | None = None
    prefix: PrefixStats = PrefixStats()
    # until the first token after the reasoning; None without reasoning
    reasoning_seconds: Seconds | None = None

    @property
    def against_plain(self) -> float | None:
        """Speed relative to plain decoding; None when nothing was verified."""
        speculation = self.speculation
        return None if speculation is None else speculation.against_plain(self.generate_seconds)

    @property
    def tokens_per_second(self) -> float | None:
        """Decode speed, from the first token on; None below two tokens."""
        if self.generated_tokens < 2 or self.generate_seconds < _LEAST_SECONDS:
            return None
        return (self.generated_tokens - 1) / self.generate_seconds


class Message(Struct, frozen=True):
    id: str
    chat_id: str
    parent_id: str | None
    role: Role
    status: MessageStatus
    parts: tuple[Part, ...]
    created_at: int
    # the model that wrote it: its name, the server that ran it, its key
    model: str | None = None
    model_host: str | None = None
    model_key: str | None = None
    error: str | None = None
    stats: TurnStats | None = None
    # its position among the messages with the same parent, for "2 / 3"
    version: int = 1
    versions: int = 1

    @property
    def text(self) -> str:
        """The written text, without the message's other parts."""
        return text_of(self.parts)

    @property
    def reasoning(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, ReasoningPart))

    @property
    def others(self) -> tuple[OtherPart, ...]:
        """The message's parts besides its text: files, images, tool calls."""
        return tuple(part for part in self.parts if not isinstance(part, WrittenPart))

    @property
    def author(self) -> str:
        """The model that wrote it, by its display name."""
        return f"{self.model} on {self.model_host}" if self.model_host else self.model or ""


# messages of a branch that are loaded at once
PAGE = 50


class BranchPage(Struct, frozen=True):
    """A part of a branch, the number of messages before it, and the number of the chat's
    branches. `given`: the passages of files that the messages before it were given."""

    messages: list[Message]
    earlier: int
    branches: int = 1
    given: tuple[PassagePart, ...] = ()


class Chat(Struct, frozen=True):
    id: str
    title: str
    created_at: int
    updated_at: int
    pinned: bool = False
    titled_by_user: bool = False
    model: str | None = None
    options: ChatOptions = field(default_factory=ChatOptions)
    # its messages are in a database in memory, and nothing is on disk
    private: bool = False
    # names separated by slashes; "" for no folder
    folder: str = ""
    tags: tuple[str, ...] = ()
    archived: bool = False
    # options of its folders, the innermost first
    above: tuple[ChatOptions, ...] = ()


class ChatDraft(Struct, frozen=True):
    """A new chat without messages: it is stored with its first one."""

    id: str
    private: bool = False
    model: str | None = None
    options: ChatOptions = field(default_factory=ChatOptions)
    folder: str = ""

    def chat(self, title: str = "", model: str | None = None) -> Chat:
        """The draft as a chat created now."""
        now = now_ms()
        key = model if model is not None else self.model
        return Chat(
            self.id,
            title,
            now,
            now,
            model=key,
            options=self.options,
            private=self.private,
            folder=self.folder,
        )


class ChatSummary(Struct, frozen=True):
    """One line of the conversation list."""

    id: str
    title: str
    updated_at: int
    pinned: bool
    messages: int
    private: bool = False
    folder: str = ""
    tags: tuple[str, ...] = ()
    archived: bool = False
    # it has a reply that was not shown yet
    unseen: bool = False
    model: str | None = None


class Folder(Struct, frozen=True):
    """A folder of chats; its options and model apply to everything inside that does not override
    them. `path`: names separated by slashes."""

    path: str
    options: ChatOptions = field(default_factory=ChatOptions)
    model: str | None = None
    position: int = 0
    folded: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class TrashedChat(Struct, frozen=True):
    """A deleted chat that can still be restored."""

    id: str
    title: str
    deleted_at: int
    messages: int


def new_id() -> str:
    return uuid.uuid4().hex


def now_ms() -> int:
    return time.time_ns() // 1_000_000
