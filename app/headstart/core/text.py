"""Numbers and names as people read them. Pure."""

from __future__ import annotations


def size_text(size: int) -> str:
    """Bytes in decimal units: 1 kB, 12 MB, 3.4 GB."""
    if size < 1_000_000:
        return f"{(size + 999) // 1000:,} kB"
    if size < 1_000_000_000:
        return f"{size / 1e6:,.0f} MB"
    return f"{size / 1e9:,.1f} GB"


def shortened(text: str, length: int) -> str:
    """At most so many characters, with an ellipsis for what is left out."""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"
