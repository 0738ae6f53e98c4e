"""Text without Markdown, as HTML. Pure."""

from __future__ import annotations

import html


def plain_html(text: str) -> str:
    """HTML of a text as written: nothing in it is markup, and its line breaks stay."""
    return f'<p class="plain" dir="auto" style="white-space:pre-wrap">{html.escape(text)}</p>\n'
