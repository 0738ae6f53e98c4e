"""Markdown that nobody writes, but damaged files and odd models do."""

from __future__ import annotations

import random

_PIECES = [
    "$",
    "$$",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "\n",
    "\n\n",
    "- ",
    "1. ",
    "> ",
    "| ",
    "[^1]",
    "[^1]: ",
    "\\frac{",
    "}",
    "{",
    "^",
    "_",
    "x",
    "\\begin{array}{c|c}",
    "\\end{array}",
    "&",
    "\\\\",
    "```\n",
    "[x] ",
    "word ",
    "#",
    "**",
    "`",
    "é",
    "日",
    "😀",
    "\\",
    "<b>",
    "\t",
    "    ",
]


def mutated(rng: random.Random, pieces: int) -> str:
    """So many pieces of Markdown, one after another."""
    return "".join(rng.choice(_PIECES) for _ in range(pieces))


def of_length(rng: random.Random, length: int) -> str:
    """Pieces of so many characters in all."""
    text = ""
    while len(text) < length:
        text += mutated(rng, 200)
    return text[:length]
