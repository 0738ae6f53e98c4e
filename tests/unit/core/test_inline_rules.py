"""Rules of our own for words in a line: emphasis beside CJK, tags of looks, links, dollars."""

from __future__ import annotations

import pytest

from headstart.core.markdown.parser import language_of, make_parser, source_of
from headstart.core.markdown.words import words_of

PARSER = make_parser(
    dict.fromkeys(("math", "math_display", "math_block"), lambda t: f"[{source_of(t)}]")
)


def shown(text: str) -> str:
    html = str(PARSER.render(text, {})).strip()
    return html.removeprefix("<p>").removesuffix("</p>")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**“会引起”**渲染", "<strong>“会引起”</strong>渲染"),
        ("**重要:**请注意", "<strong>重要:</strong>请注意"),
        ("这是**“重点”**的", "这是<strong>“重点”</strong>的"),
        ("**この文は（括弧）**です", "<strong>この文は（括弧）</strong>です"),
        ("한국어 **굵게(bold)**입니다", "한국어 <strong>굵게(bold)</strong>입니다"),
        ("~~删除。~~后文", "<s>删除。</s>后文"),
        ("**テスト。**テスト", "<strong>テスト。</strong>テスト"),
        ("a * b * c", "a * b * c"),
        ("**a.**b", "**a.**b"),
        ("_a_b", "_a_b"),
        ("**ok**😀 **“x”**😀", "<strong>ok</strong>😀 <strong>“x”</strong>😀"),
    ],
)
def test_emphasis_needs_no_spaces_beside_cjk(text: str, html: str) -> None:
    assert shown(text) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a<br>b<BR/>c<br />d", "a<br />\nb<br />\nc<br />\nd"),
        ("H<sub>2</sub>O, m<sup>2</sup>", "H<sub>2</sub>O, m<sup>2</sup>"),
        ("press <kbd>**Ctrl**</kbd>", "press <kbd><strong>Ctrl</strong></kbd>"),
        ("<sub>open", "&lt;sub&gt;open"),
        ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
        ('<sub onclick="x">a</sub>', "&lt;sub onclick=&quot;x&quot;&gt;a&lt;/sub&gt;"),
        ("`a<br>b`", "<code>a&lt;br&gt;b</code>"),
    ],
)
def test_tags_of_looks_are_looks_and_others_are_text(text: str, html: str) -> None:
    assert shown(text) == html


def test_a_cell_has_lines() -> None:
    table = "| a |\n|---|\n| x<br>y |"
    assert "x<br />\ny" in shown(table)
    assert "x\ny" in words_of(table)


def test_many_tags_that_do_not_end_are_text() -> None:
    assert shown("<sub>" * 5_000) == "&lt;sub&gt;" * 5_000


@pytest.mark.parametrize(
    ("text", "is_link"),
    [
        ("https://a.example/x", True), ("see http://a.example.", True),
        ("<mailto:a@b.example>", True),
        ("[a](https://a.example)", True), ("[a](MAILTO:a@b.example)", True),
        ("[a](smb://host/x)", False), ("[a](ms-msdt:/id)", False), ("[a](vscode://x)", False),
        ("[a](//host/x)", False), ("[a](javascript:x)", False), ("[a](file:///etc)", False),
        ("[a](docs/a.md)", False), ("[a](https:///x)", False), ("main.py", False),
        ("ftp://a.example", False),
    ],
)  # fmt: skip
def test_only_the_web_and_mail_are_links(text: str, is_link: bool) -> None:
    assert ("<a href=" in shown(text)) is is_link


@pytest.mark.parametrize(
    "text",
    [
        "$10. Set PATH=$HOME/bin", "US$10 and CA$20", "from $5 to $10", "$5, or 5$ each",
        "costs 10$ or 20$", "$HOME and $PATH", "echo $A_B/$C",
    ],
)  # fmt: skip
def test_prices_and_variables_are_no_formulas(text: str) -> None:
    assert "[" not in shown(text)


@pytest.mark.parametrize(
    "text", ["$x$", "公式$x^2$是", "($a+b$)", "$2x + 3$", "$3 \\times 4$", "$5$", "$n$-th", "$k$."]
)
def test_formulas_stay_formulas(text: str) -> None:
    assert "[$" in shown(text)


@pytest.mark.parametrize(
    ("info", "language"),
    [("c\\+\\+", "c++"), ("f&ouml;&ouml; x", "föö"), ("", ""), ("py {1}", "py")],
)
def test_the_language_of_code_has_its_escapes_undone(info: str, language: str) -> None:
    assert language_of(PARSER.parse(f"```{info}\nx\n```", {})[0]) == language
