"""Halves of characters never reach what stores, shows or writes text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headstart.core.text.whole import WholeText, whole

CHARACTERS = st.one_of(st.characters(), st.sampled_from("\ud83d\ude00\ud800\udfff\udc00\udbff\0aé"))
TEXTS = st.lists(CHARACTERS, max_size=20).map("".join)


@given(TEXTS)
def test_it_can_be_encoded_and_keeps_what_was_whole(text: str) -> None:
    made = whole(text)
    made.encode("utf-8")
    assert "\0" not in made
    assert whole(made) == made
    kept = [one for one in text if not "\ud800" <= one <= "\udfff" and one != "\0"]
    rest = iter(made)
    assert all(one in rest for one in kept)


@given(st.lists(TEXTS, max_size=8))
def test_pieces_make_what_the_whole_makes(pieces: list[str]) -> None:
    stream = WholeText()
    made = [stream.push(piece) for piece in pieces]
    for piece in made:
        piece.encode("utf-8")
    assert "".join(made) + stream.rest() == whole("".join(pieces))


def test_a_pair_in_two_halves_is_one_character() -> None:
    stream = WholeText()
    assert stream.push("a\ud83d") == "a"
    assert stream.push("\ude00b") == "😀b"
    assert stream.push("\ud83d") + stream.push("c") == "\ufffdc"
