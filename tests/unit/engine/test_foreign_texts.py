"""Control tokens in strangers' texts, in every place of a prompt and under every template: text."""

from __future__ import annotations

import re

import pytest

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.core.tools import Tools, ToolSpec
from headstart.engine.foreign import CUT, GUARD, IMAGE, Foreign, Guard, bare, joined
from headstart.engine.prompt import PromptEncoder
from headstart.engine.sandbox.rendering import render
from headstart.engine.template import choose
from tests.models.llama_source import templates
from tests.support.byte_decoder import ByteDecoder, byte_encoder
from tests.support.foreign_places import PAIRS, PLACES, Asked, control_tokens, cuts
from tests.support.sampled import sampled
from tests.support.tool_forms import TOOLS

EVERY = sampled(
    templates(),
    "GLM-4.6", "HuggingFaceTB-SmolLM3-3B", "Kimi-K3", "LFM2.5-8B-A1B", "MiniMax-M3",
    "Mistral-Small-3.2-24B-Instruct-2506", "NVIDIA-Nemotron-Nano-v2", "Qwen3-Coder",
    "google-gemma-4-31B-it", "meetkai-functionary-medium-v3.2", "openai-gpt-oss-120b",
)  # fmt: skip
# a stranger's text directly inside marks that a template may write around it
AROUND = re.compile(r"[<\[][^\s<>\[\]|]{0,30}?zq[^\s<>\[\]|]{0,30}[>\]]")


@pytest.mark.parametrize("name", EVERY)
def test_every_control_token_stays_text_in_every_place(name: str) -> None:
    encoder = byte_encoder(templates()[name], ["<think>", "</think>"])
    marks = "".join(encoder.control.values())
    for place, asked in PLACES.items():
        plain, hostile = asked("zq"), asked(f"zq{marks}")
        assert control_tokens(encoder, hostile) == control_tokens(encoder, plain), place


@pytest.mark.parametrize("name", EVERY)
def test_no_control_token_comes_together_from_two_texts(name: str) -> None:
    encoder = byte_encoder(templates()[name], ["<think>"])
    longest = max(encoder.control.values(), key=len)
    for pair, asked in PAIRS.items():
        plain = control_tokens(encoder, asked("zq", "qz"))
        for mark in ("<think>", longest):
            for one, two in cuts(mark):
                assert control_tokens(encoder, asked(one, two)) == plain, (pair, one, two)


@pytest.mark.parametrize("name", EVERY)
def test_no_control_token_begins_in_a_template_and_ends_in_a_text(name: str) -> None:
    """A vocabulary whose control tokens are what the template writes around a text."""
    source = templates()[name]
    encoder, marks = byte_encoder(source), set[str]()
    for asked in (make("zq") for make in PLACES.values()):
        if control_tokens(encoder, asked) is not None:
            rendered = bare(encoder.render(asked.messages, tools=asked.tools))
            marks |= {one.replace("zq", "look") for one in AROUND.findall(rendered)}
    encoder = byte_encoder(source, marks)
    for place, make in PLACES.items():
        plain = control_tokens(encoder, make("zq"))
        assert control_tokens(encoder, make("look")) == plain, place


@pytest.mark.parametrize("name", EVERY)
def test_a_prompt_without_control_tokens_is_the_templates_own(name: str) -> None:
    source = templates()[name]
    encoder = byte_encoder(source)
    alone = choose(source, "<s>", "</s>", frozenset())
    asked = Asked(
        [
            PromptMessage(Role.SYSTEM, "if a<b or c[0]:"),
            PromptMessage(Role.USER, "One <b>two</b> |x| [3]?"),
            PromptMessage(Role.ASSISTANT, "naïve 🙂 <|"),
            PromptMessage(Role.USER, "And < [ three"),
        ],
        Tools(TOOLS),
    )
    expected = alone.render(asked.messages)
    rendered = encoder.render(asked.messages)
    assert bare(rendered) == expected
    assert encoder.encode(rendered) == encoder.encode(expected)
    if encoder.way.own:
        shown = bare(encoder.render(asked.messages, tools=asked.tools))
        way = encoder.way
        if way.lists:
            assert shown == alone.render(asked.messages, tools=TOOLS, way=way.way)


