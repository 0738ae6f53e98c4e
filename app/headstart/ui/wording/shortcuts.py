"""Texts of the page of shortcuts."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "usual-keys": "Back to the usual keys",
    "usual-keys-of": "{title}: back to the usual keys",
    "all-keys-as-usual": "All keys as usual",
    "use-keys-here": "Use them here",
    "keys-taken": "{keys} belongs to “{title}”.",
    "keys-have-a-place": "{keys} is needed for “{title}”.",
    "keys-of-fields": "{keys} is needed in fields of text.",
    "keys-type-text": (
        "{keys} types text: hold {pressed:Ctrl} or {other} as well, or use a function key."
    ),
    "keys-with-alt-gr": "{keys} types a character on many keyboards: Ctrl with Alt is AltGr.",
}
