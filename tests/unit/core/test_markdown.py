"""The Markdown that models write: formulas, tasks, footnotes; drawn formulas; words alone."""

from __future__ import annotations

import random
import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.linkify import linkify as library_rule
from markdown_it.token import Token

from headstart.core.markdown.formula import LONGEST, formula
from headstart.core.markdown.parser import (
    DISPLAY_MATH,
    GROWING,
    MATH,
    MATH_BLOCK,
    formula_name,
    make_parser,
    named_formula,
    source_of,
    task_of,
)
from headstart.core.markdown.words import words_of
from tests.support.markdown_texts import mutated

PARSER = make_parser({})


def formulas(text: str, growing: bool = False) -> list[tuple[str, str]]:
    """What kind each formula of a text is, and how it was written."""
    found = []
    for token in PARSER.parse(text, {GROWING: growing}):
        found += [
            (one.type, source_of(one)) for one in (token, *(token.children or ())) if _is(one)
        ]
    return found


def _is(token: Token) -> bool:
    return token.type in (MATH, DISPLAY_MATH, MATH_BLOCK)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a $x_1$ b", [(MATH, "$x_1$")]),
        ("costs $5 and $10", []),
        ("$ x $", []),
        (r"\$5 and \$6", []),
        ("`$x$`", []),
        (r"\(x\) and \[y\]", [(MATH, r"\(x\)"), (DISPLAY_MATH, r"\[y\]")]),
        (r"\\(x\\)", []),
        ("in $$a*b*c$$ line", [(DISPLAY_MATH, "$$a*b*c$$")]),
        ("$$\na\n- b\n\nc\n$$", [(MATH_BLOCK, "$$\na\n- b\n\nc\n$$")]),
        ("\\[\n= b\n\\]\nmore", [(MATH_BLOCK, "\\[\n= b\n\\]")]),
        ("words\n$$x$$\nwords", [(MATH_BLOCK, "$$x$$")]),
        ("1. item\n   $$\n   x\n   $$\n2. b", [(MATH_BLOCK, "$$\nx\n$$")]),
        ("> $$\n> q\n> $$", [(MATH_BLOCK, "$$\nq\n$$")]),
        ("| a |\n|---|\n| $x$ |", [(MATH, "$x$")]),
        ("```\n$x$\n```", []),
        ("    $$\n    x\n    $$", []),
        (r"$a \$ b$", [(MATH, r"$a \$ b$")]),
        ("$$\nx", []),
        ("$$$$", []),
    ],
)
def test_formulas_are_found_and_prices_are_not(text: str, wanted: list[tuple[str, str]]) -> None:
    assert formulas(text) == wanted


def test_a_formula_that_is_being_written_is_one() -> None:
    assert formulas("so\n\n$$\na + b", growing=True) == [(MATH_BLOCK, "$$\na + b")]
    assert formulas("so\n\n$$\na\n\n# no", growing=True) == [(MATH_BLOCK, "$$\na\n\n# no")]


def test_names_of_formulas_lead_back() -> None:
    (token,) = (one for one in PARSER.parse('$$\n\\frac{a}{b}\n&é"<\n$$', {}))
    assert named_formula(formula_name(token)) == ("$$", '\\frac{a}{b}\n&é"<')
    assert named_formula("picture.png") is None


def test_tasks_are_told_and_boxes_taken_away() -> None:
    tokens = PARSER.parse("- [x] done\n- [ ] *open*\n- no\n- [x]no", {})
    items = [task_of(token) for token in tokens if token.type == "list_item_open"]
    assert items == [True, False, None, None]
    assert [token.content for token in tokens if token.type == "inline"][:2] == ["done", "*open*"]


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{a}{b}",
        r"\sum_{k=0}^{n} \binom{n}{k}",
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
        r"\int_0^\infty e^{-x^2}\,dx",
        r"\operatorname*{argmax}_x f(x)",
        r"\begin{cases} 1 & x>0 \\ 0 \end{cases}",
        r"\begin{align} a &= b \\ &= c \end{align}",
        r"\ce{H2O}",
        r"\mathbb{R}^n \to \mathcal{L}",
    ],
)
def test_what_models_write_is_drawn(latex: str) -> None:
    found = formula(latex, display=True)
    assert found is not None
    assert found.width > 0
    assert found.ascent > 0
    assert found.words
    # nothing that only browsers read, and nothing that is fetched
    assert not re.search(r"<(title|metadata|style|text|image|script)\b|href=\"(?!#)", found.svg)


def test_numbers_of_formulas_stand_apart_and_labels_go() -> None:
    found = formula(r"a = b \tag{3} \label{eq:x}", display=True)
    plain = formula("a = b", display=True)
    assert found is not None
    assert plain is not None
    assert (found.tag, found.width) == ("3", plain.width)


@pytest.mark.parametrize("latex", [r"\unknowncommand{x}", "x^{2", "", "x" * (LONGEST + 1)])
def test_what_cannot_be_drawn_as_it_should_be_is_not(latex: str) -> None:
    assert formula(latex, display=False) is None


def test_words_keep_signs_of_lists_and_latex() -> None:
    text = (
        "# T\n\npara **b** $x$\nline\n\n- a\n  1. b\n  2. c\n- [x] d\n\n| a | b |\n|---|---|\n"
        "| 1 | 2 |\n\n```py\nx\n```\n$$\ny\n$$\n[^1] z\n\n[^1]: note\n"
    )
    assert words_of(text) == (
        "T\n\npara b $x$\nline\n\n- a\n  1. b\n  2. c\n- [x] d\n\na\tb\n1\t2\n\nx\n\n$$\ny\n$$"
        "\n\n[1] z\n\n[1] note"
    )


@pytest.mark.parametrize("count", [300, pytest.param(5_000, marks=pytest.mark.proof)])
def test_no_text_breaks_anything(count: int) -> None:
    rng = random.Random(11)
    for _ in range(count):
        text = mutated(rng, rng.randrange(1, 400))
        for growing in (False, True):
            tokens = PARSER.parse(text, {GROWING: growing})
            PARSER.renderer.render(tokens, PARSER.options, {})
        words_of(text)
        for token in tokens:
            for one in (token, *(token.children or ())):
                if _is(one):
                    assert one.content in source_of(one)
                    formula(one.content, one.type != MATH)


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_drawn_or_is_left(text: str) -> None:
    formula(text, display=True)
    words_of(text)


_PIECES = (
    "http", "https", "ftp", "HTTP", "mailto:", "://", ":", "//", "a.", "b", " ", "(", "*", "+",
    "https://x.org/a", "[t](http://c.de)", "-http://d.ef", "\n", "`", "9",
)  # fmt: skip


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_addresses_are_found_where_the_library_finds_them(text: str) -> None:
    plain = make_parser({})
    plain.inline.ruler.at("linkify", library_rule)
    assert PARSER.render(text) == plain.render(text)


def test_the_library_looks_for_an_address_only_where_one_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def counting(state: StateInline, silent: bool) -> bool:
        asked.append(state.pos)
        return library_rule(state, silent)

    # the package has a function by the name of its module
    module = sys.modules["markdown_it.rules_inline.linkify"]
    monkeypatch.setattr(module, "linkify", counting)
    PARSER.parse("http://a." * 500)
    assert len(asked) == 1
    PARSER.parse("http://a.de " * 20)
    assert len(asked) == 21
