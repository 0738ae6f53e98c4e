"""An answer's format as a grammar."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from headstart.core.answer_format import parsed_format
from headstart.core.errors import EnvironmentProblem
from headstart.core.schema_bounds import GrammarCosts
from headstart.core.text.shown import shortened
from headstart.engine.constraints.grammar import GrammarError, TokenGrammar, Tokenizers

# white space that a model may write between its reasoning and the answer
_AFTER_REASONING = "start: GAP? answer\nGAP: /[ \\t\\r\\n]{1,8}/\nanswer: %json "
# unsure models write blanks forever where the grammar allows any number; and an answer that fits
# one of several exclusive alternatives is good enough
_OPTIONS = {"whitespace_pattern": "[ \\t\\r\\n]{1,40}", "coerce_one_of": True}


def check_schema(schema: str) -> None:
    """Raises EnvironmentProblem if a JSON Schema has no grammar; any thread."""
    from llguidance import LLMatcher

    failed, said = LLMatcher.validate_grammar_with_warnings(_grammar(schema, gap=False))
    if failed:
        raise EnvironmentProblem("format-not-possible", reason=_brief(said))


def fits(schema: str, answer: str) -> bool:
    """True if a text is a complete answer in this format; expects a checked schema."""
    from llguidance import LLMatcher, LLTokenizer

    matcher = LLMatcher(LLTokenizer("byte"), _grammar(schema, gap=False), log_level=0)
    data = list(answer.encode("utf-8"))
    return bool(matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting())


def answer_format(tokenizers: Tokenizers, schema: str, gap: bool) -> TokenGrammar:
    """The parse state of an answer in this format. `gap`: white space may stand before it. Raises
    EnvironmentProblem."""
    try:
        return TokenGrammar(tokenizers.get(), _grammar(schema, gap), tokenizers.ends)
    except GrammarError as error:
        raise EnvironmentProblem("format-not-possible", reason=_brief([str(error)])) from error


def _grammar(schema: str, gap: bool) -> str:
    """The grammar of a JSON Schema; raises EnvironmentProblem."""
    from llguidance import LLMatcher

    parsed = parsed_format(schema)
    if excess := GrammarCosts().excess(parsed):
        raise EnvironmentProblem("format-not-possible", reason=excess)
    text = json.dumps({**parsed, "x-guidance": {**_OPTIONS, **_own_options(parsed)}})
    if gap:
        return str(LLMatcher.grammar_from_lark(_AFTER_REASONING + text))
    return str(LLMatcher.grammar_from_json_schema(text))


def _own_options(schema: dict[str, Any]) -> dict[str, Any]:
    own = schema.get("x-guidance")
    return own if isinstance(own, dict) else {}


def _brief(said: Sequence[str]) -> str:
    """The first line of llguidance's messages."""
    first = next((line.strip() for text in said for line in text.splitlines() if line.strip()), "")
    return shortened(first, 200)
