"""Chat templates: the sandbox holds, and fallbacks are named."""

from __future__ import annotations

import pytest

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.core.told import told
from headstart.engine.template import CHATML, ChatTemplate, TemplateError, choose

HELLO = [PromptMessage(Role.USER, "Hello")]


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.clear() }}",
        "{{ messages[0].update(role='user') }}",
        "{% for one in messages %}{{ messages.append(one) or '' }}{% endfor %}",
        "{% set l = [1] %}{{ l.append(l) or '' }}{{ l|tojson }}",
        "{% set l = ['x'] %}{{ l.append(l) or '' }}{{ l.append(l) or '' }}{{ l ~ '' }}{{ 1 / 0 }}",
        (
            "{% set l = [[]] %}{% for i in range(90000) %}{{ l.append([l[-1]]) or '' }}{% endfor %}"
            "{{ l|string }}{{ 1 / 0 }}"
        ),
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{% include '/etc/passwd' %}",
        "{{ range(10**9) | list }}",
        "{{ 'x' * 10**12 }}",
        "{{ [1] * 10000000 }}",
        "{{ 9 ** 900 }}",
        "{{ 'x'.ljust(10**10) }}",
        "{{ 'x'|center(10**10) }}",
        "{{ '{:>9999999999}'.format(1) }}",
        "{{ '{:>{w}}'.format(1, w=10**10) }}",
        "{{ '%*d' % (10**9, 1) }}",
        "{{ '%999999999d'|format(1) }}",
        "{{ '%.999999999f' % 1.0 }}",
        "{{ ('a' * 90000).replace('a', 'b' * 90000) }}",
        "{{ ('a' * 90000).join(['b'] * 90000) }}",
        "{{ (['a' * 90000] * 90000)|join }}",
        "{{ strftime_now('%999999999Y') }}",
        "{{ 'a'|indent(10**9, true) }}",
        "{{ [1]|tojson(indent=10**9) }}",
        # lists that hold each other twice
        (
            "{% set n = namespace(s='x') %}"
            "{% for i in range(60) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s }}"
        ),
        (
            "{% set n = namespace(s='x') %}"
            "{% for i in range(60) %}{% set n.s = dict(a=n.s, b=n.s) %}{% endfor %}{{ n.s|tojson }}"
        ),
        (
            "{% set n = namespace(s=7) %}"
            "{% for i in range(60) %}{% set n.s = n.s * n.s %}{% endfor %}{{ n.s }}"
        ),
        "{{ raise_exception('no') }}",
        "{% for x in %}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ undefined_thing.attribute }}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        (
            "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}"
            "{{ f(40) }}"
        ),
        (
            "{% set n = namespace(s='x') %}"
            "{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}"
        ),
        (
            "{% set n = namespace(s='x') %}"
            "{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}"
        ),
    ],
)
def test_hostile_and_broken_templates_raise_and_do_nothing(source: str) -> None:
    with pytest.raises(TemplateError):
        ChatTemplate(source).render(HELLO)


def test_a_model_without_a_template_gets_chatml_where_its_tokens_exist() -> None:
    chosen = choose(None, "", "", frozenset({"<|im_start|>", "<|im_end|>"}))
    assert chosen.source == CHATML
    assert chosen.fallback == told("template-missing")
    assert chosen.fallback_name == "form-chatml"


def test_a_broken_template_falls_back_to_plain_with_a_stop_string() -> None:
    chosen = choose("{{ raise_exception('bad') }}", "", "", frozenset())
    assert chosen.fallback == told("template-broken", error="bad")
    assert chosen.fallback_name == "form-plain"
    assert chosen.render(HELLO) == "User: Hello\n\nAssistant:"
    assert chosen.stop == ("\nUser:",)


def test_a_template_that_refuses_system_messages_gets_them_in_the_question() -> None:
    source = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    )
    system = PromptMessage(Role.SYSTEM, "Be brief.")
    template = choose(source, "", "", frozenset())
    assert template.merges
    assert template.render([system, *HELLO]) == "[user]Be brief.\n\nHello"


LISTS = (
    "{% for message in messages %}<{{ message.role }}>"
    "{% for item in message.content %}{% if item.type == 'text' %}{{ item.text }}{% endif %}"
    "{% endfor %}{% endfor %}<assistant>"
)


def test_a_template_that_wants_lists_of_content_gets_them() -> None:
    template = choose(LISTS, "", "", frozenset())
    assert template.lists
    assert template.fallback is None
    messages = [PromptMessage(Role.SYSTEM, "Be brief."), PromptMessage(Role.USER, "Rivers?")]
    assert template.render(messages) == "<system>Be brief.<user>Rivers?<assistant>"


def test_a_template_that_leaves_out_the_text_is_not_used() -> None:
    template = choose(
        "{% for message in messages %}{{ message.role }}{% endfor %}", "", "", frozenset()
    )
    assert template.fallback == told("template-leaves-out")
    assert "Rivers?" in template.render([PromptMessage(Role.USER, "Rivers?")])


def test_a_template_that_fails_at_the_second_turn_is_not_used() -> None:
    source = (
        "{% if messages | length > 2 %}{{ raise_exception('one turn') }}{% endif %}"
        "{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    assert choose(source, "", "", frozenset()).fallback == told("template-broken", error="one turn")


def test_tools_are_none_or_an_empty_list_as_the_template_wants_it() -> None:
    source = "{% for tool in tools %}x{% endfor %}" + TEXTS
    template = choose(source, "", "", frozenset())
    assert template.fallback is None
    assert template.render(HELLO) == "Hello"


def test_what_marks_text_for_training_is_left_out() -> None:
    source = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"
    template = choose(source, "", "", frozenset())
    assert template.fallback is None
    assert template.render(HELLO) == "Hello"


TEXTS = "{% for m in messages %}{{ m.content }}{% endfor %}"
SWITCH = (
    TEXTS + "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
)
EFFORT = "Reasoning: {{ reasoning_effort | default('medium') }} " + TEXTS


def test_thinking_is_told_to_templates_that_know_it() -> None:
    switch = choose(SWITCH, "", "", frozenset())
    assert switch.efforts == ("auto", "off", "on")
    assert switch.render(HELLO) == switch.render(HELLO, "on") == "Hello"
    assert switch.render(HELLO, "off") == "Hello<think></think>"
    # chosen for a model that has levels
    assert switch.render(HELLO, "high") == "Hello"

    effort = choose(EFFORT, "", "", frozenset())
    assert effort.efforts == ("auto", "low", "medium", "high")
    assert effort.render(HELLO, "low") == "Reasoning: low Hello"
    assert effort.render(HELLO, "max") == "Reasoning: high Hello"
    assert effort.render(HELLO, "off") == "Reasoning: medium Hello"

    plain = choose(TEXTS, "", "", frozenset())
    assert plain.efforts == ("auto",)
    assert plain.render(HELLO, "off") == "Hello"


def test_earlier_reasoning_is_never_content() -> None:
    known = "{% for m in messages %}[{{ m.thinking }}]{{ m.content }}{% endfor %}"
    said = PromptMessage(Role.ASSISTANT, "Four.", reasoning="Two and two.")
    assert choose(known, "", "", frozenset()).render([said]) == "[Two and two.]Four."
    assert choose(TEXTS, "", "", frozenset()).render([said]) == "Four."
