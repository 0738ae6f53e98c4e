"""Lists of a tool server: tools, prompts and resources. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.strange_json import decoded
from headstart.core.told import Told


class ToolDefinition(Struct, frozen=True):
    """A tool as its server describes it. `schema`: JSON Schema of its arguments, as JSON text.
    `reads_only` and `destroys` are the server's own hints, shown to the user and never trusted."""

    name: str
    title: str = ""
    description: str = ""
    schema: str = '{"type": "object", "properties": {}}'
    reads_only: bool = False
    destroys: bool = False

    @property
    def digest(self) -> str:
        """Changes with every word of the definition, not with the order of its keys."""
        data = json.dumps([self.name, self.title, self.description, self._schema(None)])
        return hashlib.blake2b(data.encode("utf-8", "replace"), digest_size=16).hexdigest()

    @property
    def as_text(self) -> str:
        """The definition as it is compared: a value a line."""
        named = (("title", self.title), ("description", self.description))
        lines = [f"{name}: {text}" for name, text in named if text]
        return "\n".join([*lines, self._schema(2)])

    def _schema(self, indent: int | None) -> str:
        """The schema in one spelling: the order of keys says nothing."""
        try:
            found = decoded(self.schema)
        except ValueError:
            return self.schema
        return json.dumps(found, ensure_ascii=False, sort_keys=True, indent=indent)


class PromptArgument(Struct, frozen=True):
    name: str
    description: str = ""
    required: bool = False


class PromptDefinition(Struct, frozen=True):
    """A prompt that a server keeps for its users."""

    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class ResourceDefinition(Struct, frozen=True):
    """A text or file that a server can be asked for; `template`: its address has gaps to fill."""

    uri: str
    name: str = ""
    title: str = ""
    description: str = ""
    media_type: str = ""
    template: bool = False


class ServerLists(Struct, frozen=True):
    """All that a server offers. `left_out`: entries and fields that were odd, or over a bound;
    `reasons`: the first of them by name."""

    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    resources: tuple[ResourceDefinition, ...] = ()
    # as the server names itself
    name: str = ""
    version: str = ""
    left_out: int = 0
    reasons: tuple[Told, ...] = ()

    def tool(self, name: str) -> ToolDefinition | None:
        return next((one for one in self.tools if one.name == name), None)


def in_old_order(
    tools: Iterable[ToolDefinition], old: Sequence[ToolDefinition]
) -> tuple[ToolDefinition, ...]:
    """Tools in the order of an earlier list, new ones last: a prompt with the same tools then
    begins with the same words."""
    found = {one.name: one for one in tools}
    kept = [found.pop(one.name) for one in old if one.name in found]
    return (*kept, *found.values())


def merged(new: ServerLists, old: ServerLists | None) -> ServerLists:
    """New lists in the old order of tools."""
    return new if old is None else replace(new, tools=in_old_order(new.tools, old.tools))
