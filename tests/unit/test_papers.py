"""Documents say what the program has: files, keys, commands, and the generated lists."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APP = ROOT / "app" / "headstart"
PAPERS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
# documents that tell of the past name files as they were
PAST = {"benchmarks.md"}
_PATH = re.compile(r"`((?:app|tests|packaging|docs|resources|[a-z_]+)/[\w./*-]+\.(?:py|md|toml))`")
_TARGET = re.compile(r"`make ([a-z-]+)")
# first words that begin no sentence about a thing
_INDIRECT = ("What", "Where", "Whether", "How", "Who", "Of", "So", "That")


@pytest.mark.parametrize("name", ["modules.md", "settings.md"])
def test_the_generated_documents_are_what_the_code_says(name: str) -> None:
    path = ROOT / "docs" / name
    made = _of_papers(f"print(papers.DOCUMENTS[papers.ROOT / 'docs' / {name!r}](), end='')")
    assert path.read_text(encoding="utf-8") == made, "make papers"


def _of_papers(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", f"import papers; {code}"],
        cwd=ROOT / "packaging",
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: path.name)
def test_documents_name_files_that_exist(paper: Path) -> None:
    text = paper.read_text(encoding="utf-8")
    if paper.name not in PAST:
        for name in _PATH.findall(text):
            bases = (ROOT, APP, APP / "engine", APP / "engine" / "speculation")
            found = any(list(base.glob(name)) for base in bases)
            assert found, f"{paper.name} names {name}"
    for link in re.findall(r"\]\(([^)#:]+\.(?:md|png))", text):
        assert (paper.parent / link).exists(), f"{paper.name} links {link}"
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(_TARGET.findall(text)) <= targets


def test_the_readme_is_short_and_its_keys_work() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 90
    keys = {
        node.value
        for path in (APP / "ui").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    table = text.partition("| keys | |")[2].partition("\n\n")[0]
    named = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    said = [key for cell in named if not cell.startswith("-") for key in cell.split(", ")]
    # a comma is a key too, and words stand for signs
    said = ["Ctrl+," if key == "Ctrl+," or key == "Ctrl+" else key for key in said]
    signs = {"Ctrl+plus": "Ctrl++", "Ctrl+minus": "Ctrl+-"}
    assert {key for key in said if signs.get(key, key) not in keys} == set()


def test_every_setting_has_a_word_about_it() -> None:
    assert _of_papers("print(papers.without_notes())").strip() == "[]"


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    found = []
    for path in sorted(APP.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text and text.split(None, 1)[0].strip("`,") in _INDIRECT:
                    found.append(f"{path.relative_to(APP)}:{getattr(node, 'name', '')}")
    assert found == []
