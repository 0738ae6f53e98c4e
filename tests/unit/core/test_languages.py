"""Languages of the window: which one a system gets, sentences that fall back one by one, the
pseudo-locale."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from headstart.core import wording
from headstart.core.text.languages import (
    ENGLISH,
    LANGUAGES,
    PSEUDO,
    Language,
    best_language,
    language_of,
)
from headstart.core.wording.pseudo import pseudo
from headstart.core.wording.translated import read_words, use_words
from headstart.ui.wording import all_words, say


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    use_words({})


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (["de-AT", "en"], "de"),
        (["pt-PT"], "pt-BR"),
        (["pt-BR"], "pt-BR"),
        (["zh-Hans-CN"], "zh-Hans"),
        (["zh_Hans_SG"], "zh-Hans"),
        (["zh-Hant-TW", "en-US"], "zh-Hant"),
        (["zh_HK"], "zh-Hant"),
        (["zh-CN"], "zh-Hans"),
        (["en-GB", "de"], "en"),
        (["xx", "ja-JP"], "ja"),
        (["C"], "en"),
        ([], "en"),
        (["fil-PH", "fr-CA"], "fr"),
    ],
)
def test_a_system_gets_the_language_it_wants_most(wanted: list[str], code: str) -> None:
    assert best_language(wanted, LANGUAGES).code == code


def test_only_languages_that_are_here_are_chosen() -> None:
    assert best_language(["de", "fr"], (ENGLISH, *_named("fr"))).code == "fr"
    assert best_language(["de"], (ENGLISH,)) is ENGLISH
    # other signs: they read English rather
    assert best_language(["zh-Hant-TW", "en"], (ENGLISH, *_named("zh-Hans"))) is ENGLISH


def test_codes_and_names_are_unique() -> None:
    assert len({one.code for one in LANGUAGES}) == len(LANGUAGES)
    assert len({one.name for one in LANGUAGES}) == len(LANGUAGES)
    assert language_of("qps") is PSEUDO
    assert language_of("xx") is None
    assert [one.code for one in LANGUAGES if one.from_right] == ["ar", "fa"]


@pytest.mark.logs("a sentence of the window's language")
def test_sentences_fall_back_to_english_one_by_one(caplog: pytest.LogCaptureFixture) -> None:
    use_words(
        {
            "document-lost": ("{name} ist weg.", "Noch einmal."),
            "window.passage-page": ("{name}, Seite {page}", ""),
            # a fact that there is not
            "window.passage-line": ("{name}, Zeile {zeile}", ""),
            "survey-without-documents": ("{nichts}", ""),
        }
    )
    assert wording.sentences("document-lost", {"name": "a.md"}) == ("a.md ist weg.", "Noch einmal.")
    assert say("window.passage-page", name="a.pdf", page=3) == "a.pdf, Seite 3"
    assert say("window.passage-line", name="a.md", line=3) == "a.md, line 3"
    assert wording.sentences("survey-without-documents", {})[0].startswith("This chat")
    assert say("window.passage", number=1, place="x") == "Passage 1: x"
    assert "window.passage-line" in caplog.text


def test_a_file_has_texts_and_pairs(tmp_path: Path) -> None:
    path = tmp_path / "de.json"
    words = {"window.none": "keine", "document-lost": ["Weg.", "Noch einmal."]}
    path.write_text(json.dumps({"language": "de", "words": words}), encoding="utf-8")
    assert read_words(path) == {
        "window.none": ("keine", ""),
        "document-lost": ("Weg.", "Noch einmal."),
    }
    for broken in ("", "[]", '{"language": "de", "words": {"a": 3}}', '{"words": {}}'):
        path.write_text(broken, encoding="utf-8")
        with pytest.raises(msgspec.MsgspecError):
            read_words(path)


def test_the_pseudo_locale_keeps_facts_and_is_longer() -> None:
    for text in [
        *all_words().values(),
        *(one for pair in wording.catalogue().values() for one in pair),
    ]:
        if not text.strip():
            continue
        shown = pseudo(text)
        assert shown.startswith("[")
        assert shown.endswith("]")
        assert len(shown) >= len(text) + 4
        assert shown.count("{") == text.count("{")


def _named(*codes: str) -> tuple[Language, ...]:
    return tuple(one for one in LANGUAGES if one.code in codes)
