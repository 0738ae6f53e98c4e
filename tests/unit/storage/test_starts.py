"""Starts that do not get through are counted, and after two of them comes a careful one."""

from __future__ import annotations

from pathlib import Path

from headstart.storage.adapters.starts import StartsFile


def test_the_third_start_after_two_that_failed_is_a_careful_one(tmp_path: Path) -> None:
    careful = [StartsFile(tmp_path / "starts.json").begin() for _ in range(4)]
    assert careful == [False, False, True, True]


def test_a_start_that_gets_through_ends_the_count(tmp_path: Path) -> None:
    for _ in range(5):
        starts = StartsFile(tmp_path / "starts.json")
        assert not starts.begin()
        starts.succeeded()
    assert not (tmp_path / "starts.json").exists()


def test_a_damaged_file_counts_as_none(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    for content in (b"", b"\x00\xff", b'{"failed": "many"}', b"[]"):
        path.write_bytes(content)
        assert not StartsFile(path).begin()
        assert StartsFile(path).begin() is False


def test_a_folder_that_cannot_be_written_is_nobodys_trouble(tmp_path: Path) -> None:
    starts = StartsFile(tmp_path / "gone" / "starts.json")
    assert not starts.begin()
    starts.succeeded()
