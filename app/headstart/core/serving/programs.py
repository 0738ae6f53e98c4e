"""Names of programs by what they send. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

# a word in the header User-Agent or x-app, and the name; the first one found counts
_NAMES = (
    ("claude-cli", "Claude Code"),
    ("claude-code", "Claude Code"),
    ("codex", "Codex"),
    ("opencode", "OpenCode"),
    ("cline", "Cline"),
    ("roo-code", "Roo Code"),
    ("kilo", "Kilo Code"),
    ("continue", "Continue"),
    ("zed/", "Zed"),
    ("pi-coding-agent", "pi"),
    ("aider", "aider"),
    ("goose", "Goose"),
    ("crush", "Crush"),
    ("obsidian", "Obsidian"),
    ("open-webui", "Open WebUI"),
    ("jetbrains", "JetBrains"),
    ("litellm", "LiteLLM"),
    ("asyncopenai", "Python"),
    ("openai/python", "Python"),
    ("anthropic/python", "Python"),
    ("python-", "Python"),
    ("openai/js", "JavaScript"),
    ("anthropic/js", "JavaScript"),
    ("ai-sdk", "JavaScript"),
    ("curl", "curl"),
    ("mozilla", "a web page"),
)
_HEADERS = ("user-agent", "originator", "x-title", "http-referer", "origin", "x-app")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9 _-]{1,23}")
# headers by which programs name their sessions, and the agents in them
_SESSIONS = ("x-claude-code-session-id", "x-session-id", "session-id", "session_id")
_AGENTS = ("x-claude-code-agent-id", "x-agent-id")
# words at the beginning of the instructions of programs that use a library's headers
_SAYINGS = (
    ("continue cli", "Continue"),
    ("operating inside pi", "pi"),
    ("you are cline", "Cline"),
    ("cline", "Cline"),
    ("opencode", "OpenCode"),
    ("zed", "Zed"),
)
_LIBRARIES = {"js": "JavaScript", "python": "Python"}
# characters of the instructions that are looked at
_BEGINNING = 300
UNKNOWN = "another program"


def program_of(headers: Mapping[str, str], instructions: str = "") -> str:
    """The name of the program, by its headers or the first words of its instructions; the beginning
    of its User-Agent if nobody knows it."""
    said = " ".join(headers.get(name, "") for name in _HEADERS).casefold()
    known = next((name for word, name in _NAMES if word in said), "")
    if known not in ("", *_LIBRARIES.values()):
        return known
    beginning = instructions[:_BEGINNING].casefold()
    for words, name in _SAYINGS:
        if re.search(rf"\b{words}\b", beginning):
            return name
    library = _LIBRARIES.get(headers.get("x-stainless-lang", ""), "")
    if known or library:
        return known or library
    found = _WORD.match(headers.get("user-agent", ""))
    return found[0].strip() if found else UNKNOWN


def session_of(headers: Mapping[str, str]) -> tuple[str, str]:
    """The names of the session and of the agent within it, "" where headers have none."""

    def first(names: tuple[str, ...]) -> str:
        return next((headers[name] for name in names if headers.get(name)), "")

    return first(_SESSIONS), first(_AGENTS)
