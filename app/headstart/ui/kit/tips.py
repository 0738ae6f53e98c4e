"""Tooltips with text from elsewhere: a file, a chat, a server. Pure.

Qt takes a tooltip that looks like HTML for HTML, and loads the images that it names.
"""

from __future__ import annotations

import html


def plain_tip(text: str) -> str:
    """The text as it is, also where it looks like HTML."""
    if "<" not in text:
        return text
    return f'<qt><span style="white-space: pre-wrap">{html.escape(text)}</span></qt>'
