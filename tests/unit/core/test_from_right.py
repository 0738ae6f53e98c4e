"""Sentences in a window that is read from right to left: names and amounts keep their own order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headstart.core.text.locale import PLAIN, PlainEnglish, use_locale
from headstart.core.text.shown import in_window_order, isolated
from headstart.core.wording import worded


class _Arabic(PlainEnglish):
    language = "ar"


@pytest.fixture
def arabic() -> Iterator[None]:
    use_locale(_Arabic())
    yield
    use_locale(PLAIN)


@pytest.mark.usefixtures("arabic")
@pytest.mark.parametrize(
    ("sentence", "facts", "shown"),
    [
        ("فُتح {name}", {"name": "Qwen3 (8B)"}, "فُتح \u2068Qwen3 (8B)\u2069"),
        ("فُتح {name}", {"name": "ملف"}, "فُتح ملف"),
        ("{speed:.0f} tok/s", {"speed": 31}, "\u206631 tok/s\u2069"),
        ("نحو {size:size}", {"size": 3_400_000_000}, "نحو \u20663.4 GB\u2069"),
        ("Ctrl مع +", {}, "\u200fCtrl مع +"),
        ("Qwen3-8B", {}, "Qwen3-8B"),
        ("مع --home", {}, "مع \u2066--home\u2069"),
        ("ينتهي بـ .gitignore", {}, "ينتهي بـ \u2066.gitignore\u2069"),
        ("من https://a.b/c/d", {}, "من https://a.b/c/d"),
        ("من -5 إلى 5", {}, "من \u2066-5\u2069 إلى 5"),
        ("صورة 640 × 480", {}, "صورة \u2066640 × 480\u2069"),
        ("{names:list}", {"names": ["a.txt", "ب"]}, "\u200f\u2068a.txt\u2069 and ب"),
    ],
)
def test_names_and_amounts_keep_their_order(
    sentence: str, facts: dict[str, object], shown: str
) -> None:
    assert worded(sentence, facts) == shown


@pytest.mark.usefixtures("arabic")
def test_what_is_in_order_stays() -> None:
    once = in_window_order("Ctrl مع 31 tok/s")
    assert in_window_order(once) == once


def test_another_language_adds_nothing() -> None:
    assert worded("{name}: {speed:.0f} tok/s", {"name": "a", "speed": 3}) == "a: 3 tok/s"
    assert isolated("Qwen3") == "Qwen3"
    assert isolated("ملف (1)") == "\u2068ملف (1)\u2069"


@pytest.mark.usefixtures("arabic")
def test_a_tag_of_rich_text_stays_whole() -> None:
    assert worded("{title}: {text}", {"title": "<b>نص</b>", "text": "ب"}) == (
        "\u200f\u2068<b>نص</b>\u2069: ب"
    )
