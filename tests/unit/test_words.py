"""The window's words: every one in a table, every table used, nothing worded at import."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from headstart.core.wording import PRESSED, worded
from headstart.ui.wording import table
from tests.unit.core.test_wording import facts_for

APP = Path(__file__).parents[2] / "app" / "headstart"
UI = APP / "ui"
# the window's words outside its room
STARTS = APP / "launch.py", APP / "assembly.py", APP / "parts.py"
ROOMS = sorted(path.stem for path in (UI / "wording").glob("*.py") if path.stem != "__init__")
# calls whose words are names, patterns, keys and lines of the log
NOT_SHOWN = {
    "setObjectName", "setProperty", "property", "getLogger", "debug", "info", "warning", "error",
    "exception", "critical", "findChild", "setStyleSheet", "Literal", "cast", "TypeVar",
    "getattr", "setattr", "hasattr", "encode", "startswith", "endswith", "split", "partition",
    "rpartition", "removeprefix", "removesuffix", "strftime", "compile", "sub", "match", "search",
    "fullmatch", "replace", "QFont", "DBusAddress", "new_method_call", "setCreator",
    "ElidedLabel", "TitleLabel", "setStyle", "EnvironmentProblem", "told", "about", "glob",
    "toString",
}  # fmt: skip
# names of programs, libraries, licences, fonts and files; keys; forms of dates and of JSON
NAMES = re.compile(
    r"Headstart( Boxes)?|LM Studio|Ollama|GPT4All|Inter|JetBrains Mono|README\.md|OK"
    r"|llama\.cpp, MIT|Lucide \(icons\), ISC|Inter and JetBrains Mono, OFL-1\.1"
    r"|(Noto|Source Han) Sans( CJK)? [A-Z]{2}|PingFang [ST]C|Microsoft J?[A-Za-z]*Hei( UI)?"
    r"|WenQuanYi Micro Hei|Hiragino Sans|(Yu Gothic|Meiryo) UI|Apple SD Gothic Neo|Malgun Gothic"
    r"|(Ctrl|Shift|Alt|Meta|Esc|Del|Enter|Home|End|Tab|Up|Down|F\d+)([+,] ?[\w+/=,-]*)*"
    r"|[, ]*y{4}|([dML]+\.?|y{4}|,|'[^']+'\.?| )+|[a-z]+([A-Z][a-z]*)+"
    # Qt's own words, which it has in the window's language
    r"|&Undo|&Redo|Cu&t|&Copy|&Paste|Select All"
    # an action of screen readers, and tokens of a highlighter
    r"|Press|Inserted|Deleted|Heading|Subheading"
    # in exported documents, stored names of files and reports of errors
    r"|Pasted image\.png|: the image is damaged\]|the document could not be written|, Python|, Qt"
)
MARKUP = re.compile(
    r"</?[a-z]|[;:{] *[a-z-]+:|class=|align=|stroke-|\bcolor\b|^\s*\{\s*\"|px;|^extra =="
)
WORDS = re.compile(r"\W*[A-Za-z]{2,}.*\s.*[A-Za-z]{2,}\W*|[A-Z][a-z]{2,}[…:.]?|.*[a-z]…", re.DOTALL)
# a piece of a sentence between two facts
PIECE = re.compile(r".*(\s[A-Za-z]{2,}|[A-Za-z]{2,}\s).*|\s[A-Za-z]+", re.DOTALL)


def trees(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        if path.parent.name != "wording":
            yield tree_of(path)


def tree_of(path: Path) -> tuple[Path, ast.Module]:
    return path, ast.parse(path.read_text(encoding="utf-8"))


def called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def shown_words(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Literals that look like words for people, with their lines."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        text, piece = node.value.strip(), isinstance(parents.get(node), ast.JoinedStr)
        if (
            not (PIECE if piece else WORDS).fullmatch(node.value if piece else text)
            or NAMES.fullmatch(text)
            or MARKUP.search(text)
        ):
            continue
        if not _apart(node, parents):
            yield node.lineno, text


def _apart(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """True for a docstring, an annotation, a comparison, or an argument that nobody reads."""
    while (parent := parents.get(node)) is not None:
        if isinstance(parent, ast.Expr) and isinstance(node, ast.Constant):
            return True
        if isinstance(parent, ast.Call) and node is not parent.func and called(parent) in NOT_SHOWN:
            return True
        if isinstance(parent, ast.Compare | ast.Subscript | ast.arg | ast.keyword) and (
            not isinstance(parent, ast.keyword) or parent.arg in ("objectName", "icon")
        ):
            return True
        if isinstance(parent, ast.AnnAssign) and node is parent.annotation:
            return True
        if isinstance(parent, ast.stmt):
            return False
        node = parent
    return False


@cache
def constants() -> set[str]:
    return {
        node.value
        for _, tree in trees(UI)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def facts_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name} - {PRESSED}


def sentence(code: str) -> str:
    room, _, name = code.partition(".")
    return table(room)[name]


def test_no_words_are_outside_the_tables() -> None:
    found = [
        f"{path.relative_to(APP)}:{line}: {text}"
        for path, tree in (*trees(UI), *map(tree_of, STARTS))
        for line, text in shown_words(tree)
    ]
    assert found == []


def test_the_search_for_words_finds_them() -> None:
    source = (
        'label.setText("Nothing here")\nbutton = QPushButton(f"Get {name}…")\nlog.info("Not this")'
        '\nshown = f"{seconds} s"\nTITLES = {"a": "Any size"}'
        '\nframe.setObjectName("Some Name")\nkeys = "Ctrl+Shift+O"'
    )
    assert {text for _, text in shown_words(ast.parse(source))} == {
        "Nothing here", "Get", "s", "Any size",
    }  # fmt: skip


def test_every_code_has_words_and_gets_their_facts() -> None:
    calls = 0
    for path, tree in trees(UI):
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and called(node) == "say" and node.args):
                continue
            code = node.args[0]
            if not isinstance(node.func, ast.Name) or not isinstance(code, ast.Constant):
                continue
            calls += 1
            wanted, given = facts_of(sentence(str(code.value))), {one.arg for one in node.keywords}
            assert wanted == given or None in given, f"{path.name}:{node.lineno}: {code.value!r}"
    assert calls > 800


def test_every_word_is_used_once_or_more() -> None:
    # those of commands go by the ids of commands
    used = constants() | {f"commands.{one}" for one in constants()}
    codes = {f"{room}.{name}" for room in ROOMS for name in table(room)}
    assert codes - used == set()


def test_nothing_is_worded_when_a_module_is_imported() -> None:
    for path, tree in trees(APP):
        for node in at_import(tree):
            if isinstance(node, ast.Call):
                assert called(node) not in ("say", "told"), f"{path.relative_to(APP)}:{node.lineno}"
            if isinstance(node, ast.Attribute) and node.attr in ("text", "message", "remedy"):
                assert not isinstance(node.value, ast.Call), f"{path.name}:{node.lineno}"


def at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node that runs when the module is imported: defaults of arguments as well."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    yield from ast.walk(default)
            continue
        yield node
        yield from at_import(node)


def test_sentences_are_whole() -> None:
    for room in ROOMS:
        for name, text in table(room).items():
            between = text.endswith("\n\n") or name == "comma"
            assert text == text.strip() or between, f"{room}.{name}"
            assert text, f"{room}.{name}"


def test_every_sentence_can_be_worded() -> None:
    for room in ROOMS:
        for text in table(room).values():
            assert worded(text, facts_for(text, 1_234))
