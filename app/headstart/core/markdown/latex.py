"""Rewrites LaTeX that mathra draws wrong, or does not know, as LaTeX that it draws right. Pure.

Styled digits and words become Unicode letters of that style; a bar between columns becomes a
delimiter between two arrays; a few commands are replaced by synonyms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# the first characters of Unicode's alphabets: capital, small, digit; 0 if there is none
_ALPHABETS = {
    "bold": (0x1D400, 0x1D41A, 0x1D7CE),
    "double": (0x1D538, 0x1D552, 0x1D7D8),
    "typewriter": (0x1D670, 0x1D68A, 0x1D7F6),
    "sans": (0x1D5A0, 0x1D5BA, 0x1D7E2),
    "italic": (0x1D434, 0x1D44E, 0),
}
# characters that Unicode had before it had the alphabets
_EARLIER = {
    0x1D455: "ℎ", 0x1D53A: "ℂ", 0x1D53F: "ℍ", 0x1D545: "ℕ", 0x1D547: "ℙ", 0x1D548: "ℚ",
    0x1D549: "ℝ", 0x1D551: "ℤ",
}  # fmt: skip
# digits only: mathra has the letters of these styles
_OF_MATHS = {
    "mathbf": "bold", "boldsymbol": "bold", "bm": "bold", "pmb": "bold", "mathbb": "double",
    "mathtt": "typewriter", "mathsf": "sans", "mathit": "",
}  # fmt: skip
# letters and digits
_OF_WORDS = {
    "textbf": "bold", "texttt": "typewriter", "textsf": "sans", "textit": "italic",
    "emph": "italic",
}  # fmt: skip
ARRAY = re.compile(r"\\begin\s*\{array\}\s*(?:\[[tcb]\]\s*)?\{(?P<columns>[^{}]*)\}")
_END = r"\end{array}"
_NESTED = re.compile(r"\\(begin|end)\s*\{")
_SMASH = re.compile(r"\\smash\s*+(?:\[[tb]\]\s*+)?(?=\{)")
_ROOT = re.compile(r"\\root\s*(\{[^{}]*\}|[^\s\\])\s*\\of\s*(\{[^{}]*\}|\\?\w+)")
_OTHERS = (
    (r"\varliminf", r"\mathop{\underline{\lim}}"),
    (r"\varlimsup", r"\mathop{\overline{\lim}}"),
)
# Greek letters that mathra has upright in every style: slanted, then bold
_GREEK = {
    "phi": "\U0001d719\U0001d753", "epsilon": "\U0001d716\U0001d750",
    "vartheta": "\U0001d717\U0001d751", "varkappa": "\U0001d718\U0001d752",
    "varrho": "\U0001d71a\U0001d754", "varpi": "\U0001d71b\U0001d755",
    "upsilon": "\U0001d710\U0001d74a",
}  # fmt: skip
# capitals by position in the alphabet: bold ones stand upright, others lean on request
_CAPITALS = {
    "Gamma": 2, "Delta": 3, "Theta": 7, "Lambda": 10, "Xi": 13, "Pi": 15, "Sigma": 18,
    "Upsilon": 20, "Phi": 21, "Psi": 23, "Omega": 24,
}  # fmt: skip
_BOLD_CAPITALS, _ITALIC_CAPITALS = 0x1D6A8, 0x1D6E2
_CAPITAL = re.compile(rf"\\(?P<name>{'|'.join(_CAPITALS)})(?![A-Za-z])")
_LEANING = re.compile(rf"\\var(?P<name>{'|'.join(_CAPITALS)})(?![A-Za-z])")
_LETTER = re.compile(rf"\\(?P<name>{'|'.join(_GREEK)})(?![A-Za-z])")
_STYLED = re.compile(
    rf"\\(?P<command>{'|'.join((*_OF_MATHS, *_OF_WORDS))})\s*"
    rf"(?P<given>\{{|\d|\\(?:{'|'.join((*_GREEK, *_CAPITALS))})(?![A-Za-z]))"
)
# a line below words, which stand upright
_UNDERBAR = re.compile(r"\\underbar\s*(?=\{)")
_DEEPEST = 20


class NotDrawn(ValueError):
    """The formula would be drawn wrong."""


def drawable(latex: str) -> str:
    """The same formula for mathra; raises NotDrawn if it cannot be drawn right."""
    text = _with_root(_SMASH.sub("", latex))
    for command, other in _OTHERS:
        text = re.sub(re.escape(command) + r"(?![A-Za-z])", other.replace("\\", r"\\"), text)
    text = _with_capitals(_LEANING, _ITALIC_CAPITALS, _with_underbars(text))
    return _with_bars(_greek(_with_styles(_without_links(text)), "italic"))


def spoken(words: str) -> str:
    """The formula's text for screen readers: styled letters become plain ones."""
    return unicodedata.normalize("NFKC", words)


def closing(text: str, at: int) -> int:
    """Position after the brace that closes the one at `at`; raises NotDrawn if none does."""
    depth = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
        if not depth:
            return at
    raise NotDrawn("a brace is not closed")


def _without_links(text: str) -> str:
    """Keep only the text of links."""
    while (found := re.search(r"\\href\s*(?=\{)", text)) is not None:
        end = closing(text, found.end())
        text = text[: found.start()] + text[end:]
    return text


def _with_underbars(text: str) -> str:
    while (found := _UNDERBAR.search(text)) is not None:
        end = closing(text, found.end())
        words = rf"\underline{{\text{text[found.end() : end]}}}"
        text = text[: found.start()] + words + text[end:]
    return text


