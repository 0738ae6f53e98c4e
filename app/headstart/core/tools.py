"""Tools that a model may call, as values. Pure."""

from __future__ import annotations

import hashlib
import secrets
from enum import StrEnum
from typing import Any

from msgspec import Struct

from headstart.core.strange_json import decoded

# characters of the part of a call's id that templates are given: two families want nine
ID_LENGTH = 9
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# longest name of a tool, as servers take it
LONGEST_NAME = 64


class ToolSpec(Struct, frozen=True):
    """A tool. `schema`: JSON Schema of its arguments, an object, as JSON text with its keys in
    the order in which they were written."""

    name: str
    description: str
    schema: str = '{"type": "object", "properties": {}}'

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema as a value; an object without properties where it is not one."""
        try:
            found = decoded(self.schema)
        except ValueError:
            found = None
        return found if isinstance(found, dict) else {"type": "object", "properties": {}}


class Choosing(StrEnum):
    """Freedom of a model to call tools."""

    NONE = "none"
    AUTO = "auto"
    # at least one call
    REQUIRED = "required"
    # a call of one tool
    NAMED = "named"


class ToolChoice(Struct, frozen=True):
    """`name`: the tool, for NAMED."""

    choosing: Choosing = Choosing.AUTO
    name: str = ""


class Tools(Struct, frozen=True):
    """The tools of a request. `several`: one reply may call more than one. `unlisted` tools may be
    called too; a message of the history shows them to the model, not the list of tools."""

    specs: tuple[ToolSpec, ...] = ()
    choice: ToolChoice = ToolChoice()
    several: bool = True
    unlisted: tuple[ToolSpec, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.specs) and self.choice.choosing is not Choosing.NONE

    @property
    def every(self) -> tuple[ToolSpec, ...]:
        """All tools that may be called."""
        return (*self.specs, *self.unlisted)

    @property
    def schemas(self) -> dict[str, dict[str, Any]]:
        return {spec.name: spec.parameters for spec in self.every}


NO_TOOLS = Tools()


def call_id(message_id: str, number: int) -> str:
    """The id of a reply's call by its number: the same whenever it is asked for."""
    data = f"{message_id}:{number}".encode("utf-8", "surrogatepass")
    rest = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")
    letters = []
    for _ in range(ID_LENGTH):
        rest, index = divmod(rest, len(_LETTERS))
        letters.append(_LETTERS[index])
    return f"call_{''.join(letters)}"


def new_call_id() -> str:
    """An id for a call that no other call has."""
    return "call_" + "".join(secrets.choice(_LETTERS) for _ in range(ID_LENGTH))
