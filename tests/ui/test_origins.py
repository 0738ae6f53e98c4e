"""The tint: origins of Markdown characters laid over what is rendered."""

from __future__ import annotations

from headstart.core.chats.parts import Origin, OriginRun
from headstart.core.text.units import spans_in_units
from headstart.ui.transcript.origins import tinted_ranges

T, D, R = Origin.TARGET, Origin.DRAFT, Origin.LOOKUP


def runs(*pairs: tuple[str, Origin]) -> tuple[str, tuple[OriginRun, ...]]:
    return "".join(text for text, _ in pairs), tuple(OriginRun(len(t), o) for t, o in pairs)


def words(shown: str, source: str, origins: tuple[OriginRun, ...], start: int = 0) -> list[str]:
    return [
        f"{origin.value}:{shown[begin:end]}"
        for begin, end, origin in tinted_ranges(shown, source, start, origins)
    ]


def test_markup_is_stepped_over() -> None:
    source, origins = runs(("A **bold", D), (" word** and", T), (" `code` here", R))
    assert words("A bold word and code here", source, origins) == [
        "draft:A bold",
        "repeat:code here",
    ]


def test_a_links_address_is_not_shown_and_not_counted() -> None:
    source, origins = runs(
        ("see [", T), ("the page", D), ("](https://example.org/the/page) now", T)
    )
    assert words("see the page now", source, origins) == ["draft:the page"]


def test_lines_end_the_tint_and_indentation_has_none() -> None:
    source, origins = runs(("def f():\n    return 1\n", D), ("x = 2", T))
    assert words("def f():\n    return 1\nx = 2", source, origins) == [
        "draft:def f():",
        "draft:return 1",
    ]


def test_a_block_takes_its_part_of_the_messages_origins() -> None:
    _, origins = runs(("first paragraph\n\n", T), ("sec", D), ("ond", R))
    assert words("second", "second", origins, start=17) == ["draft:sec", "repeat:ond"]


def test_text_of_the_target_alone_has_no_ranges() -> None:
    source, origins = runs(("nothing guessed", T))
    assert tinted_ranges(source, source, 0, origins) == []


def test_characters_that_qt_counts_twice_move_what_follows() -> None:
    assert spans_in_units("a😀b", [(0, 1, D), (2, 3, R)]) == [(0, 1, D), (3, 4, R)]
