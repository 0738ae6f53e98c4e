"""Images as runs of negative ids, and where their tokens lie."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.engine import image_tokens
from headstart.engine.image_tokens import ImageLayout
from headstart.engine.prefix.keys import pack, unpack
from headstart.engine.prompt import common_prefix


def _run(name: str, tokens: int, positions: int) -> list[int]:
    return image_tokens.run(hashlib.sha256(name.encode()).digest(), tokens, positions)


# texts, and images of so many tokens in so many positions
PARTS = st.lists(
    st.one_of(
        st.integers(1, 6).map(lambda count: list(range(100, 100 + count))),
        st.builds(
            lambda name, tokens, share: _run(str(name), tokens, max(1, tokens // share)),
            st.integers(0, 3),
            st.integers(1, 30),
            st.integers(1, 6),
        ),
    ),
    max_size=8,
)


@given(PARTS, st.integers(1, 7))
def test_slices_are_texts_and_whole_images(parts: list[list[int]], most: int) -> None:
    tokens = [token for part in parts for token in part]
    slices = list(image_tokens.slices(tokens, most))
    assert [token for part in slices for token in part] == tokens
    for part in slices:
        if part[0] < 0:
            assert list(part) in parts
        else:
            assert min(part) >= 0
            assert len(part) <= most


@given(PARTS)
def test_places_and_counts_are_each_others_inverse(parts: list[list[int]]) -> None:
    tokens = [token for part in parts for token in part]
    layout = ImageLayout()
    layout.set(tokens)
    position, at = 0, 0
    for part in parts:
        assert layout.position(at) == position
        image = part[0] < 0
        positions = (-1 - part[1]) & image_tokens.MOST if image and len(part) > 1 else len(part)
        if image and positions != len(part):
            # within it, there is nothing yet; and all of it lies at its first position
            assert {layout.position(at + inside) for inside in range(len(part))} == {position}
            highest = position
        else:
            highest = position + positions - 1
        position, at = position + positions, at + len(part)
        assert layout.last_position(at) == highest
        assert layout.count(highest) == at
    assert layout.count(-1) == 0
    assert layout.position(at + 5) == position + 5


@given(PARTS, st.integers(0, 60))
def test_a_cut_leaves_whole_images(parts: list[list[int]], length: int) -> None:
    tokens = [token for part in parts for token in part]
    left = image_tokens.whole(tokens, min(length, len(tokens)))
    assert left <= length
    ends = {0}
    for part in parts:
        start = max(ends)
        ends |= {start + len(part)} if part[0] < 0 else set(range(start, start + len(part) + 1))
    assert left in ends
    one, other = ImageLayout(), ImageLayout()
    one.set(tokens)
    one.cut(left)
    other.set(tokens[:left])
    assert [one.position(at) for at in range(80)] == [other.position(at) for at in range(80)]


def test_another_image_differs_from_the_first_number_on() -> None:
    one, other = _run("a", 20, 20), _run("b", 20, 20)
    assert common_prefix(one, other) == 0
    assert _run("a", 20, 20) == one
    assert unpack(pack(one)) == one
    assert max(one) < 0
    assert common_prefix(_run("a", 20, 5), one) < 2


@pytest.mark.parametrize(
    ("tokens", "positions"), [(0, 1), (1, 0), (1, 2), (1 << 15, 1), (4, 1 << 15)]
)
def test_sizes_that_no_image_has_are_refused(tokens: int, positions: int) -> None:
    with pytest.raises(ValueError, match="an image of"):
        _run("a", tokens, positions)


def test_a_model_that_sees_nothing_reads_something_else_as_long() -> None:
    text = [5, *_run("a", 3, 3), 6]
    assert image_tokens.without(text, 9) == [5, 9, 9, 9, 6]
    assert image_tokens.without([5, 6], 9) == [5, 6]
