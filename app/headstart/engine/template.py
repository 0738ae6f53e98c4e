"""Chat templates: a model's own Jinja template in a sandbox, or a named fallback.

Templates disagree on their input: some need a list of tools, some take content as a list, some know
no system message. A template's needs are found once, by rendering a short chat in each way.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import jinja2
import msgspec
from msgspec import Struct

from headstart.core.chats.values import Role
from headstart.core.requests import (
    PromptMessage,
    ToolRole,
)
from headstart.core.settings.schema import THINKING, Thinking
from headstart.core.told import Told, told
from headstart.core.tools import ToolSpec
from headstart.engine.foreign import Safe, joined, unchanged
from headstart.engine.markup.formats import ReplyFormat, format_of
from headstart.engine.markup.tool_way import PLAIN_WAY, CallWay
from headstart.engine.sandbox import rendering
from headstart.engine.sandbox.budget import TooMuch, allowance
from headstart.engine.sandbox.sizes import check_prompt
from headstart.engine.tool_messages import given_calls, given_tools, template_id

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PLAIN = (
    "{% for message in messages %}{% if message.role == 'system' %}{{ message.content }}\n\n"
    "{% else %}{{ 'User' if message.role == 'user' else 'Assistant' }}: {{ message.content }}\n\n"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)
PLAIN_STOP = "\nUser:"

_SAMPLE = (
    PromptMessage(Role.SYSTEM, "Be brief."),
    PromptMessage(Role.USER, "What is a river?"),
    PromptMessage(Role.ASSISTANT, "Water that flows."),
    PromptMessage(Role.USER, "And a lake?"),
)
# the ways to say that there are no tools, the usual ones first
_TOOLS: tuple[dict[str, Any], ...] = (
    {"tools": None},
    {"tools": []},
    {"tools": [], "functions": "[]"},
)
# names in templates for the switch of thinking, with its two values, and for the effort
_SWITCHES: dict[str, tuple[Any, Any]] = {
    "enable_thinking": (False, True),
    "thinking": (False, True),
    "thinking_mode": ("disabled", "enabled"),
    "thinking_option": ("off", "on"),
    "thinking_budget": (0, -1),
}
_EFFORTS = ("reasoning_effort", "thinking_effort", "reasoning_strength")
_NO_EFFORT = ("none", "no_think")


class TemplateError(Exception):
    """An error in the template itself, or in the messages passed to it."""

    @property
    def too_much(self) -> bool:
        """True if the template was stopped for using too much time or memory."""
        return isinstance(self.__cause__, TooMuch)


class ChatTemplate(Struct, frozen=True):
    """A template with the texts it may use. `fallback`: why it replaces the model's own."""

    source: str
    begin_text: str = ""
    end_text: str = ""
    fallback: Told | None = None
    stop: tuple[str, ...] = ()
    # true if it takes a message's content as a list of typed items
    lists: bool = False
    # true if the system message is joined to the first question, for a template that knows none
    merges: bool = False
    # index in _TOOLS
    tools: int = 0
    # its levels of thinking; "auto" leaves the choice to the template
    efforts: tuple[Thinking, ...] = ("auto",)

    @property
    def form(self) -> ReplyFormat:
        """Marks of reasoning in replies."""
        return format_of(self.source)

    @property
    def reads_clock(self) -> bool:
        """True if the same messages render differently on another day."""
        return "strftime_now" in self.source or "datetime" in self._variables

    @property
    def _variables(self) -> frozenset[str]:
        try:
            return rendering.variables(self.source)
        except jinja2.TemplateError:
            return frozenset()

    @property
    def fallback_name(self) -> str:
        """The code of the phrase that names a fallback."""
        return "form-chatml" if self.source == CHATML else "form-plain"

    def render(
        self,
        messages: Sequence[PromptMessage],
        thinking: Thinking = "auto",
        tools: Sequence[ToolSpec] = (),
        way: CallWay = PLAIN_WAY,
        safe: Safe = unchanged,
    ) -> str:
        """The prompt as text, up to the start of the assistant's reply; raises TemplateError.

        `way`: how calls are given to the template. `safe` makes the texts of tools and calls safe;
        those of messages are so already.
        """
        told_so = self._told(nearest(thinking, self.efforts)) | self._offered(tools, safe)
        given = _merged(messages) if self.merges else messages
        try:
            return self._call(given, told_so, way, safe)
        except RecursionError as error:
            raise TemplateError("it calls itself without end") from error
        except jinja2.TemplateError as error:
            turns = _in_turns(given)
            if turns == list(given) or isinstance(error, TooMuch):
                raise TemplateError(f"{error}" or type(error).__name__) from error
            # many templates want a question first, and an answer after each
            with _as_template_error():
                return self._call(turns, told_so, way, safe)
        except Exception as error:
            # a template is untrusted code: any exception is its own fault
            raise TemplateError(f"{error}" or type(error).__name__) from error

    def _offered(self, tools: Sequence[ToolSpec], safe: Safe) -> dict[str, Any]:
        """The template's variables for tools."""
        if not tools:
            # a copy: templates may change lists
            return {
                name: [] if value == [] else value for name, value in _TOOLS[self.tools].items()
            }
        given = given_tools(tools, safe)
        as_text = {"functions", "xml_tools"} & self._variables
        text = safe(json.dumps(given_tools(tools), ensure_ascii=False)) if as_text else ""
        return {"tools": given} | dict.fromkeys(as_text, text)

    def _call(
        self,
        messages: Sequence[PromptMessage],
        told_so: dict[str, Any],
        way: CallWay,
        safe: Safe,
    ) -> str:
        values = {
            "messages": [self._given(message, way, safe) for message in messages],
            "add_generation_prompt": True,
            "bos_token": self.begin_text,
            "eos_token": self.end_text,
            **told_so,
        }
        if "datetime" in self._variables:
            values["datetime"] = datetime.date.today().strftime("%d %B %Y")
        prompt = rendering.render(self.source, values)
        calls = sum(len(call.arguments) for one in messages for call in one.calls)
        texts = sum(len(one.text) + len(one.reasoning) for one in messages)
        check_prompt(prompt, texts + calls + len(str(told_so.get("tools", ""))))
        return prompt

    def _given(self, message: PromptMessage, way: CallWay, safe: Safe) -> dict[str, Any]:
        content = [{"type": "text", "text": message.text}] if self.lists else message.text
        given: dict[str, Any] = {"role": message.role.value, "content": content}
        if message.reasoning:
            # each template uses one of these names, and keeps or drops the reasoning itself
            given["reasoning_content"] = given["thinking"] = message.reasoning
        if message.calls:
            given["tool_calls"] = given_calls(message.calls, way.as_text, safe)
            if way.null and not message.text:
                given["content"] = None
        if message.role is ToolRole.TOOL:
            given |= {"name": message.name, "tool_call_id": template_id(message.call_id)}
        return given

    @property
    def says_of_thinking(self) -> list[Thinking]:
        """Efforts that the template names, with or without an effect."""
        names = self._variables
        # levels that its source names come first
        levels = sorted(THINKING[3:], key=lambda level: not _quoted(self.source, level))
        if not names.isdisjoint(_SWITCHES):
            return ["off", "on", *levels]
        if names.isdisjoint(_EFFORTS):
            return []
        return ["off", *levels] if self._no_effort else levels

    @property
    def _no_effort(self) -> str | None:
        return next((word for word in _NO_EFFORT if _quoted(self.source, word)), None)

    def _told(self, thinking: Thinking) -> dict[str, Any]:
        """The template's variables for this level."""
        if thinking == "auto":
            return {}
        names = self._variables
        on = thinking != "off"
        values = {name: pair[on] for name, pair in _SWITCHES.items() if name in names}
        effort = next((name for name in _EFFORTS if name in names), None)
        if effort is not None and not on:
            values |= {effort: self._no_effort} if self._no_effort else {}
        elif effort is not None and thinking != "on":
            values[effort] = thinking
        return values


