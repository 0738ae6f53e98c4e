"""Files in, their text out: formats, encodings, and what cannot be read."""

from __future__ import annotations

import os
import random
import subprocess
import threading
import zipfile
from io import BytesIO

import pytest
from PySide6.QtGui import QGuiApplication

from headstart.core.chats.attachments import LARGEST, Extracted, Unit
from headstart.core.errors import EnvironmentProblem
from headstart.extraction import child, process
from headstart.extraction.kinds import DOCX_TYPE
from headstart.extraction.process import Reading, ReadingCancelled
from tests.support.documents import docx, pdf

pytestmark = pytest.mark.usefixtures("qapp")


def read(data: bytes, name: str) -> Extracted:
    return Reading().read(data, name, lambda _fraction: None)


def refused(data: bytes, name: str) -> str:
    with pytest.raises(EnvironmentProblem) as caught:
        read(data, name)
    assert name in str(caught.value)
    return caught.value.told.code


def test_a_pdf_has_its_pages_and_tells_how_far_it_is(qapp: QGuiApplication) -> None:
    told: list[float] = []
    data = pdf(["The first page\nin two lines", "The second page"], picture=True)
    found = Reading().read(data, "paper.pdf", told.append)
    assert found.media_type == "application/pdf"
    assert found.unit is Unit.PAGE
    assert [page.strip() for page in found.pages] == [
        "The first page\nin two lines",
        "The second page",
        "",
    ]
    assert told == [1 / 3, 2 / 3, 1.0]


def test_a_word_file_keeps_headings_lists_and_tables() -> None:
    found = read(docx(["One & two."], "The lease", [["Year", "Rate"], ["1", "0.8 %"]]), "a.docx")
    assert found.media_type == DOCX_TYPE
    assert found.text.startswith("# The lease\n\nOne & two.")
    assert "| 1 | 0.8 % |" in found.text


def test_a_page_of_the_web_says_what_it_says_and_does_nothing() -> None:
    page = (
        b"<html><head><title>Rivers</title><style>p {}</style></head><body><script>no()</script>"
        b"<p>The <b>Nile</b><img src='http://x.example/a.png' alt='a map'></p><ul><li>one<li>two"
        b"</ul><table><tr><th>a<th>b<tr><td>1<td>2</table></body></html>"
    )
    found = read(page, "rivers.html")
    assert found.text == (
        "# Rivers\n\nThe **Nile**a map\n\n- one\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
    )


GERMAN = "Grüße aus Köln: schöne Straßen, größere Mühe, überall müssen wir danken. " * 3
JAPANESE = "これは日本語のテキストです。東京は大きな都市です。" * 3


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-32"),
        (GERMAN, "cp1252"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        ("Реки текут в моря, и моря не переполняются никогда. " * 3, "cp1251"),
    ],
)
def test_text_of_any_encoding(text: str, encoding: str) -> None:
    assert read(text.encode(encoding), "notes.txt").text == text


def test_lines_end_in_one_way() -> None:
    assert read(b"a\r\nb\rc\n", "notes.txt").text == "a\nb\nc\n"


def _zip(*names: str) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return data.getvalue()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "attachment-empty"),
        (b"  \n", "attachment-empty"),
        (bytes(range(256)) * 50, "attachment-no-text"),
        (random.Random(5).randbytes(20_000), "attachment-no-text"),
        (b"%PDF-1.7\nnothing of one", "attachment-damaged"),
        (b"PK\x03\x04 and no more", "attachment-damaged"),
        (_zip("a.txt"), "attachment-archive"),
        (_zip("xl/workbook.xml"), "attachment-spreadsheet"),
        (_zip("ppt/presentation.xml"), "attachment-slides"),
        (_zip("META-INF/manifest.xml"), "attachment-open-document"),
        (_zip("META-INF/container.xml"), "attachment-book"),
        (_zip("word/document.xml"), "attachment-damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "attachment-old-office"),
        (b"GGUF" + bytes(99), "attachment-model"),
        (b"<div>" * 60_000, "attachment-damaged"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, code: str) -> None:
    name = "page.html" if data.startswith(b"<div>") else "some.file"
    assert refused(data, name) == code


def test_a_word_file_that_unpacks_to_far_too_much_is_refused() -> None:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(300 << 20))
    assert refused(data.getvalue(), "bomb.docx") == "attachment-too-large"


