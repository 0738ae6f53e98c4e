"""Formulas as they are drawn here beside KaTeX, which nobody here wrote: each letter, digit and
sign with its style, and each line of a fraction or root. KaTeX comes from its npm package."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import tarfile
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

import mathra

from headstart.core.markdown.formula import Formula, formula
from headstart.core.markdown.latex import NotDrawn
from tests.benchmarks.peers import bench_cache

KATEX = "katex@0.16.22"
# the leaves of KaTeX's layout with their classes and those around them, and its lines
_SCRIPT = r"""
const katex = require(process.argv[1] + "/dist/katex.js");
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
const lines = ["frac-line", "hline", "overline-line", "underline-line", "sqrt"];
process.stdout.write(JSON.stringify(given.map((latex) => {
  const found = {signs: [], lines: 0, bars: false};
  const walk = (node, around) => {
    const own = node.classes || [];
    if ((node.style || {}).color === "transparent") return;
    if (lines.some((one) => own.includes(one))) found.lines += 1;
    // a frame has four sides; bars between columns cut lines across them
    if (own.includes("fbox")) found.lines += 4;
    if (own.includes("vertical-separator")) found.bars = true;
    if (node.text) found.signs.push([node.text, own.concat(around)]);
    for (const child of node.children || []) walk(child, own.concat(around));
  };
  try {
    walk(katex.__renderToHTMLTree(latex, {displayMode: true, strict: false}), []);
    return found;
  } catch (error) { return null; }
})));
"""
# KaTeX's stroke through a relation, and the relation with it
_OVER = "\ue020\u0338"
_CROSSED = {"=": "≠", "∈": "∉", "⊂": "⊄", "≡": "≢", "∼": "≁"}
# KaTeX's own places for signs
_PLACES = {"\ue131": "𝚤", "\ue237": "𝚥"}
# where KaTeX differs and is not right, or not better: exactly what differs, and why
KNOWN = {
    r"\mathbb{1}_{A}(x)": ("1 0 of 1, 𝟙 1 of 0", "KaTeX has no such digit"),
    r"\in, \notin, \ni, \subset, \supset, \emptyset, \varnothing": (
        "∈ 1 of 2", "its stroke comes later",
    ),
    r"\dddot{x}": (". 0 of 3", "it draws three points"),
    r"\pmb{x}, \bm{x}": ("𝑥 0 of 1", "it draws the letter three times"),
    r"\LaTeX": (
        "A 0 of 1, E 0 of 1, a 1 of 0, e 1 of 0", "small capitals of its sign",
    ),
    r"\text{Größe} = 5\,\text{cm}": ("o 0 of 1", "it draws ö as o with an accent"),
}  # fmt: skip
_TAG = re.compile(r"\\tag\*?\{[^{}]*\}")
# letters whose plain ones NFKC makes others of: slanted, bold, both
_VARIANTS = {
    "ϵ": "𝜖𝛜𝝐", "ϑ": "𝜗𝛝𝝑", "ϰ": "𝜘𝛞𝝒", "ϕ": "𝜙𝛟𝝓", "ϱ": "𝜚𝛠𝝔", "ϖ": "𝜛𝛡𝝕", "∂": "𝜕𝛛𝝏", "∇":
    "𝛻𝛁𝜵",
}  # fmt: skip
_VARIANT_OF = ("MATHEMATICAL ITALIC", "MATHEMATICAL BOLD", "MATHEMATICAL BOLD ITALIC")
_LAST_LATIN = 0x530
_OF_MATHS = ("MATHEMATICAL", "DOUBLE-STRUCK", "SCRIPT", "BLACK-LETTER", "PLANCK", "GREEK", "ALEF",
             "BET", "GIMEL", "DALET")  # fmt: skip
# signs that stand for several of one
_SEVERAL = {
    "2": ((1, "²"),),
    "3": ((1, "³"),),
    "′": ((2, "″"), (3, "‴"), (4, "⁗")),
    ":": ((1, "≔"), (1, "⩴")),
    "=": ((1, "≔"),),
}
_USE = re.compile(r'<use href="#\w+-[0-9a-f]+-g(\d+)"')
_STYLES = {
    "mathnormal": "MATHEMATICAL ITALIC", "mathit": "MATHEMATICAL ITALIC",
    "textit": "MATHEMATICAL ITALIC", "mathbf": "MATHEMATICAL BOLD",
    "textbf": "MATHEMATICAL BOLD", "boldsymbol": "MATHEMATICAL BOLD ITALIC",
    "mathbb": "MATHEMATICAL DOUBLE-STRUCK", "textbb": "MATHEMATICAL DOUBLE-STRUCK",
    "mathcal": "MATHEMATICAL SCRIPT", "mathscr": "MATHEMATICAL SCRIPT",
    "mathfrak": "MATHEMATICAL FRAKTUR", "mathtt": "MATHEMATICAL MONOSPACE",
    "texttt": "MATHEMATICAL MONOSPACE", "mathsf": "MATHEMATICAL SANS-SERIF",
    "textsf": "MATHEMATICAL SANS-SERIF",
}  # fmt: skip
# signs that are as high as what they enclose, or wide as what is below them
_STRETCHED = ("delimsizing", "delimcenter", "accent-body", "mult", "stretchy", "delim-size1",
              "delim-size4", "nulldelimiter")  # fmt: skip


class Layout(TypedDict):
    """KaTeX's: its signs with their classes, how many lines, and bars between columns."""

    signs: list[tuple[str, list[str]]]
    lines: int
    bars: bool


