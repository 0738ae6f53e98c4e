"""LaTeX whose looks mean something: drawn as it is meant, or shown as it was written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.markdown.formula import formula
from headstart.core.markdown.latex import NotDrawn, drawable


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\mathbf{0}", "0"), (r"\mathbf{1}_{A}", "1_{A}"), (r"\mathbb{1}", "1"),
        (r"\boldsymbol{1}^\top", r"1^\top"), (r"\bm1", "1"), (r"\mathtt{x1}", r"x1"),
        (r"\textbf{Step 1:}", r"\text{Step 1:}"), (r"\texttt{len}(x)", r"\text{len}(x)"),
        (r"\textit{so}", r"\text{so}"), (r"\textsf{so}", r"\text{so}"),
        (r"\begin{array}{c|c}a&b\end{array}", r"\begin{array}{cc}a&b\end{array}"),
    ],
)  # fmt: skip
def test_a_style_is_drawn_unlike_plain_signs(latex: str, plain: str) -> None:
    styled, other = formula(latex, True), formula(plain, True)
    assert styled is not None
    assert other is not None
    assert styled.svg != other.svg


@pytest.mark.parametrize(
    ("latex", "other"),
    [
        (r"\mathbf{x_{10}}", r"\mathbf{x_{𝟏𝟎}}"),
        (r"\phi_1+\epsilon", "𝜙 _1+𝜖 "),
        (r"\bm{\phi}\boldsymbol\phi", r"\bm{𝝓 }\boldsymbol{𝝓 }"),
        (r"\upsilon\bm{\upsilon}", r"𝜐 \bm{𝝊 }"),
        (r"\boldsymbol{\Gamma x}\mathit\Omega\varDelta", r"\boldsymbol{𝚪  x}\mathit{𝛺 }𝛥 "),
        (r"\mathbf{\Gamma}\Gamma", r"\mathbf{\Gamma}\Gamma"),
        (r"\varphi\underbar{b}", r"\varphi\underline{\text{b}}"),
        (r"\mathbb{R}^2", r"\mathbb{R}^2"),
        (r"\texttt{h1}", r"\text{𝚑𝟷}"),
        (r"\textit{oh}", r"\text{𝑜ℎ}"),
        (r"\smash[b]{x}y", "{x}y"),
        (r"\href{https://a.example/{x}}{y}", "{y}"),
        (r"\root 3 \of {x+y}", r"\sqrt[3]{x+y}"),
        (r"\varlimsup_n", r"\mathop{\overline{\lim}}_n"),
        (r"\begin{array}{cc}a&b\end{array}", r"\begin{array}{cc}a&b\end{array}"),
        (r"\begin{array}{|c|}a\end{array}", r"\left|\begin{array}{c}a\end{array}\right|"),
    ],
)
def test_other_latex_says_the_same(latex: str, other: str) -> None:
    assert "".join(drawable(latex).split()) == "".join(other.split())


def test_a_bar_stands_between_parts_that_are_as_high() -> None:
    latex = r"\left[\begin{array}{c|c} \frac{1}{2} & a \\ b & c \end{array}\right]"
    assert r"\vphantom{ a } \frac{1}{2}" in " ".join(drawable(latex).split())
    drawn = formula(latex, True)
    assert drawn is not None
    assert "bar" in drawn.words


def test_a_nested_array_keeps_its_rows() -> None:
    inner = r"\begin{array}{c} 1 & 2 \\ 3 \end{array}"
    found = drawable(rf"\begin{{array}}{{c|c}} {inner} & {{a & b \\ c}} \\ d & e \end{{array}}")
    assert found.count(inner) >= 1
    assert r"{a & b \\ c}" in found


@pytest.mark.parametrize(
    "latex",
    [
        r"\begin{array}{c|c:c} a & b & c \end{array}", r"\textbf{größe}", r"\textbf{a $x$}",
        r"\mathbf{1", r"\begin{array}{c|c} a",
    ],
)  # fmt: skip
def test_what_cannot_be_right_is_shown_as_it_was_written(latex: str) -> None:
    with pytest.raises(NotDrawn):
        drawable(latex)
    assert formula(latex, True) is None


def test_plain_signs_are_spoken() -> None:
    drawn = formula(r"\mathbf{0} = \texttt{len}", True)
    assert drawn is not None
    assert drawn.words == "0 equals len"


_PIECES = [*"\\{}[]&|$ ab1\n", "\\begin{array}{c|c}", "\\end{array}", "\\mathbf{", "\\textbf{",
           "\\\\", "\\hline", "\\href{", "\\root"]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
def test_whatever_is_written_is_drawn_or_shown(latex: str) -> None:
    try:
        drawable(latex)
    except NotDrawn:
        assert formula(latex, True) is None


@pytest.mark.parametrize(
    ("latex", "words"),
    [
        (r"\text{速度} = \frac{\text{距離}}{\text{時間}}", ["速度", "距離", "時間"]),
        (r"面积 = 长 \times 宽", ["面积", "长", "宽"]),
        (r"E_{\text{总}}", ["总"]),
        (r"\text{부피} = a^3", ["부피"]),
        (r"\text{حجم} = a^3", ["حجم"]),
        (r"\text{आयतन} = a^3", ["आयतन"]),
        (r"\text{速度 <v>}", ["速度 &lt;v&gt;"]),
        (r"\operatorname{最大}(x)", ["最大"]),
    ],
)
def test_words_of_other_scripts_are_texts_of_the_drawing(latex: str, words: list[str]) -> None:
    drawn = formula(latex, True)
    assert drawn is not None
    assert sorted(re.findall(r"<text [^>]*>([^<]*)</text>", drawn.svg)) == sorted(words)
    # the boxes are gone
    assert "0.88" not in drawn.svg
    assert words[0].partition(" ")[0] in drawn.words.replace(" ", "")


def test_a_letter_that_no_system_has_a_word_for_stays_source() -> None:
    assert formula(r"\text{\textbf{速度} x}", True) is None