def _with_root(text: str) -> str:
    def rooted(found: re.Match[str]) -> str:
        return rf"\sqrt[{found[1].strip('{}')}]{{{found[2].removeprefix('{').removesuffix('}')}}}"

    return _ROOT.sub(rooted, text)


# --- styles ------------------------------------------------------------------------------


def _with_styles(text: str, depth: int = 0) -> str:
    pieces, at = [], 0
    while (found := _STYLED.search(text, at)) is not None:
        command = found["command"]
        begin = found.start("given")
        end = closing(text, begin) if found["given"] == "{" else found.end()
        inside = text[begin:end].removeprefix("{").removesuffix("}")
        pieces.append(text[at : found.start()])
        if command in _OF_WORDS:
            pieces.append(rf"\text{{{_words(inside, _OF_WORDS[command])}}}")
        else:
            inner = _with_styles(inside, depth + 1) if depth < _DEEPEST else inside
            style = _OF_MATHS[command]
            inner = _greek(_capitals(_digits(inner, style), command), style)
            pieces.append(rf"\{command}{{{inner}}}")
        at = end
    return "".join((*pieces, text[at:]))


def _digits(text: str, style: str) -> str:
    if not style:
        return text
    first = _ALPHABETS[style][2]
    # digits in commands and sizes are left alone
    return re.sub(r"[0-9]", lambda found: chr(first + int(found[0])), text)


def _greek(text: str, style: str) -> str:
    if style not in ("italic", "bold"):
        return text
    return _LETTER.sub(lambda found: f"{_GREEK[found['name']][style == 'bold']} ", text)


def _capitals(text: str, command: str) -> str:
    if command == "mathit":
        return _with_capitals(_CAPITAL, _ITALIC_CAPITALS, text)
    if command in ("boldsymbol", "bm", "pmb"):
        return _with_capitals(_CAPITAL, _BOLD_CAPITALS, text)
    return text


def _with_capitals(names: re.Pattern[str], first: int, text: str) -> str:
    return names.sub(lambda found: f"{chr(first + _CAPITALS[found['name']])} ", text)


def _words(text: str, style: str) -> str:
    if re.search(r"[\\${}]", text):
        raise NotDrawn("more than words")
    return "".join(_sign(one, style) for one in text)


def _sign(one: str, style: str) -> str:
    capital, small, digit = _ALPHABETS[style]
    for begins, first in (("A", capital), ("a", small), ("0", digit)):
        count = 10 if begins == "0" else 26
        place = ord(one) - ord(begins)
        if 0 <= place < count:
            if not first:
                return one
            return _EARLIER.get(first + place, chr(first + place))
    if one.isalnum():
        # the style lacks that letter
        raise NotDrawn("a letter without the style")
    return one


# --- bars between columns ----------------------------------------------------------------


def _with_bars(text: str, depth: int = 0) -> str:
    pieces, at = [], 0
    while (found := ARRAY.search(text, at)) is not None:
        body_end = _array_end(text, found.end())
        columns = found["columns"].replace(" ", "")
        body = text[found.end() : body_end]
        body = _with_bars(body, depth + 1) if depth < _DEEPEST else body
        pieces.append(text[at : found.start()])
        pieces.append(_barred(columns, body))
        at = body_end + len(_END)
    return "".join((*pieces, text[at:]))


def _array_end(text: str, at: int) -> int:
    depth = 1
    for found in _NESTED.finditer(text, at):
        depth += 1 if found[1] == "begin" else -1
        if not depth:
            if not text.startswith(_END, found.start()):
                break
            return found.start()
    raise NotDrawn("an array is not closed")


def _barred(columns: str, body: str) -> str:
    if ":" in columns or "@" in columns or "hdashline" in body:
        raise NotDrawn("dashes between columns")
    plain = columns.replace("|", "")
    if "|" not in columns:
        return rf"\begin{{array}}{{{plain}}}{body}{_END}"
    rows = [list(_split(row, "&")) for row in _split(body, r"\\")]
    parts, first = [], 0
    left = "|" if columns.startswith("|") else "."
    right = "|" if columns.endswith("|") else "."
    groups = [group for group in columns.split("|") if group]
    for group in groups:
        last = first + len(group)
        lines = [_row(cells, first, last) for cells in rows]
        inside = r" \\ ".join(lines)
        parts.append(rf"\begin{{array}}{{{group}}}{inside}{_END}")
        first = last
    between = r"\,\middle|\,".join(parts)
    return rf"\left{left}{between}\right{right}"


def _row(cells: list[str], first: int, last: int) -> str:
    """Some cells of a row, as tall as the whole row; horizontal lines span each part."""
    lines = re.findall(r"\\hline", cells[0]) if cells else []
    own = [cell.replace(r"\hline", "") for cell in cells]
    others = "".join(own[:first] + own[last:])
    shown = " & ".join(own[first:last])
    if not any(cell.strip() for cell in own):
        return " ".join(lines) + shown
    strut = rf"\vphantom{{{others}}}" if others.strip() else ""
    return f"{' '.join(lines)} {strut}{shown}"


def _split(text: str, mark: str) -> Iterator[str]:
    """Pieces between marks, ignoring marks inside braces or other environments."""
    depth = at = begin = 0
    while at < len(text):
        if text.startswith(mark, at) and not depth:
            yield text[begin:at]
            at += len(mark)
            begin = at
            continue
        nested = _NESTED.match(text, at)
        if nested is not None:
            depth += 1 if nested[1] == "begin" else -1
            at = nested.end() - 1
            at = closing(text, at)
            continue
        if text[at] == "\\":
            at += 2
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
    yield text[begin:]
