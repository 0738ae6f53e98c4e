"""Chat templates: a model's own Jinja template in a sandbox, or a fallback that is named.

Templates come with downloaded files, so they run in Jinja's immutable sandbox: no attributes
that begin with an underscore, no changes to what they are given, no files, no imports.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import jinja2
import jinja2.ext
import jinja2.sandbox
from jinja2.runtime import Context

from headstart.core.requests import PromptMessage
from headstart.core.told import Told, told
from headstart.core.values import Role

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
LARGEST_PRODUCT = 100_000
PLAIN_STOP = "\nUser:"
_SAMPLE = "Hello"


class TemplateError(Exception):
    """The template itself, or the messages it was given, are at fault."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A template with the texts it may use. `fallback` says why it is not the model's."""

    source: str
    begin_text: str = ""
    end_text: str = ""
    fallback: Told | None = None
    stop: tuple[str, ...] = ()
    # whether it wants a message's content as a list of items, each with its type
    lists: bool = False

    @property
    def reads_clock(self) -> bool:
        """Whether the same messages read differently on another day."""
        return "strftime_now" in self.source

    @property
    def form(self) -> str:
        """The code of the phrase that names a fallback."""
        return "form-chatml" if self.source == CHATML else "form-plain"

    def render(self, messages: Sequence[PromptMessage]) -> str:
        """The prompt as text, ending where the assistant begins; raises TemplateError."""
        plain = [{"role": message.role.value, "content": message.text} for message in messages]
        try:
            template = _compiled(self.source)
            try:
                return self._call(template, plain)
            except (jinja2.TemplateError, TypeError, ValueError):
                if not plain or plain[0]["role"] != Role.SYSTEM.value or len(plain) < 2:
                    raise
                # some templates know no system message: put it before the first question
                first, second = plain[0], plain[1]
                merged = {**second, "content": f"{first['content']}\n\n{second['content']}"}
                return self._call(template, [merged, *plain[2:]])
        except RecursionError as error:
            raise TemplateError("it calls itself without end") from error
        except Exception as error:
            # a template is a stranger's program: whatever it raises is its own fault
            raise TemplateError(f"{error}" or type(error).__name__) from error

    def _call(self, template: jinja2.Template, messages: list[dict[str, str]]) -> str:
        given: list[dict[str, Any]] = [
            {**message, "content": [{"type": "text", "text": message["content"]}]}
            for message in messages
        ]
        return template.render(
            messages=given if self.lists else messages,
            add_generation_prompt=True,
            bos_token=self.begin_text,
            eos_token=self.end_text,
            tools=None,
        )


def choose(
    source: str | None, begin_text: str, end_text: str, special_texts: frozenset[str]
) -> ChatTemplate:
    """The model's own template if it renders, else ChatML where its tokens exist, else plain."""
    reason = told("template-missing")
    if source:
        own = ChatTemplate(source, begin_text, end_text)
        for template in (own, dataclasses.replace(own, lists=True)):
            try:
                shown = template.render([PromptMessage(Role.USER, _SAMPLE)])
            except TemplateError as error:
                reason = told("template-broken", error=error)
            else:
                if _SAMPLE in shown:
                    return template
                reason = told("template-leaves-out")
    if {"<|im_start|>", "<|im_end|>"} <= special_texts:
        return ChatTemplate(CHATML, fallback=reason)
    return ChatTemplate(PLAIN, fallback=reason, stop=(PLAIN_STOP,))


@functools.lru_cache(maxsize=8)
def _compiled(source: str) -> jinja2.Template:
    return _environment().from_string(source)


class _Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """Also refuses to make huge values: `'x' * 10**10` would take all memory there is."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "**":
            if not all(isinstance(value, int | float) for value in (left, right)) or right > 64:
                raise jinja2.TemplateError("the power is too large")
        else:
            for value, times in ((left, right), (right, left)):
                sized = isinstance(value, str | bytes | list | tuple)
                if sized and isinstance(times, int) and len(value) * times > LARGEST_PRODUCT:
                    raise jinja2.TemplateError("the repeated text is too long")
        return super().call_binop(context, operator, left, right)


@functools.cache
def _environment() -> jinja2.sandbox.ImmutableSandboxedEnvironment:
    environment = _Sandbox(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = _strftime_now
    return environment


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.datetime.now().astimezone().strftime(form)


def _tojson(value: Any, indent: int | None = None, **_: Any) -> str:
    # Jinja's own escapes for HTML, which no model has seen in training
    return json.dumps(value, ensure_ascii=False, indent=indent)
