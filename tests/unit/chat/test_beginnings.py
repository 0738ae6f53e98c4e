"""Notes of what begins by itself: written before, in turns, and held at the next start."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from headstart.chat.beginnings import Beginnings
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import HeldChanged
from headstart.core.beginnings import Beginning, BegunKind
from headstart.core.settings.schema import Settings
from headstart.storage.adapters.beginnings_file import BeginningsFile

FOLDER = Beginning(BegunKind.FOLDER, "/notes", "notes")
MIRROR = Beginning(BegunKind.MIRROR, title="mirror")


@pytest.fixture
def notes(tmp_path: Path) -> BeginningsFile:
    return BeginningsFile(tmp_path / "beginnings.json")


async def test_what_is_beginning_is_on_the_disk_until_it_has_begun(notes: BeginningsFile) -> None:
    beginnings = Beginnings(notes)
    async with beginnings.noted(FOLDER):
        assert notes.last() == (FOLDER,)
        beginnings.at(BegunKind.FOLDER, "/notes", "a/b.md")
        assert [one.at for one in notes.last()] == ["a/b.md"]
    assert notes.last() == ()
    with pytest.raises(ValueError, match="odd"):
        async with beginnings.noted(FOLDER):
            raise ValueError("odd")
    assert notes.last() == ()


async def test_what_did_not_end_is_held_until_the_user_asks_for_it(notes: BeginningsFile) -> None:
    before = Beginnings(notes)
    await before.begin(FOLDER)
    before.at(BegunKind.FOLDER, "/notes", "a.md")
    # killed here
    told: list[HeldChanged] = []
    broadcast = Broadcast()
    broadcast.on(HeldChanged, told.append)
    beginnings = Beginnings(notes, broadcast)
    held = beginnings.why_held(BegunKind.FOLDER, "/notes")
    assert held is not None
    assert "reading a.md in it" in held.text
    assert beginnings.why_held(BegunKind.MIRROR) is None
    # others come and go beside it, and an end in order keeps it
    async with beginnings.noted(MIRROR):
        assert len(notes.last()) == 2
    await beginnings.close()
    assert [one.key for one in notes.last()] == [FOLDER.key]
    begun: list[str] = []
    beginnings.begins(BegunKind.FOLDER, begun.append)
    beginnings.begin_again(BegunKind.FOLDER, "/notes")
    assert begun == ["/notes"]
    assert beginnings.why_held(BegunKind.FOLDER, "/notes") is None
    assert len(told) == 1
    while notes.last():
        await asyncio.sleep(0.01)


async def test_a_name_that_is_no_text_is_noted(notes: BeginningsFile) -> None:
    before = Beginnings(notes)
    await before.begin(FOLDER)
    before.at(BegunKind.FOLDER, "/notes", "caf\udce9.txt")
    held = Beginnings(notes).why_held(BegunKind.FOLDER, "/notes")
    assert held is not None
    assert "reading caf\N{REPLACEMENT CHARACTER}.txt in it" in held.text


async def test_an_end_in_order_leaves_no_note(notes: BeginningsFile) -> None:
    beginnings = Beginnings(notes)
    await beginnings.begin(FOLDER)
    await beginnings.close()
    assert notes.last() == ()
    await asyncio.to_thread(beginnings.end, BegunKind.FOLDER, "/notes")
    assert notes.last() == ()


async def test_one_begins_after_the_other(notes: BeginningsFile) -> None:
    beginnings = Beginnings(notes)
    order: list[str] = []

    async def begin(one: Beginning) -> None:
        async with beginnings.noted(one):
            assert len(notes.last()) == 1
            order.append(one.name)
            await asyncio.sleep(0)

    names = [str(number) for number in range(5)]
    await asyncio.gather(*(begin(Beginning(BegunKind.FOLDER, name)) for name in names))
    assert sorted(order) == names


async def test_those_that_begin_a_second_time_do_not_wait_for_each_other(
    notes: BeginningsFile,
) -> None:
    beginnings = Beginnings(notes)
    for one in (FOLDER, MIRROR):
        async with beginnings.noted(one):
            pass
    async with beginnings.noted(FOLDER), beginnings.noted(MIRROR):
        assert len(notes.last()) == 2


@pytest.mark.parametrize("first", [FOLDER, MIRROR])
async def test_a_first_time_is_noted_alone(notes: BeginningsFile, first: Beginning) -> None:
    """Else a folder that is looked at again would be held for the server's hang."""
    beginnings = Beginnings(notes)
    async with beginnings.noted(MIRROR):
        pass
    second = FOLDER if first is MIRROR else MIRROR
    await beginnings.begin(first)
    waiting = asyncio.ensure_future(beginnings.begin(second))
    await asyncio.sleep(0.2)
    assert notes.last() == (first,)
    beginnings.end(*first.key)
    await waiting
    assert notes.last() == (second,)


async def test_nobody_waits_once_the_program_ends(notes: BeginningsFile) -> None:
    beginnings = Beginnings(notes)
    await beginnings.begin(FOLDER)
    beginnings.hurry()
    async with beginnings.noted(MIRROR):
        assert len(notes.last()) == 2


async def test_a_slow_one_does_not_hold_the_others_for_ever(notes: BeginningsFile) -> None:
    beginnings = Beginnings(notes)
    await beginnings.begin(FOLDER)
    await beginnings.begin(MIRROR, most=0.0)
    assert len(notes.last()) == 2


async def test_in_safe_mode_everything_is_held(notes: BeginningsFile) -> None:
    beginnings = Beginnings(notes)
    begun: list[str] = []
    beginnings.begins(BegunKind.FOLDER, begun.append)
    beginnings.hold_all()
    assert beginnings.why_held(BegunKind.SERVER) is not None
    beginnings.begin_again(BegunKind.FOLDER, "/notes")
    assert beginnings.why_held(BegunKind.FOLDER, "/notes") is None
    assert beginnings.why_held(BegunKind.SERVER) is not None
    beginnings.begin_all()
    assert beginnings.why_held(BegunKind.SERVER) is None
    assert begun == ["/notes", ""]


async def test_what_no_setting_names_is_forgotten(notes: BeginningsFile) -> None:
    notes.write((FOLDER, MIRROR, Beginning(BegunKind.SERVER)), wait=True)
    beginnings = Beginnings(notes, settings=Settings(mirror_folder="/mirror"))
    assert [one.kind for one in beginnings.held] == [BegunKind.MIRROR]


@pytest.mark.parametrize("data", [b"", b"{}", b'[{"kind": "rocket"}]', b"\xff\x00", b"[" * 5000])
def test_damaged_notes_hold_nothing(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "beginnings.json"
    path.write_bytes(data)
    assert BeginningsFile(path).last() == ()


async def test_a_home_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    beginnings = Beginnings(BeginningsFile(tmp_path / "missing" / "beginnings.json"))
    async with beginnings.noted(FOLDER):
        pass
