"""Closing tags at the end of a block's HTML."""

from __future__ import annotations

import pytest

from headstart.ui.transcript.closing_tags import closing_tags


@pytest.mark.parametrize(
    ("html", "names", "ends"),
    [
        ("<p>words</p>", (), "</p>"),
        ("<ul><li>words</li>\n</ul>\n", (), "</li>\n</ul>\n"),
        ("<p>words </p>", (), "</p>"),
        ("<p>a <b>word</b></p>", (), "</b></p>"),
        ("<p>a <b>word</b></p>", ("p",), "</p>"),
        ("<p>a &gt; b</p>", (), "</p>"),
        ("words", (), ""),
        ("words</p", (), ""),
        ("</p> words", (), ""),
        ("a</>", (), ""),
        ("", (), ""),
        ("   ", (), ""),
        ("<p>" + "</p> " * 3, (), "</p> " * 3),
    ],
)
def test_the_closing_tags_at_the_end_are_found(
    html: str, names: tuple[str, ...], ends: str
) -> None:
    assert html[closing_tags(html, names) :] == ends
