"""Every vendored template that shows a call has its form proved by rendering."""

from __future__ import annotations

import json

import pytest

from headstart.core.chats.values import Role
from headstart.core.requests import (
    PromptCall,
    PromptMessage,
    ToolRole,
)
from headstart.core.tools import NO_TOOLS, Tools, ToolSpec, new_call_id
from headstart.engine.call_memory import CallMemory
from headstart.engine.markup.tool_calls.forms import FORMS, GENERIC
from headstart.engine.template import CHATML, ChatTemplate, choose
from headstart.engine.tool_messages import as_text, template_id, with_described_tools
from headstart.engine.tool_probe import probe
from headstart.engine.tool_prompts import ToolPrompts
from tests.models.llama_source import templates
from tests.support.tool_forms import TOOLS

# templates that show no call; Granite's and LFM2's models write theirs in the content
WITHOUT = {
    "HuggingFaceTB-SmolLM3-3B", "LFM2-8B-A1B", "LFM2.5-Instruct", "google-gemma-2-2b-it",
    "fireworks-ai-llama-3-firefunction-v2", "ibm-granite-granite-3.3-2B-Instruct",
    "llama-cpp-deepseek-r1", "llama-cpp-rwkv-world", "microsoft-Phi-3.5-mini-instruct",
}  # fmt: skip
# those that lose or refuse a second call in one reply
ONE = {
    "GigaChat3-10B-A1.8B", "GigaChat3.1-10B-A1.8B", "meta-llama-Llama-3.1-8B-Instruct",
    "meta-llama-Llama-3.2-3B-Instruct", "meta-llama-Llama-3.3-70B-Instruct", "openai-gpt-oss-120b",
}  # fmt: skip
# those that show calls, but not the tools themselves
UNLISTED = {
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
    "deepseek-ai-DeepSeek-V3.1",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(templates()))
def test_a_form_is_proved_for_every_template_that_shows_calls(name: str) -> None:
    template = choose(templates()[name], "<s>", "</s>", frozenset())
    found = probe(template)
    assert found.own == (name not in WITHOUT)
    if found.own:
        assert found.several == (name not in ONE)
        assert found.lists == (name not in UNLISTED)


def test_every_form_is_a_vendored_templates_or_named_here() -> None:
    shown = {probe(choose(text, "", "", frozenset())).form.name for text in templates().values()}
    # Granite 3.3 writes it, and its template shows none
    assert {form.name for form in FORMS} - shown == {"tool_call token"}


def test_a_template_without_calls_gets_the_generic_form() -> None:
    found = probe(ChatTemplate(CHATML))
    assert (found.own, found.form) == (False, GENERIC)


def test_calls_and_results_become_text_where_a_template_shows_none() -> None:
    tool = ToolSpec("tide", "The tide.", '{"type": "object", "properties": {"at": {}}}')
    calls = (PromptCall("a", "tide", '{"at": 1}'), PromptCall("b", "tide", '{"at": 2}'))
    messages = [
        PromptMessage(Role.USER, "When?"),
        PromptMessage(Role.ASSISTANT, "Let me see.", calls=calls),
        PromptMessage(ToolRole.TOOL, "high", call_id="a", name="tide"),
        PromptMessage(ToolRole.TOOL, "low", call_id="b", name="tide"),
        PromptMessage(Role.USER, "Thanks."),
    ]
    shown = as_text(with_described_tools(messages, [tool], "<example>"))
    assert [one.role for one in shown] == [
        Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER, Role.USER,
    ]  # fmt: skip
    assert '"name": "tide"' in shown[0].text
    assert "<example>" in shown[0].text
    assert shown[2].text == (
        'Let me see.\n<tool_call>\n{"name": "tide", "arguments": {"at": 1}}\n</tool_call>\n'
        '<tool_call>\n{"name": "tide", "arguments": {"at": 2}}\n</tool_call>'
    )
    assert shown[3].text.count("<tool_response>") == 2
    assert not any(one.calls for one in shown)


def test_templates_get_ids_of_nine_letters_and_digits() -> None:
    own = new_call_id()
    assert own != new_call_id()
    assert template_id(own) == own.removeprefix("call_")
    for foreign in ("toolu_01AbC", "", "call-7", "ü" * 9, "x" * 100):
        found = template_id(foreign)
        assert len(found) == 9
        assert found.isascii()
        assert found.isalnum()
        assert found == template_id(foreign)


def test_a_tool_with_a_broken_schema_takes_no_arguments() -> None:
    for schema in ("", "[]", "{", "null", "7"):
        assert ToolSpec("t", "", schema).parameters == {"type": "object", "properties": {}}
    assert not NO_TOOLS
    assert json.loads(ToolSpec("t", "").schema)


def test_a_template_that_stands_in_for_a_broken_one_takes_tools() -> None:
    """The reason why it does has facts, which cannot be hashed."""
    plain = choose(None, "<s>", "</s>", frozenset())
    broken = choose("{{ raise_exception('no') }}", "<s>", "</s>", frozenset())
    assert broken.fallback is not None
    prompts = ToolPrompts(CallMemory)
    for template in (plain, broken):
        rendered = prompts.render(
            template, [PromptMessage(Role.USER, "Hello.")], "auto", Tools(TOOLS)
        )
        assert "read_file" in rendered
