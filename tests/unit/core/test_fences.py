"""Fenced blocks, found in one walk through the lines."""

from __future__ import annotations

import pytest

from headstart.core.text.fences import fenced, without_fenced


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("```\na\n```", ["a\n"]),
        ("one\n```py\na\nb\n```\ntwo\n~~~\nc\n~~~ \n", ["a\nb\n", "c\n"]),
        ("````\n```\na\n```\n````", ["```\na\n```\n"]),
        ("```\na\n`````", ["a\n"]),
        ("   ```\na\n ```\nb", ["a\n"]),
        ("    ```\na\n    ```", []),
        ("```a``` in a line\n```\nb\n```", ["b\n"]),
        ("```\na\n~~~\nb\n```", ["a\n~~~\nb\n"]),
        ("```\nnever closed\n\n~~~\na\n~~~", []),
        ("```\n```", [""]),
        ("```\r\na\r\n```\r\n", ["a\r\n"]),
        ("``\na\n``", []),
        ("", []),
    ],
)
def test_blocks_are_those_of_commonmark(text: str, wanted: list[str]) -> None:
    found = list(fenced(text))
    assert [one.inside for one in found] == wanted
    assert all(text[one.start : one.end].strip("`~ \r") for one in found if one.inside.strip())


def test_blocks_are_replaced() -> None:
    assert without_fenced("one\n```\na\n```\ntwo", "[code]") == "one\n[code]\ntwo"
    assert without_fenced("one") == "one"
