"""Markdown blocks: streaming gives what parsing at once gives; nothing is fetched or hidden."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.ui.transcript.markdown import parse
from headstart.ui.transcript.streaming import StreamingMarkdown
from tests.support.plain import plain
from tests.ui.looks import REPLY

PIECES = st.sampled_from(
    [
        "a", "word ", "\n", "\n\n", "- item\n", "1. one\n", "2. two\n", "   more\n", "```python\n",
        "```\n", "x = 1\n", "# head\n", "> quote\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n",
        "**bold**", "`code`", "===\n", "---\n", "    indented\n", "<b>", "* ", "2", ". ", "~~~\n",
        "[x](http://y)", "\t", "*", "_", "\\", "&amp;", "- - -\n", "+ plus\n", "  - nested\n",
        "\r", "\r\n",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25))
@settings(max_examples=600, deadline=None)
def test_streamed_blocks_are_those_of_the_whole(pieces: list[str]) -> None:
    streamed = StreamingMarkdown()
    for piece in pieces:
        streamed.append(piece)
    streamed.finish()
    assert streamed.blocks == parse("".join(pieces))


def test_a_long_reply_in_single_characters_needs_no_correction_at_the_end() -> None:
    streamed = StreamingMarkdown()
    for character in REPLY:
        streamed.append(character)
    assert streamed.blocks == parse(REPLY)
    assert streamed.finish() == len(streamed.blocks)


def test_append_tells_the_first_block_that_changed() -> None:
    streamed = StreamingMarkdown("one\n\ntwo\n\nthree")
    assert streamed.append(" more") == 2
    assert [block.source for block in streamed.blocks] == ["one\n", "two\n", "three more"]


def test_html_is_text_and_images_are_links() -> None:
    (block,) = parse('<script>alert(1)</script> ![pic](http://tracker.example/x.png "t")')
    assert "<script>" not in block.html
    assert "&lt;script&gt;" in block.html
    assert "<img" not in block.html
    assert '<a href="http://tracker.example/x.png">[image: pic]</a>' in plain(block.html)


def test_file_names_are_no_links_and_addresses_are() -> None:
    (block,) = parse("see main.py, README.md and https://example.org/a")
    assert block.html.count("<a ") == 1
    assert 'href="https://example.org/a"' in block.html


def test_dangerous_links_are_no_links() -> None:
    (block,) = parse("[x](javascript:alert(1)) and [y](file:///etc/passwd)")
    assert 'href="javascript' not in block.html
    assert 'href="file' not in block.html


def test_code_keeps_every_character() -> None:
    code = 'int *p = &x;  // <b> & "q"\n\n\tif (a < b) {}'
    (block,) = parse(f"```c\n{code}\n```")
    assert (block.text, block.language) == (code, "c")
    (open_block,) = parse(f"```c\n{code}")
    assert open_block.text == code
