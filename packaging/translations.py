"""The window's languages for translators: PO files out and in, and a list of what is wrong.

`python packaging/translations.py english` prints the English texts by code; `check CODE` lists what
is missing or does not fit in `resources/languages/CODE.json`; `out CODE FILE.po` and
`in FILE.po` exchange it with the programs of translators; `sort CODE` writes it in the usual order.
"""

from __future__ import annotations

import json
import re
import string
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from headstart.core.text.languages import LANGUAGES, Language, language_of
from headstart.core.text.plurals import plural_forms
from headstart.core.wording import PRESSED, catalogue, worded
from headstart.core.wording.translated import Halves, read_words
from headstart.ui.wording import all_words

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "resources" / "languages"
REMEDY = "/remedy"
# forms of words in a field: {count:n ...}, {count:plural ...}, {who:select ...}
_CHOICE = re.compile(r"(n|plural|select) (.*)", re.DOTALL)
_FORM = re.compile(r"(\w+)=")
_HALVES = ("message", "remedy", "text")


def english() -> dict[str, Halves]:
    """All English texts by code: those of the window have no remedy."""
    found: dict[str, Halves] = dict(catalogue())
    found.update({code: (text, "") for code, text in all_words().items()})
    return found


def fields(text: str) -> list[tuple[str, str]]:
    """The facts of a text, each with its format. Raises ValueError."""
    return [
        (name, form or "")
        for _, name, form, _ in string.Formatter().parse(text)
        if name is not None
    ]


def findings(language: Language, words: Mapping[str, Halves]) -> Iterator[str]:
    """What is wrong with the texts of a language, a line each."""
    known = english()
    for code in known.keys() - words.keys():
        yield f"{code}: missing"
    for code in words.keys() - known.keys():
        yield f"{code}: unknown"
    for code in sorted(known.keys() & words.keys()):
        for half, said, own in zip(("", REMEDY), known[code], words[code], strict=True):
            for finding in of_text(language, said, own):
                yield f"{code}{half}: {finding}"


def of_text(language: Language, said: str, own: str) -> Iterator[str]:
    """What is wrong with one text; `said` is the English one."""
    if bool(said.strip()) != bool(own.strip()):
        yield "empty" if said.strip() else "English has none"
        return
    try:
        mine, theirs = fields(own), fields(said)
    except ValueError as error:
        yield f"braces: {error}"
        return
    if {name for name, _ in mine} != {name for name, _ in theirs}:
        names = ", ".join(sorted({name for name, _ in theirs}))
        yield f"its facts are not those of English: {names or 'none'}"
    keys = [sorted(form for name, form in each if name == PRESSED) for each in (mine, theirs)]
    if keys[0] != keys[1]:
        yield f"its keys are not those of English: {', '.join(keys[1]) or 'none'}"
    for name, form in mine:
        if name == PRESSED:
            continue
        yield from _of_field(language, name, form, dict(theirs).get(name, ""))
    for sign in ("\n",):
        if said.count(sign) != own.count(sign):
            yield "another number of line ends"
    if not _ends_alike(said, own):
        yield "other spaces at its ends"
    if said.endswith("…") != own.rstrip("\u200f\u200e").endswith("…"):
        yield "an ellipsis at its end, or none"


def _ends_alike(said: str, own: str) -> bool:
    """Whether spaces stand at the same ends; a full-width mark brings its own space."""
    if said == said.strip():
        return True
    ends = zip((said[0], said[-1]), (own[0], own[-1]), strict=True)
    return all(
        theirs.isspace() == mine.isspace() or unicodedata.east_asian_width(mine) in "WF"
        for theirs, mine in ends
    )


def _of_field(language: Language, name: str, form: str, english_form: str) -> Iterator[str]:
    choice = _CHOICE.fullmatch(form)
    if choice is None:
        plain = form[:1] in ("", ",", ".") and english_form[:1] in ("", ",", ".", "n")
        if form != english_form and not plain:
            yield f"{{{name}:{form}}}: English has “{english_form}”"
        return
    kind, rest = choice.groups()
    if kind == "n":
        yield f"{{{name}:n ...}} is English: use plural one=# ...|other=# ..."
        return
    forms = dict(one.split("=", 1) for one in rest.split("|") if "=" in one)
    if kind == "plural":
        # “other” stands in for a form of fractions
        needed = {*plural_forms(language.base), "other"}
        if set(forms) != needed:
            yield f"{{{name}:plural}} has {sorted(forms)}, and needs {sorted(needed)}"
    elif "other" not in forms:
        yield f"{{{name}:select}} has no other"