def nearest(wanted: Thinking, known: Sequence[Thinking]) -> Thinking:
    """The template's level nearest to one chosen for another template."""
    if wanted in known:
        return wanted
    if wanted in ("auto", "off"):
        return "auto"
    efforts = [effort for effort in known if effort not in ("auto", "off", "on")]
    if wanted == "on" or not efforts:
        return "on" if "on" in known else "auto"
    order = THINKING.index
    return min(efforts, key=lambda effort: abs(order(effort) - order(wanted)))


def choose(
    source: str | None, begin_text: str, end_text: str, special_texts: frozenset[str]
) -> ChatTemplate:
    """The model's own template if it renders, else ChatML where its tokens exist, else plain."""
    reason = told("template-missing")
    if source:
        with allowance():
            own, problem = _own(source, begin_text, end_text)
        if own is not None:
            return own
        reason = problem
    return fallback(reason, special_texts)


def fallback(reason: Told, special_texts: Collection[str]) -> ChatTemplate:
    """ChatML where its tokens exist, else plain."""
    if {"<|im_start|>", "<|im_end|>"} <= set(special_texts):
        return ChatTemplate(CHATML, fallback=reason)
    return ChatTemplate(PLAIN, fallback=reason, stop=(PLAIN_STOP,))


def _own(source: str, begin_text: str, end_text: str) -> tuple[ChatTemplate | None, Told]:
    """The template with the input it wants, or None; and the reason if there is none."""
    try:
        rendering.compiled(source)
    except Exception as error:
        # no other input changes that
        return None, told("template-broken", error=f"{error}" or type(error).__name__)
    reason = told("template-leaves-out")
    first = True
    for merges, lists, tools in itertools.product((False, True), (False, True), range(len(_TOOLS))):
        template = ChatTemplate(
            source, begin_text, end_text, lists=lists, merges=merges, tools=tools
        )
        try:
            shown = template.render(_SAMPLE)
        except TemplateError as error:
            reason, first = (told("template-broken", error=error) if first else reason), False
            if error.too_much:
                break
            continue
        # a list in place of a text appears as its Python repr
        if all(message.text in shown for message in _SAMPLE) and "{'type'" not in shown:
            return msgspec.structs.replace(template, efforts=_efforts(template)), reason
    return None, reason


