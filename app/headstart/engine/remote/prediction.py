"""Predicts the reply to "change this text": the original text.

Some servers take it with the request (`prediction`) and write unchanged parts much faster; the user
names these servers, because some charge for wrong predictions. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.core.text.fences import fenced, without_fenced

# shorter texts are fast enough anyway, and longer instructions are not about editing
_SHORTEST, _LONGEST_WORDS = 200, 600
# words that ask for an edit of a text
_EDITS = re.compile(
    r"\b(?:correct|fix|edit|chang|renam|replac|refactor|rewrit|improv|proofread|typo|spelling|add"
    r"|remov|delet|updat|convert|reformat|adjust|modif|korrigier|[äa]nder|ersetz|erg[äa]nz|verbesser"
    r"|corrig|modifi|remplac|ajout|cambi|reemplaz|a[ñn]ad)\w*",
    re.IGNORECASE,
)


def edited_text(messages: Sequence[PromptMessage]) -> str:
    """The text that the last message asks to change, in it or in the reply before it; "" if it asks
    for something else."""
    if not messages or messages[-1].role is not Role.USER:
        return ""
    asked = messages[-1].text
    block = _longest_block(asked)
    words = without_fenced(asked)
    if len(block) < _SHORTEST:
        block, words = _pasted(asked)
    if len(words) > _LONGEST_WORDS or not _EDITS.search(words):
        return ""
    if len(block) >= _SHORTEST:
        return block
    before = messages[-2] if len(messages) > 1 else None
    if before is None or before.role is not Role.ASSISTANT:
        return ""
    return before.text if len(_longest_block(before.text)) >= _SHORTEST else ""


def _longest_block(text: str) -> str:
    return max((one.inside for one in fenced(text)), key=len, default="")


def _pasted(text: str) -> tuple[str, str]:
    """A long text below, or above, a paragraph of instructions; and that paragraph."""
    first, _, rest = text.partition("\n\n")
    if len(rest) >= 2 * _SHORTEST and len(first) <= _LONGEST_WORDS and _EDITS.search(first):
        return rest, first
    rest, _, last = text.rpartition("\n\n")
    if len(rest) >= 2 * _SHORTEST and len(last) <= _LONGEST_WORDS:
        return rest, last
    return "", text
