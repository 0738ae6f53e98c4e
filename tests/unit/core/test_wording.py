"""Codes and their sentences: each has one, with the facts that it is given."""

from __future__ import annotations

import ast
import functools
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headstart.core.settings.fields import describe
from headstart.core.settings.library import LibrarySettings
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.schema import EngineSettings, Sampling, Settings, Speculation
from headstart.core.settings.server import ServerSettings
from headstart.core.told import Told, about, from_stored, told
from headstart.core.updates import UpdateSettings
from headstart.core.wording import PRESSED, catalogue, worded
from headstart.core.wording.phrases import PHRASES
from headstart.core.wording.settings import SETTINGS
from headstart.extraction.kinds import BEGINNINGS, MEMBERS

APP = Path(__file__).parents[3] / "app" / "headstart"
MAKERS = {
    "told",
    "EnvironmentProblem",
    "ModelProblem",
    "DatabaseProblem",
    "NotWritten",
    "DownloadProblem",
}
MAKERS |= {"ServerProblem", "ImportProblem", "WeightsLost", "say"}
# a line of an import's report: where, the code, its facts
SKIP = "skip"
# the code of the problem that is named, and that one's facts, come along
ABOUT = "about"
STRUCTS = {
    kind.__name__: kind
    for kind in (
        EngineSettings,
        LibrarySettings,
        PrefixSettings,
        Sampling,
        ServerSettings,
        Settings,
        Speculation,
        UpdateSettings,
    )
}
# not facts
OTHERS = {"quotes", "again"}

# codes that are made from a choice, by how they begin
_CHOSEN = (
    "died-", "message-", "chat-too", "does-not-fit", "recommended-", "time-", "age-", "file-format-"
)  # fmt: skip


@functools.cache
def _calls() -> list[tuple[str, set[str], bool]]:
    return list(_found())


def _found() -> Iterator[tuple[str, set[str], bool]]:
    """Codes, the facts that go with them, and whether further ones come from elsewhere."""
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Attribute) and node.func.attr == SKIP and node.args[1:]:
                facts = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
                for code in _codes(node.args[1]):
                    yield code, facts, False
                continue
            if not isinstance(node.func, ast.Name):
                continue
            about = node.func.id == ABOUT
            if not about and (node.func.id not in MAKERS or len(node.args) != 1):
                continue
            names = {keyword.arg for keyword in node.keywords}
            facts = {name for name in names if name is not None} - OTHERS
            if about:
                facts.add("problem")
            for code in _codes(node.args[0]):
                # the window's own words have a test of their own
                if node.func.id != "say" or "." not in code:
                    yield code, facts, None in names


def _codes(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.IfExp):
        return [*_codes(node.body), *_codes(node.orelse)]
    if isinstance(node, ast.JoinedStr):
        # a code with a part that is chosen elsewhere
        fixed = [str(part.value) for part in node.values if isinstance(part, ast.Constant)]
        return [code for code in catalogue() if all(part in code for part in fixed)]
    return []