def wrong(formulas: Iterable[str]) -> dict[str, str]:
    """Formulas that are drawn, and not as KaTeX has them: the formula, and what differs."""
    # the number of a formula is no part of its drawing
    given = [_TAG.sub("", one) for one in formulas]
    found = {}
    for latex, layout in zip(given, _layouts(given), strict=True):
        drawn = formula(latex, True)
        if drawn is not None and layout is not None:
            differs = _difference(drawn, layout)
            if differs and differs != KNOWN.get(latex, ("", ""))[0]:
                found[latex] = differs
    return found


def _layouts(given: list[str]) -> list[Layout | None]:
    """None for a formula that KaTeX does not know."""
    answer = subprocess.run(
        ["node", "-e", _SCRIPT, str(_katex())],
        input=json.dumps(given), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return list(json.loads(answer.stdout))


def _katex() -> Path:
    target = bench_cache() / "outside" / KATEX
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as work:
            subprocess.run(["npm", "pack", KATEX], cwd=work, check=True, capture_output=True)
            (packed,) = Path(work).glob("*.tgz")
            with tarfile.open(packed) as archive:
                archive.extractall(work, filter="data")
            (Path(work) / "package").rename(target)
    return target


def _difference(drawn: Formula, layout: Layout) -> str:
    wanted: Counter[str] = Counter()
    crossed = False
    for text, classes in layout["signs"]:
        if any(one in classes for one in _STRETCHED):
            continue
        for one in text:
            # what lies over the next sign, or over the one before
            if one in _OVER or "rlap" in classes or "llap" in classes:
                crossed = True
            elif not _is_nothing(one):
                sign = _with_style(one, classes)
                wanted[_CROSSED.get(sign, sign) if crossed else sign] += 1
                crossed = False
    glyphs = Counter(_USE.findall(drawn.svg))
    said = []
    explained: set[str] = set()
    for sign, count in wanted.items():
        if _is_word(sign):
            continue
        ways = _ways(sign)
        explained |= ways
        here = sum(glyphs[one] for one in ways)
        for times, several in _SEVERAL.get(sign, ()):
            here += times * sum(glyphs[one] for one in _ways(several))
        if here < count:
            said.append(f"{sign} {here} of {count}")
    for glyph, count in glyphs.items():
        if glyph in _alphabet() and glyph not in explained:
            said.append(f"{_alphabet()[glyph]} {count} of 0")
    rects, lines = drawn.svg.count("<rect"), layout["lines"]
    if rects < lines or (rects > lines and not layout["bars"]):
        said.append(f"lines {rects} of {lines}")
    return ", ".join(said)


def _is_nothing(one: str) -> bool:
    return one.isspace() or unicodedata.category(one) in ("Cf", "Mn")


def _is_word(sign: str) -> bool:
    """True for a letter that the system's fonts draw."""
    known = ord(sign) < _LAST_LATIN or unicodedata.name(sign, "").startswith(_OF_MATHS)
    return sign.isalpha() and not known


def _with_style(one: str, classes: list[str]) -> str:
    """The letter of Unicode that has the style; upright ones as they are."""
    one = _PLACES.get(one, one)
    style = next((_STYLES[name] for name in classes if name in _STYLES), "")
    if not style or not one.isalnum():
        return one
    for wanted in (style, style.replace(" ITALIC", "") if "BOLD" in style else ""):
        found = wanted and _letters(wanted).get(one)
        if found:
            return found
    return one


@functools.cache
def _letters(style: str) -> dict[str, str]:
    """The letters of a style by their plain ones."""
    found: dict[str, str] = {}
    for place in range(0x1D400, 0x1D800):
        sign = chr(place)
        name = unicodedata.name(sign, "")
        rest = name.removeprefix(style + " ")
        if rest != name and rest.split(" ")[0] in ("SMALL", "CAPITAL", "DIGIT"):
            found.setdefault(unicodedata.normalize("NFKC", sign), sign)
    if style in _VARIANT_OF:
        at = _VARIANT_OF.index(style)
        found |= {plain: signs[at] for plain, signs in _VARIANTS.items()}
    if style in ("MATHEMATICAL ITALIC", "MATHEMATICAL DOUBLE-STRUCK", "MATHEMATICAL SCRIPT",
                 "MATHEMATICAL FRAKTUR"):  # fmt: skip
        kind = {"MATHEMATICAL ITALIC": "ℎ", "MATHEMATICAL DOUBLE-STRUCK": "ℂℍℕℙℚℝℤ",
                "MATHEMATICAL SCRIPT": "ℬℰℱℋℐℒℳℛℯℊℴ", "MATHEMATICAL FRAKTUR": "ℭℌℑℜℨ"}  # fmt: skip
        found |= {unicodedata.normalize("NFKC", one): one for one in kind[style]}
    return found


@functools.cache
def _ways(sign: str) -> frozenset[str]:
    """The outlines that mathra has for a sign alone, in all sizes."""
    upright = rf"\mathrm{{{sign}}}" if sign.isalnum() and sign == unicodedata.normalize(
        "NFKC", sign) else sign  # fmt: skip
    found: set[str] = set()
    for latex in {upright, _ESCAPED.get(sign, upright), *_ALSO.get(sign, ())}:
        for form in (
            latex,
            rf"{{}}^{{{latex}}}",
            rf"{{}}^{{{{}}^{{{latex}}}}}",
            rf"\textstyle {latex}",
        ):
            try:
                found.update(_USE.findall(mathra.render(form, display=True)["svg"]))
            except (ValueError, NotDrawn):
                continue
    return frozenset(found)


_ESCAPED = {one: rf"\{one}" for one in "%&#_${}"} | {"\\": r"\backslash"}
_ALSO = {
    "∑": (r"\sum",), "∏": (r"\prod",), "∐": (r"\coprod",), "∫": (r"\int",), "∮": (r"\oint",), "∬":
    (r"\iint",), "∭": (r"\iiint",), "⋃": (r"\bigcup",), "⋂": (r"\bigcap",), "⨁": (r"\bigoplus",),
    "⨂": (r"\bigotimes",), "⋁": (r"\bigvee",), "⋀": (r"\bigwedge",), "∣": ("|", r"\mid",
    r"\middle|"), "∥": (r"\|", r"\parallel"), "⋅": (r"\cdot",), "⟹": (r"\implies",), "⟺":
    (r"\iff",), "⟸": (r"\impliedby",), "⋯": (r"\cdots", r"\dots"), "∙": (r"\bullet",), "⟶":
    (r"\longrightarrow",), "⟼": (r"\longmapsto",),
}  # fmt: skip


@functools.cache
def _alphabet() -> dict[str, str]:
    """Letters and digits by their outlines, of all styles."""
    plain = "".join(map(chr, (*range(48, 58), *range(65, 91), *range(97, 123))))
    greek = "".join(map(chr, (*range(0x391, 0x3AA), *range(0x3B1, 0x3CA))))
    styled = "".join(chr(one) for one in range(0x1D400, 0x1D800) if unicodedata.name(chr(one), ""))
    return {way: sign for sign in plain + greek + styled for way in _ways(sign)}


def styled() -> list[str]:
    """Each letter and digit in each style that models write."""
    digits, small = [*map(chr, range(48, 58))], [*map(chr, range(97, 123))]
    capitals = [*map(chr, range(65, 91))]
    found = [*digits, *small, *capitals]
    for command, letters in _COMMANDS.items():
        kinds = (("A", capitals), ("a", small), ("0", digits))
        chosen = [one for kind, few in kinds if kind in letters for one in few]
        found += [rf"\{command}{{{letter}}}" for letter in chosen]
    greek = [rf"\{name}" for name in _GREEK + _GREEK_CAPITALS + _SIGNS]
    leaning = [rf"\var{name}" for name in _GREEK_CAPITALS]
    styled = [rf"\{style}{{\{name}}}" for style in ("boldsymbol", "bm") for name in _GREEK]
    styles = ("boldsymbol", "bm", "mathbf", "mathit", "mathrm")
    raised = [rf"\{style}{{\{name}}}" for style in styles for name in _GREEK_CAPITALS]
    return [*found, *greek, *leaning, *styled, *raised]


# which letters KaTeX has in the style: capital, small, digits
_COMMANDS = {
    "mathbf": "Aa0", "mathit": "Aa0", "mathrm": "Aa0", "mathsf": "Aa0", "mathtt": "Aa0",
    "mathbb": "A", "mathcal": "A", "mathscr": "A", "mathfrak": "Aa", "boldsymbol": "Aa0",
    "bm": "Aa0", "text": "Aa0", "textbf": "Aa0", "textit": "Aa0", "texttt": "Aa0",
    "textsf": "Aa0", "textrm": "Aa0", "emph": "Aa0", "operatorname": "Aa0",
}  # fmt: skip
_GREEK = [
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta",
    "vartheta", "iota", "kappa", "lambda", "mu", "nu", "xi", "pi", "varpi", "rho", "varrho",
    "sigma", "varsigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega",
]  # fmt: skip
_GREEK_CAPITALS = [
    "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
]  # fmt: skip
_SIGNS = ["partial", "nabla", "aleph", "hbar", "ell", "Re", "Im", "wp", "imath", "jmath"]
