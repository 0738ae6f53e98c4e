"""Bounds and defaults of settings, taken from their annotations, with their texts. Pure."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from headstart.core import wording


class FieldInfo(Struct, frozen=True):
    """One setting, for windows and docs; `code` is the one of its texts."""

    code: str
    default: Any
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    integer: bool
    # the smallest ordinary value, if the minimum has a special meaning
    least: int | None = None
    # True if -1 is another way to write the minimum
    minus_one: bool = False

    @property
    def name(self) -> str:
        return self.code.rpartition(".")[2]

    @property
    def title(self) -> str:
        return self._sentences[0]

    @property
    def description(self) -> str:
        return self._sentences[1]

    @property
    def special(self) -> str:
        """The meaning of the minimum; "" if it is an ordinary value."""
        return self._word(":special")

    @property
    def label(self) -> str:
        """Text beside a check box; the title stands elsewhere."""
        return self._word(":label") or self.description

    @property
    def labels(self) -> dict[str, str]:
        """Names of the choices, in their order."""
        return {choice: self._word(f"={choice}") or choice for choice in self.choices}

    def unit(self, value: float) -> str:
        """The unit after `value`; "" for none."""
        code = f"{self.code}:unit"
        return wording.say(code, count=value) if code in wording.catalogue() else ""

    @property
    def _sentences(self) -> tuple[str, str]:
        return wording.sentences(self.code, {"least": self.least})

    def _word(self, part: str) -> str:
        code = self.code + part
        return wording.say(code) if code in wording.catalogue() else ""


@functools.cache
def describe(kind: type[Struct]) -> dict[str, FieldInfo]:
    """The fields of a settings struct that have texts, by name."""
    fields = {}
    for item in msgspec.structs.fields(kind):
        code = f"{kind.__name__}.{item.name}"
        if code in wording.catalogue():
            fields[item.name] = _field(code, item.type, item.default)
    return fields


def _field(code: str, annotated: Any, default: Any) -> FieldInfo:
    # not msgspec's own inspection: it descends into every nested struct, a tenth of a second
    inner, meta = annotated, Meta()
    if get_origin(annotated) is Annotated:
        inner, *metas = get_args(annotated)
        meta = next((one for one in metas if isinstance(one, Meta)), meta)
    choices = get_args(inner) if get_origin(inner) is Literal else ()
    return FieldInfo(
        code=code,
        default=None if default is msgspec.NODEFAULT else default,
        minimum=meta.ge,
        maximum=meta.le,
        choices=tuple(str(value) for value in choices),
        integer=inner is int,
        least=(meta.extra_json_schema or {}).get("least"),
        minus_one=(meta.extra_json_schema or {}).get("minus_one", False),
    )
