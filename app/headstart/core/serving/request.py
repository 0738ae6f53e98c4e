"""A request of another program, in no dialect. Pure.

The dialects of `server` make it of a body; `chat.serving` makes an engine's request of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage, WrittenSoFar
from headstart.core.settings.schema import SamplingChoice, Thinking
from headstart.core.tools import NO_TOOLS, Tools


class ShownTool(Struct, frozen=True):
    """A tool as its program knows it, where the model knows it by another name. `free`: its
    argument is one text, not JSON."""

    name: str
    namespace: str = ""
    free: bool = False


class ServedRequest(Struct, frozen=True):
    """One request. `model` is a name as the program wrote it.

    `session`: the program's own name of its session, "" where it has none. `plain`: a text that is
    continued as it stands, without a chat template. `so_far` is the beginning of the reply, where
    the program wrote it. `names`: tools whose name in the prompt is another one. `ignored` are
    fields that this server does not know.
    """

    messages: tuple[PromptMessage, ...] = ()
    model: str = ""
    tools: Tools = NO_TOOLS
    sampling: SamplingChoice = field(default_factory=SamplingChoice)
    thinking: Thinking | None = None
    streams: bool = False
    session: str = ""
    so_far: WrittenSoFar = WrittenSoFar()
    plain: str = ""
    names: Mapping[str, ShownTool] = field(default_factory=dict)
    with_usage: bool = False
    ignored: tuple[str, ...] = ()

    @property
    def instructions(self) -> str:
        """The text of the first system message; "" for none."""
        first = self.messages[0] if self.messages else None
        return first.text if first is not None and first.role is Role.SYSTEM else ""

    @property
    def size(self) -> int:
        """Characters of the text in it."""
        texts = sum(len(one.text) + len(one.reasoning) for one in self.messages)
        return texts + len(self.plain)