def test_a_file_that_is_too_large_is_not_even_looked_at() -> None:
    assert refused(bytes(LARGEST + 1), "large.txt") == "attachment-too-large"


def test_a_protected_pdf_says_so() -> None:
    # what PDFium needs to ask for a password: an encryption dictionary that it knows
    data = pdf(["A secret"])
    at = data.rindex(b"trailer")
    entry = (
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <" + b"41" * 32
        + b"> /U <" + b"42" * 32 + b"> >> /ID [<00> <00>] "
    )  # fmt: skip
    start = data.index(b"<<", at) + 2
    assert refused(data[:start] + entry + data[start:], "a.pdf") == "attachment-encrypted"


def test_reading_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading()
    threading.Timer(0.05, reading.cancel).start()
    with pytest.raises(ReadingCancelled):
        reading.read(b"<p>" * 4_000_000, "long.html", lambda _fraction: None)


def test_what_takes_too_long_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_LONGEST", 0.1)
    assert refused(b"<p>" * 4_000_000, "long.html") == "attachment-slow"


@pytest.mark.skipif(os.name == "nt", reason="there are no such limits")
def test_the_child_writes_no_file_and_takes_limited_memory() -> None:
    script = (
        "import pathlib, sys\n"
        "from headstart.extraction import child\n"
        "child.limit()\n"
        "try:\n    bytearray(4 << 30)\nexcept MemoryError:\n    print('memory')\n"
        "try:\n    pathlib.Path(sys.argv[1]).write_bytes(b'x' * 10)\n"
        "except OSError:\n    print('file')\n"
    )
    import sys
    import tempfile
    from pathlib import Path

    assert child.OPTION == "--read-file"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", script, str(Path(folder) / "x")],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout.split() == ["memory", "file"]


def _mutated(data: bytes, seed: int) -> bytes:
    """Bytes flipped, cut out, doubled, or the end gone."""
    random_ = random.Random(seed)
    changed = bytearray(data)
    for _ in range(random_.randint(1, 12)):
        at, length = random_.randrange(len(changed)), random_.randint(1, 40)
        match random_.randrange(4):
            case 0:
                changed[at] = random_.randrange(256)
            case 1:
                del changed[at : at + length]
            case 2:
                changed[at:at] = changed[at : at + length]
            case _:
                changed[at : at + length] = random_.randbytes(length)
        if not changed:
            return b"x"
    return bytes(changed[: random_.randrange(1, len(changed) + 1)] if seed % 7 == 0 else changed)


def _try(kind: str, data: bytes, seed: int) -> None:
    problem: EnvironmentProblem | None = None
    try:
        assert read(_mutated(data, seed), f"a.{kind}").pages
    except EnvironmentProblem as told:
        problem = told
    if problem is not None:
        assert problem.message
        assert problem.told.code.startswith("attachment-")


@pytest.mark.parametrize("kind", ["pdf", "docx"])
@pytest.mark.logs("a file could not be read")
def test_damaged_files_get_a_sentence_each(kind: str) -> None:
    data = _sample(kind)
    for seed in range(12):
        _try(kind, data, seed)


@pytest.mark.proof
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["pdf", "docx"])
@pytest.mark.logs("a file could not be read")
def test_500_damaged_files_get_a_sentence_each(kind: str) -> None:
    data = _sample(kind)
    for seed in range(500):
        _try(kind, data, seed)


def _sample(kind: str) -> bytes:
    if kind == "pdf":
        return pdf([f"Page {number}\nwith words" for number in range(3)], picture=True)
    return docx(["A paragraph."] * 20, "Heading", [["a", "b"], ["1", "2"]])