def _efforts(template: ChatTemplate) -> tuple[Thinking, ...]:
    """Levels of thinking that the template understands: those that change the prompt."""

    def shown(thinking: Thinking) -> str | None:
        asking = msgspec.structs.replace(template, efforts=(thinking,))
        try:
            # some templates use the level only in their own system prompt
            return asking.render(_SAMPLE, thinking) + asking.render(_SAMPLE[1:], thinking)
        except TemplateError:
            return None

    texts: dict[Thinking, str] = {}
    for level in template.says_of_thinking:
        text = shown(level)
        # a level with the same prompt as another is no choice
        if text is not None and text not in texts.values():
            texts[level] = text
    levels = [level for level in texts if level not in ("off", "on")]
    named = [level for level in levels if _quoted(template.source, level)]
    if len(named) < 2 and "on" not in texts:
        # the template takes any word: offer those that models are trained on
        named = [level for level in levels if level in ("low", "medium", "high")]
    if "off" in texts and "on" not in texts and len(named) < 2:
        # no level lies between off and full
        return ("auto", "off", "on")
    found = [level for level in THINKING if level in ("off", "on", *named) and level in texts]
    return ("auto", *found) if len(found) > 1 else ("auto",)


def _quoted(source: str, word: str) -> bool:
    return f"'{word}'" in source or f'"{word}"' in source


@contextlib.contextmanager
def _as_template_error() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise TemplateError(f"{error}" or type(error).__name__) from error


def _in_turns(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    """Alternating questions and answers: an empty question before a leading answer, and neighbours
    of one role joined."""
    found: list[PromptMessage] = []
    for one in messages:
        last = found[-1] if found else None
        if one.role is Role.ASSISTANT and (last is None or last.role is Role.SYSTEM):
            found.append(PromptMessage(Role.USER, "", f"before {one.key}"))
        elif last is not None and last.role is one.role and not _of_tools(last, one):
            text = joined((last.text, "\n\n", one.text))
            images = last.images + one.images
            found[-1] = msgspec.structs.replace(last, text=text, key=one.key, images=images)
            continue
        found.append(one)
    return found


def _of_tools(*messages: PromptMessage) -> bool:
    return any(one.calls or one.role is ToolRole.TOOL for one in messages)


def _merged(messages: Sequence[PromptMessage]) -> Sequence[PromptMessage]:
    """The messages with the system message joined to the first question."""
    if len(messages) < 2 or messages[0].role is not Role.SYSTEM:
        return messages
    first, second = messages[0], messages[1]
    if second.role is not Role.USER:
        # a chat that the model begins: the system message serves as the question
        return [PromptMessage(Role.USER, first.text, first.key), *messages[1:]]
    text = joined((first.text, "\n\n", second.text))
    return [PromptMessage(second.role, text, second.key, second.reasoning), *messages[2:]]