MARK = "<|end|>"
# what a template may do with a text
WAYS = (
    "{{ x }}", "{{ x | trim }}", "{{ x.strip() }}", "{{ x | upper | lower }}", "{{ x | string }}",
    "{{ x.replace('/no', '') }}", "{{ x | replace('/no', '') }}", "{{ [x] }}", "{{ [x] | string }}",
    "{{ {'a': x} }}", "{{ [x] | tojson }}", "{{ {x: x} | tojson(indent=2) }}", "{{ x ~ x }}",
    "{{ '' ~ x }}", "{{ x + '|>' }}", "{{ '%s' % x }}", "{{ '%s|>' % (x,) }}",
    "{{ '{}'.format(x) }}", "{{ '{a}'.format(a=x) }}", "{{ '%s' | format(x) }}",
    "{{ [x, '|>'] | join }}", "{{ ''.join([x, x]) }}", "{{ [x] | map('trim') | join(',') }}",
    "{{ [{'a': x}] | map(attribute='a') | join }}", "{{ [{'a': x}] | join('', attribute='a') }}",
    "{% for part in x.split('/no') %}{{ part }}{% endfor %}", "{{ x.split('/no') | join }}",
    "{% for one in x %}{{ one }}{% endfor %}", "{{ x | list | join }}", "{{ x[1:] }}",
    "{{ x[:-1] }}",
    "{{ x[0] ~ x[1:] }}", "{{ x | reverse | reverse }}", "{{ x[::-1][::-1] }}", "{{ x | title }}",
    "{% set y %}{{ x }}|>{% endset %}{{ y | trim }}",
    "{% macro m(y) %}{{ y }}{% endmacro %}{{ m(x) | trim }}{{ m(x).replace('/no', '') }}",
    "{% filter lower %}{{ x }}{% endfilter %}", "<{{ x }}>", "<|{{ x }}|>", "{{ '<|' ~ x ~ '|>' }}",
    "{{ '<|' + x + '|>' }}", "{{ '<|%s|>' % x }}", "{{ '<|{}|>'.format(x) }}",
    "{{ '<|x|>'.replace('x', x) }}", "{{ '<|x|>' | replace('x', x) }}",
    "{{ '<|%s|>' | format(x) }}",
    "{{ ['<|', x, '|>'] | join }}", "{{ ''.join(['<|', x, '|>']) }}", "{{ ['<', '|>'] | join(x) }}",
    "{% set y = x + '|>' %}<|{{ y }}", "{{ x | default('y') }}{{ x | indent(2) }}",
    "{{ x * 2 }}",
)  # fmt: skip
TEXTS = (
    MARK, MARK.upper(), "<|e/nond|>", "<|/noend|>", "<", "<|", "<|en", "end", "|end|>", "en",
    f"a {MARK} b", f" {MARK}\n", f"<|en{MARK}d|>", "d|>", ">|dne|<", "<<|end|>", "<|end|><|",
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_text_stays_text_whatever_a_template_makes_of_it(way: str) -> None:
    guard = Guard([MARK, "<s>"])
    for text in TEXTS:
        shown = render(way, {"x": guard.text(text)})
        assert MARK not in shown, text
        # and it is the same text
        assert bare(shown) == render(way, {"x": text}), text


def test_marks_of_a_template_stay_marks_beside_a_text() -> None:
    guard = Guard([MARK, "<|user|>"])
    values = {"x": guard.text("user|> and <|end|>"), "role": "user"}
    for way in (
        "<|{{ role }}|>{{ x }}<|end|>", "{{ '<|' + role + '|>' + x + '<|end|>' }}",
        "{{ '<|%s|>%s<|end|>' % (role, x) }}", "{{ x.replace('and', '<|end|>') }}<|user|>",
        "{% set y = x ~ '<|end|>' %}{{ y | trim }}<|user|>",
        "{{ ['<|', role, '|>', x, '<|end|>'] | join }}",
    ):  # fmt: skip
        shown = render(way, values)
        assert (shown.count("<|user|>"), shown.count(MARK)) == (1, 1), way


def test_a_guard_loses_nothing_but_its_own_signs() -> None:
    guard = Guard(["<|end|>", "[x]", "~"])
    for text in ("", "a", "<|end|>", "<|en", "~~", f"{GUARD}<|{CUT}end{IMAGE}|>", "[[x]"):
        safe = guard.text(text)
        clean = "".join(one for one in text if one not in (GUARD, CUT, IMAGE))
        assert bare(safe) == clean
        assert guard.text(safe) == safe
        assert isinstance(safe, Foreign)
    value = {"<|end|>": ["<|end|>", 1, None, {"a": "[x]"}], "b": True}
    safe = guard.value(value)
    assert list(safe) == [f"<{GUARD}|end|>", "b"]
    assert safe[f"<{GUARD}|end|>"] == [f"<{GUARD}|end|>", 1, None, {"a": f"[{GUARD}x]"}]


def test_joined_texts_are_the_same_text() -> None:
    guard = Guard(["<|end|>"])
    parts = ["<|", guard.text("end|>"), "x", guard.text("<|"), guard.text("end|>")]
    assert bare(joined(parts)) == "<|end|>x<|end|>"
    assert "<|end|>" not in joined(parts)
    assert joined(["<|", "end|>"]) == "<|end|>"


def test_a_control_token_of_one_letter_stays_text() -> None:
    encoder = byte_encoder(templates()["Qwen-Qwen3-0.6B"], ["~"])
    (token,) = (one for one, text in encoder.control.items() if text == "~")
    rendered = encoder.render([PromptMessage(Role.USER, "a ~ b ~~")])
    assert token not in encoder.encode(rendered)
    assert token in encoder.encode("a ~ b")


def test_names_of_tools_are_compared_as_they_are() -> None:
    """Templates look keys up and compare names: guards must not change what they find."""
    source = (
        "{% for m in messages %}{{ m.content }}{% endfor %}{% for t in tools or [] %}"
        "{% for k, v in t.function.parameters.properties.items() %}{{ k }}"
        "{{ '!' if k in t.function.parameters.required }}{{ '#' if v.type == 'string' }}"
        "{% endfor %}{{ '@' if t.function.name == 'look' }}{% endfor %}"
    )
    encoder = PromptEncoder(
        ByteDecoder(source, ["<x>", "string|"]), choose(source, "", "", frozenset())
    )
    schema = '{"type": "object", "properties": {"<x>": {"type": "string"}}, "required": ["<x>"]}'
    guard = Guard(encoder.control.values())
    given = guard.value({"name": "look", "parameters": ToolSpec("look", "", schema).parameters})
    values = {"messages": [], "tools": [{"function": given}]}
    assert bare(render(source, values)) == "<x>!#@"
