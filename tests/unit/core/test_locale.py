"""Numbers, plural forms and lists, and that prompts do not follow the language."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

import pytest

from headstart.core.chats.parts import BlobRef, FilePart
from headstart.core.chats.prompt_words import label, prompt_text
from headstart.core.text.locale import PLAIN, PlainEnglish, use_locale
from headstart.core.text.plurals import plural_form, plural_forms
from headstart.core.text.shown import size_text
from headstart.core.wording import age_text, time_text, worded

FILE = FilePart("notes.pdf", BlobRef("0" * 64, 3_400_000_000, "application/pdf"), text="Words.")


class Russian(PlainEnglish):
    language = "ru"

    def number(self, value: float, digits: int = 0) -> str:
        return super().number(value, digits).replace(",", "\u00a0").replace(".", ",")

    def listed(self, items: Sequence[str]) -> str:
        return " и ".join(items)


@pytest.fixture
def russian() -> Iterator[None]:
    use_locale(Russian())
    yield
    use_locale(PLAIN)


# the samples of CLDR, by language and form
SAMPLES: dict[str, dict[str, tuple[int, ...]]] = {
    "en": {"one": (1,), "other": (0, 2, 10, 101, 1_000_000)},
    "de": {"one": (1,), "other": (0, 2, 1_000_000)},
    "zh": {"other": (0, 1, 2, 1_000_000)},
    "ja": {"other": (0, 1, 100)},
    "fr": {"one": (0, 1), "many": (1_000_000,), "other": (2, 17, 1_000)},
    "pt": {"one": (0, 1), "many": (1_000_000,), "other": (2, 100)},
    "es": {"one": (1,), "many": (1_000_000, 2_000_000), "other": (0, 2, 1_000)},
    "it": {"one": (1,), "many": (1_000_000,), "other": (0, 2)},
    "hi": {"one": (0, 1), "other": (2, 1_000)},
    "ru": {
        "one": (1, 21, 101, 1001),
        "few": (2, 3, 4, 22, 24, 102, 1002),
        "many": (0, 5, 11, 12, 14, 19, 100, 111, 1_000_000),
    },
    "uk": {"one": (1, 21), "few": (2, 23), "many": (0, 11, 14, 25)},
    "pl": {"one": (1,), "few": (2, 4, 22, 104), "many": (0, 5, 12, 14, 21, 112, 1_000_000)},
    "cs": {"one": (1,), "few": (2, 3, 4), "other": (0, 5, 22)},
    "he": {"one": (1,), "two": (2,), "other": (0, 3, 10, 100)},
    "ar": {
        "zero": (0,),
        "one": (1,),
        "two": (2,),
        "few": (3, 10, 103, 110, 1003),
        "many": (11, 26, 99, 111, 1011),
        "other": (100, 101, 102, 200, 1_000, 1_000_000),
    },
    "fa": {"one": (0, 1), "other": (2, 10)},
    "tr": {"one": (1,), "other": (0, 2)},
    "vi": {"other": (0, 1, 2)},
}


@pytest.mark.parametrize("language", SAMPLES)
def test_a_number_has_the_form_that_its_language_gives_it(language: str) -> None:
    for form, counts in SAMPLES[language].items():
        for count in counts:
            assert plural_form(language, count) == form, (language, count)
    forms = set(plural_forms(language))
    assert set(SAMPLES[language]) <= forms


def test_sentences_choose_their_forms_and_write_numbers_by_the_locale(russian: None) -> None:
    moves = "{count:plural one=# ход|few=# хода|many=# ходов|other=# хода}"
    assert [worded(moves, {"count": count}) for count in (1, 3, 11, 1_201)] == [
        "1 ход", "3 хода", "11 ходов", "1\u00a0201 ход",
    ]  # fmt: skip
    assert worded("{used:,} / {share:.1%} / {speed:,.1f}", {
        "used": 1_234_567, "share": 0.256, "speed": 12.34,
    }) == "1\u00a0234\u00a0567 / 25.6% / 12,3"  # fmt: skip
    assert worded("{names:list}", {"names": ["a", "b"]}) == "a и b"
    assert worded("{size:size}", {"size": 3_400_000_000}) == "3,4 GB"


def test_a_form_that_a_sentence_lacks_is_the_other_one() -> None:
    assert worded("{who:select user=You|other=The model}", {"who": "system"}) == "The model"
    assert worded("{count:plural one=# day|other=# days}", {"count": 2}) == "2 days"


def test_words_without_facts_are_as_they_are_written() -> None:
    assert worded("{{date}} is filled in", {}) == "{date} is filled in"
    assert worded("100 %", {"unused": 1}) == "100 %"


def test_prompts_and_files_are_the_same_in_every_language(russian: None) -> None:
    assert size_text(FILE.blob.size) == "3,4 GB"
    assert label(FILE) == "File notes.pdf (3.4 GB)"
    assert "(3.4 GB)" in prompt_text([FILE])


def test_plain_english_writes_lists_clocks_and_days() -> None:
    assert [PLAIN.listed(items) for items in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "", "a", "a and b", "a, b and c",
    ]  # fmt: skip
    assert PLAIN.clock(dt.time(7, 5)) == "07:05"
    day = dt.date(2025, 10, 16)
    assert [PLAIN.day(day, False), PLAIN.day(day, True), PLAIN.month(day)] == [
        "16 October", "16 October 2025", "October 2025",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "span", "age"),
    [
        (0, "1 s", "today"),
        (89, "89 s", "today"),
        (600, "10 min", "today"),
        (3_900 + 5_400, "2 h 35", "today"),
        (86_400, "24 h 00", "1 day ago"),
        (8 * 86_400, "8 days", "1 week ago"),
        (70 * 86_400, "70 days", "2 months ago"),
        (800 * 86_400, "800 days", "2 years ago"),
    ],
)
def test_durations_and_ages_are_said_in_words(seconds: float, span: str, age: str) -> None:
    assert (time_text(seconds), age_text(seconds)) == (span, age)
