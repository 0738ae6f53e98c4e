"""Chat templates: the sandbox holds, and fallbacks are named."""

from __future__ import annotations

import pytest

from headstart.core.requests import PromptMessage
from headstart.core.told import told
from headstart.core.values import Role
from headstart.engine.template import CHATML, ChatTemplate, TemplateError, choose

HELLO = [PromptMessage(Role.USER, "Hello")]


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append({}) }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{% include '/etc/passwd' %}",
        "{{ range(10**9) | list }}",
        "{{ 'x' * 10**12 }}",
        "{{ [1] * 10000000 }}",
        "{{ 9 ** 900 }}",
        "{{ raise_exception('no') }}",
        "{% for x in %}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ undefined_thing.attribute }}",
    ],
)
def test_hostile_and_broken_templates_raise_and_do_nothing(source: str) -> None:
    with pytest.raises(TemplateError):
        ChatTemplate(source).render(HELLO)


def test_a_model_without_a_template_gets_chatml_where_its_tokens_exist() -> None:
    chosen = choose(None, "", "", frozenset({"<|im_start|>", "<|im_end|>"}))
    assert chosen.source == CHATML
    assert chosen.fallback == told("template-missing")
    assert chosen.form == "form-chatml"


def test_a_broken_template_falls_back_to_plain_with_a_stop_string() -> None:
    chosen = choose("{{ raise_exception('bad') }}", "", "", frozenset())
    assert chosen.fallback == told("template-broken", error="bad")
    assert chosen.form == "form-plain"
    assert chosen.render(HELLO) == "User: Hello\n\nAssistant:"
    assert chosen.stop == ("\nUser:",)


def test_a_template_that_refuses_system_messages_gets_them_in_the_question() -> None:
    source = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    )
    system = PromptMessage(Role.SYSTEM, "Be brief.")
    assert ChatTemplate(source).render([system, *HELLO]) == "[user]Be brief.\n\nHello"


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
