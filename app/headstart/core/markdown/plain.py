"""Words that are no Markdown, as HTML. Pure."""

from __future__ import annotations

import html


def plain_html(text: str) -> str:
    """Words as they were written: none of their signs is markup, and their lines stay."""
    return f'<p class="plain" dir="auto" style="white-space:pre-wrap">{html.escape(text)}</p>\n'