@functools.cache
def _constants() -> set[str]:
    return {
        node.value
        for path in APP.rglob("*.py")
        if path.parent.name != "wording"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _named(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name} - {PRESSED}


def test_every_code_has_its_sentences_and_gets_their_facts() -> None:
    assert len(_calls()) > 90
    for code, facts, more in _calls():
        wanted = set().union(*map(_named, catalogue()[code]))
        assert wanted <= facts or more, code
        assert facts <= wanted, code


def test_no_sentence_is_left_over() -> None:
    used = {code for code, _, _ in _calls()}
    # made from a choice that the calls above do not show
    used |= {code for code in catalogue() if code.startswith(_CHOSEN)}
    # phrases that other sentences name by their code
    used |= _constants() & set(PHRASES)
    # kinds of files that are not read, by what they begin with or contain
    used |= {code for _, code in (*BEGINNINGS, *MEMBERS)}
    # kinds of files that are no models, by their first bytes
    used |= _constants() & {code for code in catalogue() if code.startswith("file-is-")}
    # things that begin by themselves, by their kind
    used |= _constants() & {code for code in catalogue() if code.startswith("held-")}
    # reasons without the words of other programs
    used |= _constants() & {code for code in catalogue() if code.endswith("-unquoted")}
    used |= {code for code in SETTINGS if code in _constants() or _is_setting(code)}
    # those of lists of models that an older version kept
    used |= {"file-of-another-kind", "folder-of-another-format", "model-cannot-be-opened"}
    # those that the window answers with a question
    asked = {"consent-needed", "passages-doubtful"}
    assert set(catalogue()) - used == {"as-written", *asked}


@pytest.mark.parametrize("many", [1, 1_234])
def test_every_sentence_can_be_worded(many: int) -> None:
    for halves in catalogue().values():
        for text in halves:
            worded(text, facts_for(text, many))


def facts_for(text: str, many: int) -> dict[str, object]:
    """Facts of the kinds that the places in a sentence ask for."""
    facts: dict[str, object] = {}
    for _, name, form, _ in string.Formatter().parse(text):
        if not name or name == PRESSED:
            continue
        if form == "list":
            facts[name] = ["one", "two"]
        elif not form or form.startswith("select") or form in ("message", "remedy", "text"):
            facts.setdefault(name, "words")
        else:
            facts[name] = many
    return facts


def _is_setting(code: str) -> bool:
    """True for the words of a field of a settings struct, or of a value that it can have."""
    name, _, choice = code.partition("=")
    kind, field = name.partition(":")[0].split(".") if "." in name else ("", "")
    found = describe(STRUCTS[kind]).get(field) if kind in STRUCTS else None
    return found is not None and (not choice or choice in found.choices)


def test_numbers_have_the_form_that_goes_with_them() -> None:
    assert "the 1 oldest turn is left out" in told("context-dropped", dropped=1).text
    assert "the 1,200 oldest turns are left out" in told("context-dropped", dropped=1200).text


def test_a_sentence_can_name_another_one_by_its_code() -> None:
    said = told("cannot-run", name="qwen", why="mlx-not-installed")
    assert said.message == "qwen cannot run here: MLX is not installed."
    assert said.remedy == "Run the set-up again, or choose a GGUF file."
    inner = told("draft-failed", kind="ValueError")
    unusable = about("draft-unusable", inner, draft="small", model="large")
    assert unusable.text == (
        "The draft small cannot be used with large: It failed while it drafted (ValueError). "
        "Replies are written without it."
    )
    held = told("held-fewer-messages", held=1, before=1200)
    many = about("database-salvaged", held, messages=3, chats=1)
    assert "it held 1 message, and 1,200 when it was last used." in many.text


def test_a_name_that_is_no_code_is_told_as_it_is_and_one_that_names_itself_ends() -> None:
    before = told("cannot-run", name="qwen", why="it is {odd")
    assert before.text == "qwen cannot run here: it is {odd."
    assert told("cannot-run", name="qwen", why="cannot-run").text


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(), st.dictionaries(st.text(), st.text() | st.integers()))
def test_any_code_is_readable_and_comes_back_from_the_database(
    code: str, facts: dict[str, str | int]
) -> None:
    facts.pop("code", None)
    said = Told(code, facts)
    assert from_stored(said.stored) == said
    assert isinstance(said.text, str)


def test_sentences_from_before_there_were_codes_are_told_as_they_were() -> None:
    for text in ("The disk is full. Free some.", "{odd", '{"no": "code"}', "[1]"):
        old = from_stored(text)
        assert old is not None
        assert old.text == text
    assert from_stored("") is None
    assert from_stored(None) is None


def test_a_secret_is_blotted_out_of_the_facts() -> None:
    said = told("connection-failed", host="a:1", reason="no key s3cret here")
    assert "s3cret" not in said.without("s3cret").text


@pytest.mark.parametrize("odd", [float("inf"), float("nan"), 10**400, -1, "x", [], {}, None])
def test_a_stored_message_with_odd_facts_is_shown(odd: object) -> None:
    for code, halves in catalogue().items():
        names = {
            name for half in halves for _, name, _, _ in string.Formatter().parse(half) if name
        }
        said = Told(code, dict.fromkeys(names, odd))  # type: ignore[arg-type]
        assert said.text or not any(halves)
    assert from_stored("[" * 100_000) is not None
