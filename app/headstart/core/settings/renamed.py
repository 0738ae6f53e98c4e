"""Stored settings whose names or values have changed since; files of older versions stay
valid."""

from __future__ import annotations

from typing import Any

NEW_NAMES = {
    "repeats": "prompt_lookup",
    "second_guesses": "tree_branches",
    "min_confidence": "min_probability",
    "read_ahead": "prefill_ahead",
    "patience": "timeout",
    "show_stats": "stats_shown",
}

# new names for a field's older values
NEW_VALUES: dict[str, dict[Any, str]] = {
    "flash_attention": {True: "auto", False: "off"},
    "show_stats": {True: "speed", False: "none"},
}


def with_new_names(values: Any) -> Any:
    """Plain JSON data with every outdated field name and value replaced, at any depth."""
    if isinstance(values, list):
        return [with_new_names(value) for value in values]
    if not isinstance(values, dict):
        return values
    return {NEW_NAMES.get(name, name): _new_value(name, value) for name, value in values.items()}


def _new_value(name: str, value: Any) -> Any:
    if isinstance(value, bool) and name in NEW_VALUES:
        return NEW_VALUES[name][value]
    return with_new_names(value)
