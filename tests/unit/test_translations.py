"""The files of the window's languages: complete, with the facts and the plural forms that each
sentence needs; PO files for translators; prompts that no language changes."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from headstart.chat.requests import prompt_messages
from headstart.core.chats.parts import (
    BlobRef,
    CoveragePart,
    FilePart,
    Part,
    PassagePart,
    SearchOutcome,
    SearchPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.core.text.languages import LANGUAGES, Language, language_of
from headstart.core.text.locale import PLAIN, use_locale
from headstart.core.wording import worded
from headstart.core.wording.translated import Halves, read_words, use_words
from headstart.ui.kit.languages import file_of
from headstart.ui.kit.system_locale import SystemLocale

ROOT = Path(__file__).parents[2]
HERE = [one for one in LANGUAGES[1:] if file_of(one).is_file()]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    path = ROOT / "packaging" / "translations.py"
    spec = importlib.util.spec_from_file_location("translations", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    use_words({})
    use_locale(PLAIN)


# as they stand on keyboards; a Mac's have others
_FIXED_KEYS = re.compile(
    r"(?<![A-Za-z])(Ctrl|Strg|Shift|Umschalt|Mayús|Maj|Maiusc|Alt)(?![A-Za-zäöüúß])"
)


def test_no_sentence_names_keys_that_another_keyboard_has_not(tool: ModuleType) -> None:
    texts = {("en", code): halves for code, halves in tool.english().items()}
    for language in HERE:
        words = read_words(file_of(language))
        texts.update({(language.code, code): halves for code, halves in words.items()})
    named = {
        (language, code): half
        for (language, code), halves in texts.items()
        for half in halves
        if _FIXED_KEYS.search(re.sub(r"\{pressed:[^}]*\}", "", half))
    }
    # shown where there is an AltGr
    assert {code for _, code in named} == {"shortcuts.keys-with-alt-gr"}


@pytest.mark.parametrize("language", HERE, ids=lambda one: one.code)
def test_a_language_is_whole_and_fits(language: Language, tool: ModuleType) -> None:
    words = read_words(file_of(language))
    assert list(tool.findings(language, words)) == []
    assert json.loads(file_of(language).read_text("utf-8"))["language"] == language.code


@pytest.mark.parametrize("language", HERE, ids=lambda one: one.code)
def test_every_sentence_can_be_filled_in(language: Language, tool: ModuleType) -> None:
    use_words(read_words(file_of(language)))
    SystemLocale(language.qt).install()
    for code, halves in read_words(file_of(language)).items():
        for text in halves:
            for count in (0, 1, 2, 5, 11, 21, 101):
                facts = {
                    name: count if fact == 3 else fact
                    for name, fact in tool.sample_facts(text).items()
                }
                shown = worded(text, facts)
                assert bool(shown) == bool(text), code


@pytest.mark.parametrize("language", HERE, ids=lambda one: one.code)
def test_a_glossary_has_a_word_for_each_term(language: Language) -> None:
    folder = ROOT / "packaging" / "glossaries"
    terms = (folder / "terms.txt").read_text("utf-8").split("\n")
    words = json.loads((folder / f"{language.code}.json").read_text("utf-8"))
    assert set(words) == {one for one in terms if one}
    assert all(one.strip() for one in words.values())


@pytest.mark.parametrize(
    ("english", "own", "finding"),
    [
        ("Stop", "Halt", ""),
        ("Stop", "", "empty"),
        ("", "Halt", "English has none"),
        ("{name} of {host}", "{host}: {name}", ""),
        ("{name} of {host}", "{name}", "its facts"),
        ("{name}", "{name} {more}", "its facts"),
        ("{name}", "{name", "braces"),
        ("{count:n turn|turns}", "{count:plural one=# Zug|other=# Züge}", ""),
        ("{count:n turn|turns}", "{count:n Zug|Züge}", "is English"),
        ("{count:n turn|turns}", "{count:plural other=# Züge}", "needs"),
        ("{size:size}", "{size:,}", "English has"),
        ("{size:size}", "{size:list}", "English has"),
        ("{names:list}", "{names}", "English has"),
        ("{count:,}", "{count}", ""),
        ("Open…", "Öffnen", "ellipsis"),
        ("One\nTwo", "Eins Zwei", "line ends"),
    ],
)
def test_a_text_that_does_not_fit_is_found(
    tool: ModuleType, english: str, own: str, finding: str
) -> None:
    language = language_of("de")
    assert language is not None
    found = list(tool.of_text(language, english, own))
    assert bool(found) == bool(finding)
    assert finding in " ".join(found)


def test_translators_get_po_files_and_give_them_back(tool: ModuleType, tmp_path: Path) -> None:
    language = language_of("de")
    assert language is not None
    words: dict[str, Halves] = {
        "document-lost": ("{name} ist weg.", "Noch “einmal”.\nUnd wieder."),
        "window.passage-page": ("{name}, Seite {page}", ""),
    }
    path = tmp_path / "de.po"
    tool.to_po(language, words, path)
    text = path.read_text("utf-8")
    assert 'msgctxt "document-lost/remedy"' in text
    assert "#. Facts: name" in text
    assert tool.from_po(path) == ("de", words)


def test_no_language_changes_a_prompt() -> None:
    """Chats would be processed once more whenever the language changes."""
    blob = BlobRef("0" * 64, 1_234_567, "text/plain")
    parts: tuple[Part, ...] = (
        CoveragePart(1_200, 1_100, 2, ("a.pdf",)),
        SearchPart(("notes",), 1_200, SearchOutcome.RESEMBLING),
        PassagePart(1, "a.md", "text", page=1_234, line=2_345),
        FilePart("a.txt", blob, "words", 12, "page", "1-3"),
        TextPart("What?"),
    )
    reply = (ToolCallPart("1", "look", "{}"), ToolResultPart("1", "look", "none", failed=True))

    def prompt() -> list[str]:
        branch = [
            Message("q", "c", None, Role.USER, MessageStatus.COMPLETE, parts, 1_730_000_000_000),
            Message(
                "r", "c", "q", Role.ASSISTANT, MessageStatus.COMPLETE, reply, 1_730_000_000_000
            ),
        ]
        return [one.text for one in prompt_messages(branch, "Be brief.")]

    english = prompt()
    for language in HERE:
        use_words(read_words(file_of(language)))
        SystemLocale(language.qt).install()
        assert prompt() == english
