"""HTML of a reply, as in Google's exports, to Markdown. Keeps text and structure; fetches
nothing."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "s": "~~", "del": "~~"}
_BLOCKS = {
    "p",
    "div",
    "section",
    "article",
    "table",
    "ul",
    "ol",
    "blockquote",
    "pre",
    "hr",
    *_HEADINGS,
}
_NO_TAG, _TAG = re.compile(r"<(?![^<>]*>)"), re.compile(r"<[^<>]*>")
_SILENT = {"script", "style", "head", "title"}
_DEEPEST = 200


def to_markdown(html: str) -> str:
    # escape a < that begins no tag: the parser would search the whole rest for its end
    html = _NO_TAG.sub("&lt;", html)
    writer = _Writer()
    try:
        writer.feed(html)
        writer.close()
    except AssertionError:
        # raised by Python's own parser for unknown markup
        return " ".join(unescape(_TAG.sub(" ", html)).split())
    return writer.text


class _Writer(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._out: list[str] = []
        self._lists: list[int | None] = []
        self._link = ""
        self._silent = self._pre = 0
        self._cells = 0
        self._header_done = False

    @property
    def text(self) -> str:
        lines = "".join(self._out).split("\n")
        found: list[str] = []
        for line in lines:
            if line.strip() or (found and found[-1]):
                found.append(line.rstrip() if not line.endswith("  ") else line)
        return "\n".join(found).strip("\n")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in _SILENT:
            self._silent += 1
        elif tag in _HEADINGS:
            self._block()
            self._out.append(f"{_HEADINGS[tag]} ")
        elif tag in _MARKS and not self._pre:
            self._out.append(_MARKS[tag])
        elif tag == "code" and not self._pre:
            self._out.append("`")
        elif tag == "pre":
            self._block()
            self._out.append("```\n")
            self._pre += 1
        elif tag == "br":
            self._out.append("\n")
        elif tag in ("ul", "ol") and len(self._lists) < _DEEPEST:
            if not self._lists:
                self._block()
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._item()
        elif tag == "a":
            address = given.get("href") or ""
            self._link = address if address.startswith(("http://", "https://")) else ""
            self._out.append("[" if self._link else "")
        elif tag == "tr":
            self._cells = 0
            self._out.append("\n")
        elif tag in ("td", "th"):
            self._out.append("| ")
            self._cells += 1
        elif tag == "table":
            self._block()
            self._header_done = False
        elif tag == "hr":
            self._block()
            self._out.append("---")
            self._block()
        elif tag in _BLOCKS:
            self._block()

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag in _MARKS and not self._pre:
            self._out.append(_MARKS[tag])
        elif tag == "code" and not self._pre:
            self._out.append("`")
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self._out.append("" if self._out and self._out[-1].endswith("\n") else "\n")
            self._out.append("```")
            self._block()
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            if not self._lists:
                self._block()
        elif tag == "a":
            self._out.append(f"]({self._link})" if self._link else "")
            self._link = ""
        elif tag in ("td", "th"):
            self._out.append(" ")
        elif tag == "tr":
            self._out.append("|")
            if not self._header_done:
                self._header_done = True
                self._out.append("\n" + "|---" * self._cells + "|")
        elif tag in _BLOCKS:
            self._block()

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._pre:
            self._out.append(data)
            return
        words = " ".join(data.split())
        if not words:
            if data and self._out and not self._out[-1].endswith(("\n", " ")):
                self._out.append(" ")
            return
        before = " " if data[0].isspace() and self._out and self._out[-1][-1:] not in "\n " else ""
        self._out.append(f"{before}{words}{' ' if data[-1].isspace() else ''}")

    def _item(self) -> None:
        depth = max(0, len(self._lists) - 1)
        mark = "-"
        if self._lists and self._lists[-1] is not None:
            self._lists[-1] += 1
            mark = f"{self._lists[-1]}."
        self._out.append(f"\n{'   ' * depth}{mark} ")

    def _block(self) -> None:
        if self._out and not self._lists:
            self._out.append("\n\n")
