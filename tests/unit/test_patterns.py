"""No pattern of the source goes back over a text: twice the text takes at most three times the
steps, counted as `re` takes them. A search for a pattern that begins with a repeat counts too.
"""

from __future__ import annotations

import ast
import random
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from headstart.core.chats.finding import pattern_of
from headstart.engine.foreign import beginning
from headstart.engine.markup.formats import FORMATS
from tests.support.pattern_steps import Steps, TooManySteps
from tests.support.pattern_texts import growth, hard_texts
from tests.support.source_patterns import SourcePattern, made_patterns, source_patterns, trees

# signs of the texts, which are made twice as long
_LENGTH = 24
_MOST_GROWTH = 3.0
# patterns of readers that end where no token fits: a text is not tried at each of its places
_READERS = ("engine.markup.tool_calls.feed:_STRING", "engine.markup.tool_calls.written:_PYTHON")


def _made() -> dict[str, list[str]]:
    """Patterns made of words that are known at run time only, as they look in use."""
    query = pattern_of("*one* two")
    assert query is not None
    return {
        "core.chats.finding": [query.pattern],
        "core.markdown.inline_rules": ["</sub>"],
        "core.markdown.latex": [re.escape("\\bold") + "(?![A-Za-z])"],
        "core.serving.programs": [r"\boperating inside pi\b"],
        "engine.foreign": [beginning(["<|im_end|>", "</s>", "<"])],
        "engine.token_finder": ["[" + "".join(map(re.escape, "<]^")) + "]"],
        "engine.markup.formats": [one.caller for one in FORMATS if one.caller],
        "engine.remote.parameters": [r"\bmax_tokens\b"],
    }


# calls that make a pattern of names into one of `re`: those of our own, and of nobody else
_NAME_PATTERNS = {
    "core.files": "our own partial files",
    "core.hub.catalog_filter": "our own list of models",
    "engine.prefix.fingerprint": "constants",
    "engine.weights": "constants",
    "engine.backends.llama_cpp.exports": "names of llama.cpp's libraries",
    "hub.downloads.queue": "constants",
    "hub.mlx_folder": "constants",
    "storage.rescue.copies": "the name of our own database",
}


@pytest.fixture(autouse=True)
def deep() -> Iterator[None]:
    """The matcher is recursive."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.fixture(autouse=True, scope="module")
def forgotten() -> Iterator[None]:
    """A million nodes are not kept for the tests to come, whose collections would look at each."""
    yield
    trees.cache_clear()


def _growing(pattern: str | bytes, flags: int, method: str, length: int) -> list[str]:
    return [
        f"{text}: {once:,} steps, then {twice:,}"
        for text, once, twice in growth(pattern, flags, method, length)
        if twice > _MOST_GROWTH * once
    ]


def _methods(one: SourcePattern) -> tuple[str, ...]:
    return ("scan",) if f"{one.module}:{one.name}" in _READERS else one.methods


def _found(length: int) -> str:
    """A line for each pattern that goes back, with a text."""
    return "\n".join(
        f"{one.module}:{one.line} {one.pattern!r} {method}: {texts[0]}"
        for one in source_patterns()
        for method in _methods(one)
        if (texts := _growing(one.pattern, one.flags, method, length))
    )


def test_no_pattern_of_the_source_goes_back_over_a_text() -> None:
    assert len(source_patterns()) > 200
    assert not _found(_LENGTH)


@pytest.mark.proof
def test_no_pattern_of_the_source_goes_back_over_a_longer_text() -> None:
    assert not _found(4 * _LENGTH)


def test_patterns_made_of_words_do_not_either() -> None:
    made = _made()
    assert set(made) == made_patterns()
    for patterns in made.values():
        for pattern in patterns:
            assert _growing(pattern, 0, "finditer", _LENGTH) == []


def test_nobody_else_makes_patterns_of_names() -> None:
    """`fnmatch` and the paths' `glob` and `match` make a pattern of `re`, which may go back."""
    found = {
        module.removeprefix("headstart.")
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _is_of_names(node)
    }
    assert found == set(_NAME_PATTERNS)


def _is_of_names(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if name.startswith("fnmatch."):
        return True
    constant = not call.args or isinstance(call.args[0], ast.Constant)
    return name.endswith((".glob", ".rglob", ".full_match")) and not constant


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(a+)+$", "match"),
        (r"(?:a|aa)+$", "fullmatch"),
        (r"(?:\w+\s?)*;", "match"),
        (r"\s*,", "search"),
        (r"[ \t]*\r?\n", "finditer"),
        (r"\d+x", "search"),
        (r"a*b*a*c", "match"),
        (r"<[^>]*>", "finditer"),
        (r"<!--.*?-->|</?[a-z]{1,9}>", "finditer"),
        (r"(#+)[ ]+(\S.*?)[ ]*#*[ ]*$", "match"),
        (r'"(?:[^"\\]|\\.)*"', "finditer"),
        (rb"[\x80-\xff]+a", "search"),
    ],
)
def test_patterns_that_go_back_are_found(pattern: str | bytes, method: str) -> None:
    assert _growing(pattern, 0, method, _LENGTH)


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(?:a++)++$", "match"),
        (r"(?<!\s)\s*+,", "search"),
        (r"(?<!\d)\d++x", "search"),
        (r"<[^<>]*>", "finditer"),
        (r"\w+", "finditer"),
        (r"a{1,2000}b", "finditer"),
    ],
)
def test_patterns_that_do_not_are_not(pattern: str, method: str) -> None:
    assert _growing(pattern, 0, method, _LENGTH) == []


def test_steps_are_counted_on_the_way_that_re_takes() -> None:
    """The counter finds what `re` finds, for texts of each pattern."""
    rng = random.Random(7)
    compared = 0
    for one in source_patterns():
        counted = Steps(one.pattern, one.flags, bounded=False)
        compiled: re.Pattern[Any] = re.compile(one.pattern, one.flags)
        texts = [
            begin + again * 3 + end
            for begin, again, end, _ in hard_texts(one.pattern, one.flags, 1)
        ]
        for text in rng.sample(texts, min(3, len(texts))):
            words: Any = text.encode("latin-1") if isinstance(one.pattern, bytes) else text
            try:
                spans = counted.spans(text)
            except TooManySteps:
                continue
            assert spans == [found.span() for found in compiled.finditer(words)], (one, text)
            compared += 1
    assert compared > 500
