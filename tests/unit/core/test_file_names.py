"""Names of files that are no UTF-8 are read in the encoding that they look like."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.text.file_names import readable, use_detection
from headstart.core.text.locale import locale, use_locale
from headstart.core.text.whole import is_text
from headstart.core.told import told
from headstart.extraction.texts import text_of_name

NAMES = [
    ("café.txt", "cp1252"),
    ("naïve résumé.docx", "cp1252"),
    ("Übersicht Größe.pdf", "cp1252"),
    ("ÜBERSICHT.TXT", "cp1252"),
    ("señor año.txt", "cp1252"),
    ("à.txt", "cp1252"),
    ("smørbrød – d’été.txt", "cp1252"),
    ("Ødegård.txt", "latin-1"),
    ("Привет мир.txt", "cp1251"),
    ("отчёт 2024.doc", "cp1251"),
    ("отчет.doc", "koi8_r"),
    ("テスト.txt", "cp932"),
    ("会議の資料.pdf", "cp932"),
    ("会議の資料.pdf", "euc_jp"),
    ("보고서.hwp", "cp949"),
    ("报告 2024.doc", "gb18030"),
    ("会议纪要.docx", "gb18030"),
    ("報告.doc", "big5hkscs"),
    ("Ελληνικά.txt", "cp1253"),
    ("שלום.txt", "cp1255"),
    ("تقرير.txt", "cp1256"),
]


@pytest.fixture(autouse=True)
def detection() -> Iterator[None]:
    before = use_detection(text_of_name)
    yield
    use_detection(before)


@pytest.mark.parametrize(("name", "codec"), NAMES)
def test_it_is_the_name_that_was_given(name: str, codec: str) -> None:
    found = name.encode(codec).decode("utf-8", "surrogateescape")
    assert not is_text(found)
    assert readable(found) == name
    # in sentences too
    assert name in told("attachment-empty", name=found).text


@pytest.mark.parametrize(
    ("language", "name", "codec"), [("pl", "zażółć.txt", "cp1250"), ("tr", "Ağaç.txt", "cp1254")]
)
def test_the_windows_language_decides_among_latin_ones(
    language: str, name: str, codec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = locale()

    class Other:
        def __getattr__(self, asked: str) -> object:
            return language if asked == "language" else getattr(here, asked)

    use_locale(Other())  # type: ignore[arg-type]
    # another language reads the names again
    use_detection(text_of_name)
    try:
        assert readable(name.encode(codec).decode("utf-8", "surrogateescape")) == name
    finally:
        use_locale(here)


@given(st.text(st.characters(codec=None)))
def test_any_name_is_text(name: str) -> None:
    assert is_text(readable(name))
    if is_text(name):
        assert readable(name) == name.replace("\0", "\N{REPLACEMENT CHARACTER}")


@given(st.binary(min_size=1, max_size=40))
def test_any_bytes_are_text(data: bytes) -> None:
    assert is_text(readable(data.decode("utf-8", "surrogateescape")))
