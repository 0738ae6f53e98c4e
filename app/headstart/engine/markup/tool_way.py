"""A template's way with tools, as it was found by rendering. Pure."""

from __future__ import annotations

from msgspec import Struct

from headstart.engine.markup.formats import ReplyFormat, with_calls
from headstart.engine.markup.tool_calls.forms import CallForm
from headstart.engine.markup.tool_calls.layout import NAME

_PLAIN_NAMES = {NAME: "tool_name", "city": "key", "Oslo": "text", "days": "other_key"}


class CallWay(Struct, frozen=True):
    """A template's wishes. `as_text`: arguments as JSON text, not as a value; `null`: no content
    at all in a reply that has nothing but calls."""

    as_text: bool = False
    null: bool = False


PLAIN_WAY = CallWay()


class ToolPrompt(Struct, frozen=True):
    """A template's way with tools.

    `own`: it shows calls in a form that was proved; otherwise calls are text in the generic form.
    `lists`: it shows the tools themselves.
    """

    form: CallForm
    own: bool
    lists: bool = False
    way: CallWay = PLAIN_WAY
    several: bool = True
    # the first of the calls below as the template writes it, and both in a section
    example: str = ""
    pair: str = ""

    @property
    def shown(self) -> str:
        """The example with names that no tool has."""
        found = self.example
        for name, other in _PLAIN_NAMES.items():
            found = found.replace(name, other)
        return found

    def format(self, form: ReplyFormat) -> ReplyFormat:
        """The marks of replies with calls."""
        return with_calls(form, self.form, offered=True)
