"""Set-ups of programs: the text that a user copies, exact for an address, a key and a model. Pure.

The names of variables and fields are those of the programs in November 2026.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct


class Target(Struct, frozen=True):
    """The server that a program is to use. `address` ends with `/v1`; `context` in tokens."""

    address: str
    key: str
    model: str
    context: int
    windows: bool = False
    sees: bool = False

    @property
    def root(self) -> str:
        return self.address.removesuffix("/v1")


class SetUp(Struct, frozen=True):
    """`place`: the file that the text belongs into, "" for a terminal; `code` names the program in
    the guide, `dialect` the way in which it asks."""

    code: str
    name: str
    dialect: str
    place: str
    text: Callable[[Target], str]


def _variables(target: Target, variables: Mapping[str, str], command: str) -> str:
    """Lines for a terminal: bash and zsh, or PowerShell."""
    if target.windows:
        lines = [f"$env:{name} = '{value}'" for name, value in variables.items()]
    else:
        lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    return "\n".join((*lines, command))


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _output(target: Target) -> int:
    return max(1024, target.context // 4)


def _claude(target: Target) -> str:
    model = target.model
    return _variables(
        target,
        {
            "ANTHROPIC_BASE_URL": target.root,
            "ANTHROPIC_AUTH_TOKEN": target.key,
            "ANTHROPIC_API_KEY": "",
            "ANTHROPIC_MODEL": model,
            "ANTHROPIC_DEFAULT_OPUS_MODEL": model,
            "ANTHROPIC_DEFAULT_SONNET_MODEL": model,
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": model,
            "CLAUDE_CODE_SUBAGENT_MODEL": model,
            "CLAUDE_CODE_MAX_CONTEXT_TOKENS": str(target.context),
            "CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(target.context),
            # it keeps room for its longest reply, which is 32,000 tokens unless it is told so
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(_output(target)),
            "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
            "CLAUDE_CODE_TOTAL_TOKENS_REMINDER": "off",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        "claude",
    )


def _codex(target: Target) -> str:
    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    return "\n".join(
        (
            f"model = {quoted(target.model)}",
            'model_provider = "headstart"',
            f"model_context_window = {target.context}",
            "",
            "[model_providers.headstart]",
            'name = "Headstart"',
            f"base_url = {quoted(target.address)}",
            'wire_api = "responses"',
            f"http_headers = {{ Authorization = {quoted(f'Bearer {target.key}')} }}",
            "stream_idle_timeout_ms = 3600000",
        )
    )


def _opencode(target: Target) -> str:
    limit = {"context": target.context, "output": _output(target)}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Headstart",
        "options": {"baseURL": target.address, "apiKey": target.key},
        "models": {target.model: {"name": target.model, "limit": limit}},
    }
    model = f"headstart/{target.model}"
    return _json({"provider": {"headstart": provider}, "model": model, "small_model": model})


def _cline(target: Target) -> str:
    return f"cline auth -p openai -k {target.key} -m {target.model} -b {target.address}"


def _continue(target: Target) -> str:
    return "\n".join(
        (
            "name: Headstart",
            "version: 1.0.0",
            "schema: v1",
            "models:",
            f"  - name: {target.model}",
            "    provider: openai",
            f"    model: {target.model}",
            f"    apiBase: {target.address}",
            f"    apiKey: {target.key}",
            "    roles: [chat, edit, apply]",
            "    capabilities: [tool_use]",
            "    defaultCompletionOptions:",
            f"      contextLength: {target.context}",
        )
    )


def _zed(target: Target) -> str:
    model = {
        "name": target.model,
        "max_tokens": target.context,
        "capabilities": {"tools": True, "images": target.sees, "parallel_tool_calls": True},
    }
    server = {"api_url": target.address, "available_models": [model]}
    return _json({"language_models": {"openai_compatible": {"Headstart": server}}})


def _pi(target: Target) -> str:
    model = {
        "id": target.model,
        "name": target.model,
        "input": ["text", "image"] if target.sees else ["text"],
        "contextWindow": target.context,
        "maxTokens": _output(target),
    }
    provider = {
        "baseUrl": target.address,
        "api": "openai-completions",
        "apiKey": target.key,
        "models": [model],
    }
    return _json({"providers": {"headstart": provider}})


def _aider(target: Target) -> str:
    variables = {"OPENAI_API_BASE": target.address, "OPENAI_API_KEY": target.key}
    return _variables(target, variables, f"aider --model openai/{target.model}")


def _llm(target: Target) -> str:
    return "\n".join(
        (
            "- model_id: headstart",
            f"  model_name: {target.model}",
            f"  api_base: {target.address}",
            f"  headers: {{Authorization: Bearer {target.key}}}",
            "  supports_tools: true",
            "  supports_schema: true",
        )
    )


def _python(target: Target) -> str:
    return "\n".join(
        (
            "from openai import OpenAI",
            "",
            f'client = OpenAI(base_url="{target.address}", api_key="{target.key}")',
            "answer = client.chat.completions.create(",
            f'    model="{target.model}", messages=[{{"role": "user", "content": "Hello"}}]',
            ")",
            "print(answer.choices[0].message.content)",
        )
    )


SETUPS = (
    SetUp("claude-code", "Claude Code", "messages", "", _claude),
    SetUp("codex", "Codex", "responses", "~/.codex/config.toml", _codex),
    SetUp("opencode", "OpenCode", "chat", "~/.config/opencode/opencode.json", _opencode),
    SetUp("cline", "Cline", "chat", "", _cline),
    SetUp("continue", "Continue", "chat", "~/.continue/config.yaml", _continue),
    SetUp("zed", "Zed", "chat", "~/.config/zed/settings.json", _zed),
    SetUp("pi", "pi", "chat", "~/.pi/agent/models.json", _pi),
    SetUp("aider", "aider", "chat", "", _aider),
    SetUp("llm", "llm", "chat", "~/.config/io.datasette.llm/extra-openai-models.yaml", _llm),
    SetUp("python", "Python", "chat", "", _python),
)
