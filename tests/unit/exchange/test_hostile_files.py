"""Files that were changed by accident or on purpose: a report each, never a crash."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

from headstart.exchange import detect, own_format
from headstart.exchange import material as material_module
from headstart.exchange.material import ImportProblem
from headstart.exchange.writers.markdown import to_markdown
from tests.support import conversation_files as files
from tests.support.conversations import read_all, read_bytes
from tests.support.program_files import PROGRAMS

KINDS = [*files.FILES, "headstart", "markdown", *PROGRAMS]


def bytes_of(kind: str, folder: Path) -> bytes:
    if kind in files.FILES:
        return files.FILES[kind]()
    if kind in PROGRAMS:
        return PROGRAMS[kind][1]()
    (chat, *_), _ = read_bytes(files.FILES["chatgpt"](), folder)
    return own_format.to_json(chat) if kind == "headstart" else to_markdown(chat).encode()


@pytest.mark.parametrize("wrap", ["[%s]", "%s", '[{"a": 1}, %s]'])
def test_a_conversation_that_is_too_large_is_told_with_its_size(
    wrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "LARGEST_CONVERSATION", 1000)
    data = (wrap % ('{"title": "%s"}' % ("a" * 5000))).encode()
    found, report = read_bytes(data, tmp_path, "x.json")
    assert not found
    assert [line.why.code for line in report.lines] == ["import-chat-too-large"]
    assert int(report.lines[0].why.facts["size"]) >= 5000


@pytest.mark.proof
def test_a_string_of_a_gigabyte_is_told(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    with path.open("wb") as file:
        file.write(b'[{"title": "')
        for _ in range(1024):
            file.write(b"a" * (1 << 20))
        file.write(b'", "mapping": {}}]')
    found, report = read_all(path, tmp_path)
    assert not found
    assert [line.why.code for line in report.lines] == ["import-chat-too-large"]


_WORDS = [b"null", b"[]", b"{}", b"-1", b"1e400", b"\\ud800", b"\0", b'"', b"\xff" * 4]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One to four changes: cut, flipped, doubled, words of the format put elsewhere."""
    found = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(found) + 1)
        match rng.randrange(7):
            case 0:
                del found[at:]
            case 1:
                del found[at : at + rng.randrange(1, 60)]
            case 2 if at < len(found):
                found[at] = rng.randrange(256)
            case 3:
                found[at:at] = found[at : at + rng.randrange(1, 200)]
            case 4:
                found[at:at] = rng.choice(
                    [
                        b"null",
                        b"[]",
                        b"{}",
                        b"-1",
                        b"1e400",
                        b"\\ud800",
                        b"\0",
                        b'"',
                        b"\xff\xff\xff\xff",
                    ]
                )
            case 5:
                words = bytes(found).split(b'"')
                if len(words) > 4:
                    first, second = rng.randrange(len(words)), rng.randrange(len(words))
                    words[first], words[second] = words[second], words[first]
                    found = bytearray(b'"'.join(words))
            case 6:
                number = bytes(found).find(rng.choice(b"0123456789").to_bytes())
                if number >= 0:
                    found[number : number + 1] = rng.choice(
                        [b"null", b'"x"', b"99999999999999999999"]
                    )
        if not found:
            break
    return bytes(found)


@pytest.mark.parametrize("count", [100, pytest.param(5_000, marks=pytest.mark.proof)])
@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files(kind: str, count: int, tmp_path: Path) -> None:
    rng, data = random.Random(kind), bytes_of(kind, tmp_path)
    for number in range(count):
        changed = mutated(data, rng)
        found, report = read_bytes(changed, tmp_path, "file")
        # something comes in, or something is said
        assert found or report.counts, number
        for chat in found:
            known = {None} | {node.id for node in chat.nodes}
            assert all(node.parent in known for node in chat.nodes)
            assert chat.branch()
            # what came in can go out
            own_format.from_json(own_format.to_json(chat))


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return path


def test_a_zip_bomb_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(material_module, "_BOMB_SIZE", 1 << 20)
    bomb = b'[{"mapping": {}, "x": "' + b"a" * (50 << 20) + b'"}]'
    path = archive(
        tmp_path / "b.zip", {"conversations.json": bomb, "more.json": files.FILES["claude"]()}
    )
    found, report = read_all(path, tmp_path)
    assert [chat.source for chat in found] == ["claude"]
    assert report.counts["import-bomb"] == 1
    # nothing of it stays
    assert sum(file.stat().st_size for file in tmp_path.rglob("*")) < 5 << 20


def test_names_that_lead_out_of_an_archive_lead_nowhere(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    data = files.FILES["claude"]()
    path = archive(inside / "x.zip", {"../../evil.json": data, "/etc/evil.json": data})
    found, _ = read_all(path, inside)
    assert len(found) == 2
    assert sorted(file.name for file in tmp_path.rglob("*") if file.is_file()) == ["x.zip"]


def test_a_broken_zip_says_so(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"conversations.json": files.FILES["chatgpt"]()})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ImportProblem) as raised:
        read_all(path, tmp_path)
    assert "no whole zip" in raised.value.message


def test_text_of_two_or_four_bytes_a_character_comes_in(tmp_path: Path) -> None:
    text = files.FILES["chatgpt"]().decode()
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"):
        found, report = read_bytes(text.encode(encoding), tmp_path, "conversations.json")
        assert not report.counts, encoding
        assert len(found) == 1


def test_a_very_long_text_is_left_out(tmp_path: Path) -> None:
    chat = files.chatgpt()
    chat["mapping"]["a2"]["message"]["content"]["parts"] = ["x" * 17_000_000]
    found, report = read_bytes(files.dumps([chat]), tmp_path)
    assert report.counts == {"import-message-too-long": 1}
    assert len(found[0].branch()) == 3


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    for data in (b"[" * 100_000, b'{"mapping":' * 50_000):
        found, report = read_bytes(data, tmp_path, "x.json")
        assert not found
        assert report.counts == {"import-unreadable": 1}


def test_what_is_none_of_these_says_what_is_read(tmp_path: Path) -> None:
    for data in (b"hello", b'{"a": 1}', b"%PDF-1.4", bytes(100), b""):
        found, report = read_bytes(data, tmp_path, "thing")
        assert not found
        assert report.counts == {"import-not-known": 1}
        assert "ChatGPT" in report.lines[0].why.text
