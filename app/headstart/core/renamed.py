"""Fields of stored settings that have another name by now; files of older versions stay good."""

from __future__ import annotations

from typing import Any

NEW_NAMES = {
    "repeats": "prompt_lookup",
    "second_guesses": "tree_branches",
    "min_confidence": "min_probability",
    "read_ahead": "prefill_ahead",
    "patience": "timeout",
}


def with_new_names(values: Any) -> Any:
    """Plain JSON data with every older name of a field replaced, at any depth."""
    if isinstance(values, list):
        return [with_new_names(value) for value in values]
    if not isinstance(values, dict):
        return values
    return {NEW_NAMES.get(name, name): with_new_names(value) for name, value in values.items()}
