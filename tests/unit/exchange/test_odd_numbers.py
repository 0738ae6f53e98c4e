"""Each number of our own file as one that nobody has: bounded where it is read, and told."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headstart.core.chats.parts import FilePart, ImagePart, UnknownPart
from headstart.exchange import own_format
from headstart.exchange.tree import ExchangeChat
from tests.support import odd_numbers
from tests.support.conversations import read_bytes
from tests.support.odd_numbers import ODD, WORDS, Place, assert_bounded

CHAT = odd_numbers.conversation()
PLACES = list(odd_numbers.places(CHAT))


def words(chat: ExchangeChat) -> set[str]:
    return {part.text for node in chat.nodes for part in node.parts if part.text in WORDS}


@pytest.mark.parametrize("count", [3, pytest.param(len(ODD), marks=pytest.mark.proof)])
@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_a_number_that_nobody_has_is_left_out_and_all_words_stay(
    place: Place, count: int, tmp_path: Path
) -> None:
    for odd in random.Random(str(place)).sample(ODD, count):
        (chat,), report = read_bytes(odd_numbers.written(CHAT, [place], odd), tmp_path, "a.json")
        assert words(chat) == set(WORDS), odd
        assert_bounded(chat)
        kinds = [type(part) for node in chat.nodes for part in node.parts]
        assert UnknownPart not in kinds, odd
        again = own_format.from_json(own_format.to_json(chat))
        assert words(again) == set(WORDS)
        assert set(report.counts) <= {"import-numbers"}


@pytest.mark.parametrize("odd", ["-1", "2147483648", "1e999", "NaN", '"7"', "true", "9" * 5_000])
def test_numbers_that_are_left_out_are_told(odd: str, tmp_path: Path) -> None:
    size = PLACES.index(("messages", 0, "parts", 1, "width"))
    _, report = read_bytes(odd_numbers.written(CHAT, [PLACES[size]], odd), tmp_path, "a.json")
    assert report.counts["import-numbers"] == 1
    (line,) = report.lines
    assert (line.where, line.why.message) == ("Chat 0", "1 number is impossible, and left out.")


def test_a_picture_has_the_size_that_its_bytes_have(tmp_path: Path) -> None:
    wide: Place = ("messages", 0, "parts", 1, "width")
    (chat,), report = read_bytes(odd_numbers.written(CHAT, [wide], "4000"), tmp_path, "a.json")
    (picture,) = (part for part in chat.nodes[0].parts if isinstance(part, ImagePart))
    assert (picture.width, picture.height) == (3, 2)
    assert not report.counts


@pytest.mark.parametrize("chosen", ["1-999999999", "9–12", "all", "1–4," * 200_000])
def test_a_choice_of_pages_that_the_file_does_not_have_is_none(chosen: str) -> None:
    value: dict[str, Any] = odd_numbers.conversation()
    part = value["messages"][0]["parts"][2]
    part["chosen"] = chosen
    read = own_format.from_json(msgspec.json.encode(value)).nodes[0].parts[2]
    assert isinstance(read, FilePart)
    # up to the file's end is what people type
    assert read.chosen in ("", "1-999999999")
    assert read.pages == 4


def test_a_chat_without_an_id_is_read(tmp_path: Path) -> None:
    data = odd_numbers.written(CHAT, [("id",)], "NaN")
    (chat,), report = read_bytes(data, tmp_path, "a.json")
    (again,), _ = read_bytes(data, tmp_path, "a.json")
    assert chat.id == again.id != ""
    assert not report.counts
