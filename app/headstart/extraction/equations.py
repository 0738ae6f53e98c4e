"""Word's equations (Office Math) as LaTeX text. Pure.

Elements as in ECMA-376, part 1, 22.1; an unknown element yields its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_NARY = {"∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint", "∑": r"\sum", "∏": r"\prod",
         "⋃": r"\bigcup", "⋂": r"\bigcap", "∐": r"\coprod"}  # fmt: skip
_ACCENTS = {"̂": r"\hat", "̃": r"\tilde", "̅": r"\bar", "̇": r"\dot", "̈": r"\ddot", "⃗": r"\vec",
            "̌": r"\check", "̆": r"\breve", "̄": r"\bar"}  # fmt: skip
_FENCES = {"{": r"\{", "}": r"\}", "⟨": r"\langle", "⟩": r"\rangle", "‖": r"\|", "⌈": r"\lceil",
           "⌉": r"\rceil", "⌊": r"\lfloor", "⌋": r"\rfloor", "": "."}  # fmt: skip
_FUNCTIONS = frozenset(
    ("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos",
     "arctan", "log", "ln", "lg", "exp", "lim", "max", "min", "sup", "inf", "det", "dim", "gcd",
     "deg", "ker", "arg")
)  # fmt: skip
_SIGNS = {
    "·": r"\cdot ", "×": r"\times ", "÷": r"\div ", "±": r"\pm ", "≤": r"\le ", "≥": r"\ge ",
    "≠": r"\ne ", "≈": r"\approx ", "∞": r"\infty ", "→": r"\to ", "∂": r"\partial ",
    "∈": r"\in ", "∀": r"\forall ", "∃": r"\exists ", "−": "-", "∇": r"\nabla ", "√": r"\surd ",
    "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ", "ε": r"\varepsilon ",
    "θ": r"\theta ", "λ": r"\lambda ", "μ": r"\mu ", "π": r"\pi ", "σ": r"\sigma ", "τ": r"\tau ",
    "φ": r"\varphi ", "ω": r"\omega ", "Δ": r"\Delta ", "Σ": r"\Sigma ", "Ω": r"\Omega ",
    "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "{": r"\{", "}": r"\}",
}  # fmt: skip


def latex_of(math: Element) -> str:
    """The LaTeX of an `m:oMath`, without dollars."""
    return _inside(math).strip()


def _inside(element: Element | None) -> str:
    return "" if element is None else "".join(_pieces(element))


def _pieces(element: Element) -> Iterator[str]:
    for child in element:
        name = child.tag.removeprefix(M)
        make = _KINDS.get(name)
        if make is not None:
            yield make(child)
        elif not name.endswith("Pr"):
            yield _inside(child)


def _part(element: Element, name: str) -> str:
    return _inside(element.find(f"{M}{name}"))


def _property(element: Element, name: str, otherwise: str) -> str:
    """A value among the properties of an element."""
    found = element.find(f"{M}{element.tag.removeprefix(M)}Pr/{M}{name}")
    return otherwise if found is None else found.get(f"{M}val", "")


def _grouped(text: str) -> str:
    return "{" + text.strip() + "}"


def _run(element: Element) -> str:
    text = "".join(one.text or "" for one in element.iter(f"{M}t"))
    plain = element.find(f"{M}rPr/{M}nor") is not None
    if plain and len(text.strip()) > 1:
        return rf"\text{{{text}}}"
    return "".join(_SIGNS.get(one, one) for one in text)


def _fraction(element: Element) -> str:
    above, below = _part(element, "num"), _part(element, "den")
    if _property(element, "type", "") == "noBar":
        return rf"\binom{_grouped(above)}{_grouped(below)}"
    return rf"\frac{_grouped(above)}{_grouped(below)}"


def _base(element: Element) -> str:
    text = _part(element, "e").strip()
    return text if len(text) == 1 or text.startswith("\\") else _grouped(text)


def _radical(element: Element) -> str:
    degree = _part(element, "deg").strip()
    return rf"\sqrt{f'[{degree}]' if degree else ''}{_grouped(_part(element, 'e'))}"


def _nary(element: Element) -> str:
    sign = _property(element, "chr", "∫")
    below, above = _part(element, "sub").strip(), _part(element, "sup").strip()
    limits = (f"_{_grouped(below)}" if below else "") + (f"^{_grouped(above)}" if above else "")
    return f"{_NARY.get(sign, sign)}{limits} {_part(element, 'e')}"


def _fenced(element: Element) -> str:
    left, right = _property(element, "begChr", "("), _property(element, "endChr", ")")
    between = _property(element, "sepChr", "|") or "|"
    inside = f" {between} ".join(_inside(one) for one in element.findall(f"{M}e"))
    if left == "(" and right == ")" and "\\" not in inside:
        return f"({inside})"
    return rf"\left{_FENCES.get(left, left)} {inside} \right{_FENCES.get(right, right)}"


def _function(element: Element) -> str:
    name = _part(element, "fName").strip()
    plain = name.removeprefix(r"\text{").removesuffix("}")
    known = f"\\{plain}" if plain in _FUNCTIONS else name
    return f"{known} {_part(element, 'e')}"


def _matrix(element: Element) -> str:
    rows = [
        " & ".join(_inside(cell).strip() for cell in row.findall(f"{M}e"))
        for row in element.findall(f"{M}mr")
    ]
    return _environment("matrix", rows)


def _equations(element: Element) -> str:
    rows = [_inside(one).strip() for one in element.findall(f"{M}e")]
    return _environment("aligned", rows)


def _environment(name: str, rows: list[str]) -> str:
    inside = r" \\ ".join(rows)
    return rf"\begin{{{name}}} {inside} \end{{{name}}}"


def _accent(element: Element) -> str:
    sign = _property(element, "chr", "̂")
    command = _ACCENTS.get(sign, r"\hat")
    return f"{command}{_grouped(_part(element, 'e'))}"


def _bar(element: Element) -> str:
    above = _property(element, "pos", "bot") == "top"
    return rf"\{'over' if above else 'under'}line{_grouped(_part(element, 'e'))}"


def _both(element: Element) -> str:
    below, above = _part(element, "sub"), _part(element, "sup")
    return f"{_base(element)}_{_grouped(below)}^{_grouped(above)}"


_KINDS: dict[str, Callable[[Element], str]] = {
    "r": _run,
    "f": _fraction,
    "sSup": lambda one: f"{_base(one)}^{_grouped(_part(one, 'sup'))}",
    "sSub": lambda one: f"{_base(one)}_{_grouped(_part(one, 'sub'))}",
    "sSubSup": _both,
    "sPre": lambda one: (
        f"{{}}_{_grouped(_part(one, 'sub'))}^{_grouped(_part(one, 'sup'))}{_base(one)}"
    ),
    "rad": _radical,
    "nary": _nary,
    "d": _fenced,
    "func": _function,
    "m": _matrix,
    "eqArr": _equations,
    "acc": _accent,
    "bar": _bar,
    "limLow": lambda one: f"{_part(one, 'e').strip()}_{_grouped(_part(one, 'lim'))}",
    "limUpp": lambda one: f"{_part(one, 'e').strip()}^{_grouped(_part(one, 'lim'))}",
    "groupChr": lambda one: rf"\underbrace{_grouped(_part(one, 'e'))}",
}
