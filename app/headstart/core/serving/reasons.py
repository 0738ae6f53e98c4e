"""Reasons for processing a program's tokens again, without its words. Pure."""

from __future__ import annotations

from headstart.core.told import Told, told

# reasons that quote a message, and the same without the quotation
_QUOTING = {
    "message-changed": "message-changed-unquoted",
    "clock-in-message": "clock-in-message-unquoted",
    "template-in-message": "template-in-message-unquoted",
}


def without_words(reason: Told | None) -> Told | None:
    """The reason as a list may show it."""
    if reason is None or reason.code not in _QUOTING:
        return reason
    return told(_QUOTING[reason.code], number=reason.facts.get("number", 0))
