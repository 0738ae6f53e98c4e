"""Rules of Windows that can be held on any system: command lines, names, crashes, cores, times,
output."""

from __future__ import annotations

import ctypes
import datetime
import os
import struct
import subprocess
import sys

import pytest

from headstart.core.tool_servers.entry import windows_words
from headstart.engine.backends.cores import efficient
from headstart.engine.backends.trial.probe import crash_of
from headstart.engine.sandbox.rendering import portable_time
from headstart.exchange.names import file_name
from headstart.extraction.windows_job import Extended, limit_this_process, limits


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (r'--dir="C:\My Files"', [r"--dir=C:\My Files"]),
        (r'"C:\Program Files\node.exe" -y x', [r"C:\Program Files\node.exe", "-y", "x"]),
        (r"C:\a\b\ c", ["C:\\a\\b\\", "c"]),
        (r'"C:\a b\\" c', ["C:\\a b\\", "c"]),
        (r"a\\\"b c", ['a\\"b', "c"]),
        (r'a\\"b c"', ["a\\b c"]),
        ('"a""b"', ['a"b']),
        ("it's 'one'", ["it's", "'one'"]),
        ('"" x', ["", "x"]),
        ('a"b c"d', ["ab cd"]),
        ("  \t ", []),
        ("日本 \U0001f600", ["日本", "\U0001f600"]),
    ],
)
def test_a_typed_command_is_taken_as_windows_takes_it(typed: str, words: list[str]) -> None:
    assert windows_words(typed) == words
    # Python writes command lines by the same rules
    assert windows_words(subprocess.list2cmdline(words)) == words


def test_a_mark_without_an_end_is_told() -> None:
    with pytest.raises(ValueError, match="without an end"):
        windows_words('npx "a b')


@pytest.mark.parametrize(
    "title", ["con", "NUL", "com1", "com\u00b9", "LPT\u00b3.txt", "con .txt", "Aux."]
)
def test_reserved_names_are_no_names_of_files(title: str) -> None:
    assert file_name(title).startswith("chat ")


@pytest.mark.parametrize("title", ["console", "com10", "community", "lpt", "nullable"])
def test_names_that_begin_like_them_are(title: str) -> None:
    assert file_name(title) == title


@pytest.mark.parametrize(
    ("code", "windows", "said"),
    [
        (-11, False, "11"),
        (1, False, ""),
        (3, True, "3"),
        (3, False, ""),
        (3221225477, True, "0xC0000005"),
        (-1073741819, True, "0xC0000005"),
        (0xC0000409, True, "0xC0000409"),
        (1, True, ""),
        (0, True, ""),
    ],
)
def test_a_crash_is_called_one(code: int, windows: bool, said: str) -> None:
    assert crash_of(code, windows) == said


def _core(flags: int, efficiency: int, groups: int = 1) -> bytes:
    """An entry of Windows' list: a core with its class and masks of groups."""
    size = 32 + 16 * groups
    head = struct.pack("<IIBB", 0, size, flags, efficiency)
    return head + bytes(size - len(head))


def test_slow_cores_are_left_out() -> None:
    fast, slow = _core(1, 1), _core(0, 0)
    other = struct.pack("<II", 3, 48) + bytes(40)
    assert efficient(fast * 6 + slow * 8) == 6
    assert efficient(other + slow * 4) == 4
    assert efficient(b"") == 0
    # a list that cannot be read is no count
    assert efficient(fast + b"\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00") == 0


def test_times_of_templates_are_the_same_on_every_system() -> None:
    moment = datetime.datetime(2026, 3, 5, 0, 7, 9, tzinfo=datetime.UTC)
    wanted = {
        "%-d.%-m.%Y": "5.3.2026",
        "%#d": "5",
        "%e|%k|%l|%P": " 5| 0|12|am",
        "%-H:%-M": "0:7",
        "%s": "1772669229",
        "%d %b %Y": "05 Mar 2026",
        "100%%-d": "100%-d",
    }
    for form, text in wanted.items():
        assert portable_time(moment, form) == text
        if sys.platform == "linux" and "#" not in form:
            assert moment.astimezone(datetime.UTC).strftime(form) == text or "%s" in form


def test_redirected_output_is_utf8_whatever_the_code_page() -> None:
    code = (
        "import sys; from headstart.core.output import plain_output; plain_output();"
        "print('潮汐 \\U0001f30a caf\\udce9')"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=environment, check=True
    )
    assert done.stdout.decode("utf-8").strip() == "潮汐 \U0001f30a caf\\udce9"


def test_limits_of_a_reading_child_have_windows_own_layout() -> None:
    wanted = limits(3 << 30, 110)
    # as winnt.h has it for 64 bits
    assert ctypes.sizeof(wanted) == 144
    assert Extended.ProcessMemoryLimit.offset == 112
    assert bytes(wanted)[16:20] == (0x102).to_bytes(4, "little")
    assert wanted.BasicLimitInformation.PerProcessUserTimeLimit == 1_100_000_000
    assert wanted.ProcessMemoryLimit == 3 << 30


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has it")
def test_no_job_is_made_elsewhere() -> None:
    assert not limit_this_process(1, 1)
