"""Prompts with tools: in a template's own way, or as text. Engine thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from headstart.core.requests import PromptMessage
from headstart.core.settings.schema import Thinking
from headstart.core.tools import Tools
from headstart.engine.call_memory import CallMemory, digest
from headstart.engine.foreign import Safe, unchanged
from headstart.engine.markup.tool_way import ToolPrompt
from headstart.engine.template import ChatTemplate, TemplateError
from headstart.engine.tool_messages import as_text, with_described_tools
from headstart.engine.tool_probe import NO_CALLS, probe


class ToolPrompts:
    """`calls` gives the present audience's calls as the model wrote them. `safe` makes the texts of
    tools safe."""

    def __init__(self, calls: Callable[[], CallMemory], safe: Safe = unchanged) -> None:
        self._calls = calls
        self._safe = safe
        # templates that raised at the calls or tools of a prompt
        self._refused: set[ChatTemplate] = set()

    @property
    def calls(self) -> CallMemory:
        return self._calls()

    def way(self, template: ChatTemplate) -> ToolPrompt:
        # the reason for a fallback has facts, and facts have no hash
        bare = replace(template, fallback=None)
        return NO_CALLS if bare in self._refused else probe(bare)

    def seen(
        self,
        template: ChatTemplate,
        messages: Sequence[PromptMessage],
        thinking: Thinking,
        tools: Tools,
    ) -> bytes:
        """The digest of a prompt's messages, and of all else that decides it."""
        return digest(messages, _offer(template, thinking, tools))

    def render(
        self,
        template: ChatTemplate,
        messages: Sequence[PromptMessage],
        thinking: Thinking,
        tools: Tools,
    ) -> str:
        """The prompt as text; raises TemplateError."""
        way = self.way(template)
        given = self.calls.with_reasoning(messages)
        offer = _offer(template, thinking, tools)

        def own(some: Sequence[PromptMessage]) -> str:
            if not way.lists:
                some = with_described_tools(some, tools.specs, way.shown, self._safe)
            return template.render(some, thinking, tools.specs, way.way, self._safe)

        def plain(some: Sequence[PromptMessage]) -> str:
            described = with_described_tools(some, tools.specs, NO_CALLS.shown, self._safe)
            return template.render(as_text(described), thinking)

        if way.own:
            try:
                return self.calls.as_written(own(given), given, way.form, own, offer)
            except TemplateError as error:
                if error.too_much:
                    raise
                # a schema, or a history, that the template does not take
                self._refused.add(replace(template, fallback=None))
        return self.calls.as_written(plain(given), given, NO_CALLS.form, plain, offer)


def _offer(template: ChatTemplate, thinking: Thinking, tools: Tools) -> str:
    return repr((template.source, thinking, tools.specs))
