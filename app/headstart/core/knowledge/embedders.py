"""Texts for embedding models: the words that each family expects before them. Pure.

The names are those in the models' files; their makers' model cards give the words.
"""

from __future__ import annotations

from msgspec import Struct

# a small one that the figures are measured with: 25 MB, English
SMALL = "all-MiniLM-L6-v2"
# tokens of a piece that most models compare best
_MOST = 512


class Recipe(Struct, frozen=True):
    """Words before a question and before a passage, and tokens after which a passage is cut."""

    question: str = ""
    passage: str = ""
    most: int = _MOST


_TASK = "Given a question, retrieve passages that answer it"
_RECIPES: tuple[tuple[str, Recipe], ...] = (
    ("minilm", Recipe(most=256)),
    ("e5-mistral", Recipe(f"Instruct: {_TASK}\nQuery: ")),
    ("e5", Recipe("query: ", "passage: ")),
    ("nomic", Recipe("search_query: ", "search_document: ")),
    ("embeddinggemma", Recipe("task: search result | query: ", "title: none | text: ")),
    ("qwen3", Recipe(f"Instruct: {_TASK}\nQuery:")),
    ("bge-m3", Recipe()),
    ("bge", Recipe("Represent this sentence for searching relevant passages: ")),
    ("mxbai", Recipe("Represent this sentence for searching relevant passages: ")),
    ("arctic", Recipe("Represent this sentence for searching relevant passages: ")),
)


def recipe_of(name: str) -> Recipe:
    """The recipe of a model by its name; the plain one for unknown families."""
    plain = "".join(one for one in name.lower() if one not in " _")
    return next((recipe for mark, recipe in _RECIPES if mark in plain), Recipe())


# Texts that are about nothing in particular: a question's cosines with them tell how near
# unrelated texts are for a model
UNRELATED = (
    "The committee will meet again on the second Tuesday of the month.",
    "Add two cups of flour and a pinch of salt, then stir.",
    "The river was low that summer, and the boats lay in the mud.",
    "Tickets are sold at the counter until half past nine.",
    "He wore a grey coat and carried an umbrella.",
    "Returns are accepted within thirty days of purchase.",
    "The third movement is slower and written for strings only.",
    "Rotate the valve clockwise until it stops.",
    "Several species of beetle live under the bark.",
    "Profits rose by four per cent in the last quarter.",
    "The goalkeeper saved a penalty shortly before the end.",
    "Her grandmother kept the letters in a tin box.",
    "The asteroid was discovered from an observatory in Chile.",
    "Please write your name in capital letters.",
    "A tenant may end the contract with three months' notice.",
    "The museum shows coins from the time of the emperors.",
)