def sample_facts(text: str) -> dict[str, object]:
    """Facts that a text can be filled with."""
    found: dict[str, object] = {}
    for name, form in fields(text):
        if name == PRESSED:
            continue
        if form in _HALVES:
            found[name] = "disk-full"
        elif form == "list":
            found[name] = ["one", "two"]
        elif form:
            found[name] = 3
        else:
            found[name] = "NAME"
    return found


def write(language: Language, words: Mapping[str, Halves]) -> None:
    """Write the file of a language, in the order of the English tables."""
    order = [code for code in english() if code in words]
    texts = {code: list(words[code]) if words[code][1] else words[code][0] for code in order}
    FOLDER.mkdir(parents=True, exist_ok=True)
    value = {"language": language.code, "words": texts}
    text = json.dumps(value, ensure_ascii=False, indent=0)
    (FOLDER / f"{language.code}.json").write_text(text + "\n", encoding="utf-8")


def to_po(language: Language, words: Mapping[str, Halves], path: Path) -> None:
    """A PO file: context is the code, the comment names the facts with an example."""
    import polib

    file = polib.POFile()
    file.metadata = {
        "Language": language.qt,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Transfer-Encoding": "8bit",
    }
    for code, halves in english().items():
        own = words.get(code, ("", ""))
        for half, said, mine in zip(("", REMEDY), halves, own, strict=True):
            if said:
                file.append(
                    polib.POEntry(
                        msgctxt=f"{code}{half}", msgid=said, msgstr=mine, comment=_comment(said)
                    )
                )
    file.save(str(path))


def _comment(text: str) -> str:
    facts = sample_facts(text)
    if not facts:
        return ""
    try:
        example = worded(text, facts)
    except (KeyError, ValueError, TypeError):
        return ""
    return f"Facts: {', '.join(facts)}. For example: {example}"


def from_po(path: Path) -> tuple[str, dict[str, Halves]]:
    """The code of a PO file's language, and its texts; those not translated are left out."""
    import polib

    file = polib.pofile(str(path))
    found: dict[str, list[str]] = {}
    for entry in file:
        if entry.msgstr and not entry.fuzzy:
            code = entry.msgctxt.removesuffix(REMEDY)
            halves = found.setdefault(code, ["", ""])
            halves[entry.msgctxt.endswith(REMEDY)] = entry.msgstr
    named = file.metadata.get("Language", "")
    language = next((one for one in LANGUAGES if one.qt == named), None)
    if language is None:
        raise SystemExit(f"{path}: no language of the window is called {named!r}")
    return language.code, {code: (event, remedy) for code, (event, remedy) in found.items()}


def _words_of(language: Language) -> dict[str, Halves]:
    path = FOLDER / f"{language.code}.json"
    return read_words(path) if path.exists() else {}


def main(arguments: list[str]) -> int:
    match arguments:
        case ["english"]:
            shown = {
                code: list(halves) if halves[1] else halves[0] for code, halves in english().items()
            }
            print(json.dumps(shown, ensure_ascii=False, indent=0))
        case ["check", *codes]:
            return _check(codes)
        case ["sort", code]:
            write(_named(code), _words_of(_named(code)))
        case ["out", code, path]:
            to_po(_named(code), _words_of(_named(code)), Path(path))
        case ["in", path]:
            code, words = from_po(Path(path))
            write(_named(code), {**_words_of(_named(code)), **words})
        case _:
            print(__doc__)
            return 2
    return 0


def _check(codes: Iterable[str]) -> int:
    wrong = 0
    for language in [_named(one) for one in codes] or LANGUAGES[1:]:
        found = sorted(findings(language, _words_of(language)))
        for line in found:
            print(f"{language.code} {line}")
        wrong += len(found)
        print(f"{language.code}: {len(found)} findings")
    return 1 if wrong else 0


def _named(code: str) -> Language:
    found = language_of(code)
    if found is None:
        raise SystemExit(f"unknown language: {code}")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
