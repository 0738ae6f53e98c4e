"""The text of PDF, Word and HTML files, as Markdown if they have structure.

In the child process only: PDFium may crash on a damaged file, and is not thread-safe.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable
from typing import Any

from headstart.core.chats.attachments import LONGEST
from headstart.core.errors import EnvironmentProblem
from headstart.extraction.columns import Box, Sign, is_vertical, reading_order, vertical_text
from headstart.extraction.pdfium import pdfium
from headstart.extraction.word import word_parts

Progress = Callable[[int, int], None]
# letters of a page that are looked at
_SAMPLED = 200
# most bytes of an unpacked Word file, and its largest ratio to the packed size
_UNPACKED, _RATIO = 400 << 20, 200
# PDFium's mark for a word that continues on the next line
_HYPHEN = re.compile("[\x02\ufffe]\r?\n?")
# elements of a page without readable text
_NO_TEXT = ("script", "style", "noscript", "template", "svg", "head", "iframe", "object")
# elements closed by the next one of their kind, and the elements in which they may nest again
_ENDS = (
    (("li",), ("ul", "ol", "menu")),
    (("tr",), ("table",)),
    (("td", "th"), ("tr",)),
    (("dt", "dd"), ("dl",)),
    (("p",), ("td", "th", "li", "blockquote")),
)
# characters that may be written vertically, and the least number that a vertical page has
_FIRST_WIDE, _LAST_WIDE, _WIDE_SIGNS = "\u2e80", "\uffdc", 8
# lines of a page from which on it may be scattered, and the least gap between words in line heights
_LEAST_SCATTERED, _SPACE = 8, 0.1
# points by which the box of a part is reduced before its text is read
_INSET = 0.2
_LINE_END = re.compile(r"(?<![ \t])[ \t]*+\r?\n")
_GAPS = re.compile(r"\n{3,}")


def read_pdf(data: bytes, name: str, progress: Progress) -> list[str]:
    """One text for each page, "" for a page that is only a picture. Raises EnvironmentProblem."""
    pypdfium2 = pdfium()
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        encrypted = "password" in str(error).lower() or "security" in str(error).lower()
        raise EnvironmentProblem(
            "attachment-encrypted" if encrypted else "attachment-damaged", name=name
        ) from error
    with contextlib.suppress(pypdfium2.PdfiumError):
        document.init_forms()
    count, pages, length = len(document), list[str](), 0
    if not count:
        raise EnvironmentProblem("attachment-damaged", name=name)
    for index in range(count):
        pages.append(_page_text(document, index))
        length += len(pages[-1])
        if length > LONGEST:
            raise EnvironmentProblem("attachment-too-long", name=name)
        progress(index + 1, count)
    return pages


def _page_text(document: Any, index: int) -> str:
    """A page's text; "" for an unreadable page, so that the other pages can be read."""
    import pypdfium2
    from pypdfium2 import raw

    try:
        page = document[index]
        # make field values, notes and stamps a part of the page, as viewers show them
        if raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS:
            page.close()
            page = document[index]
        text_page = page.get_textpage()
        quarters = _quarters(text_page)
        if page.get_rotation() != quarters * 90:
            # the order of lines depends on the page's rotation
            text_page.close()
            page.set_rotation(quarters * 90)
            text_page = page.get_textpage()
        if quarters:
            # for rotated text PDFium's bounded call loses line ends
            found = str(text_page.get_text_range())
        else:
            found = _in_order(text_page, str(text_page.get_text_bounded()))
            if _is_scattered(str(text_page.get_text_range())):
                found = _gathered(text_page)
        text_page.close()
        page.close()
    except pypdfium2.PdfiumError:
        return ""
    text = _HYPHEN.sub("", found).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    # lone surrogates, from fonts without names for their glyphs
    return text.encode("utf-8", "ignore").decode()


def _in_order(page: Any, text: str) -> str:
    """A page's text in reading order: by columns, or vertically; `text` itself if any of its
    letters would be lost."""
    wide = sum(_FIRST_WIDE <= one <= _LAST_WIDE for one in text)
    if wide > _WIDE_SIGNS and 2 * wide > len(text) and (signs := _vertical(page)):
        found = vertical_text(signs)
    else:
        rects = [Box(*page.get_rect(index)) for index in range(page.count_rects())]
        right = sum(unicodedata.bidirectional(one) in ("R", "AL") for one in text)
        parts = reading_order(rects, from_right=2 * right > len(text))
        if len(parts) <= 1:
            return text
        found = "\n".join(
            str(page.get_text_bounded(b.left, b.bottom + _INSET, b.right, b.top - _INSET))
            for b in parts
        )
    found = _LINE_END.sub("\n", found)
    return found if _letters(found) == _letters(text) else text


def _is_scattered(text: str) -> bool:
    """True if most lines are a letter or two: PDFium takes each for a line of its own on short
    pages whose letters are placed one by one."""
    lines = [one for one in text.split("\n") if one.strip()]
    short = sum(len(one.strip()) <= 2 for one in lines)
    return len(lines) > _LEAST_SCATTERED and 2 * short > len(lines)


def _gathered(page: Any) -> str:
    """The letters of a page in the order of its content, in lines and words by their places."""
    from pypdfium2 import raw

    found, before = list[str](), None
    for index in range(page.count_chars()):
        sign = chr(raw.FPDFText_GetUnicode(page, index))
        if sign.isspace() or unicodedata.category(sign) == "Cc":
            continue
        # loose boxes have the height of the font
        box = Box(*page.get_charbox(index, loose=True))
        if before is not None:
            middle = (box.bottom + box.top) / 2
            same = before.bottom < middle < before.top and box.left > before.left
            if not same:
                found.append("\n")
            elif box.left - before.right > _SPACE * min(box.height, before.height):
                found.append(" ")
        found.append(sign)
        before = box
    return "".join(found)


def _letters(text: str) -> Counter[str]:
    return Counter(one for one in text if one.isalnum())


def _vertical(page: Any) -> list[Sign]:
    """The characters of a vertically written page, else none."""
    from pypdfium2 import raw

    signs = []
    for index in range(page.count_chars()):
        sign = chr(raw.FPDFText_GetUnicode(page, index))
        if not sign.isspace() and unicodedata.category(sign) != "Cc":
            signs.append(Sign(sign, Box(*page.get_charbox(index, loose=True))))
    return signs if is_vertical([one for one in signs if one.text >= _FIRST_WIDE]) else []


def _quarters(page: Any) -> int:
    """Quarter turns clockwise after which most of a page's letters stand upright."""
    from pypdfium2 import raw

    count = page.count_chars()
    angles = Counter(
        round(raw.FPDFText_GetCharAngle(page, at) / (math.pi / 2)) % 4
        for at in range(0, count, max(1, count // _SAMPLED))
    )
    # PDFium's angles are clockwise
    return -angles.most_common(1)[0][0] % 4 if angles else 0


def read_docx(data: bytes, name: str) -> str:
    """Headings, lists, tables and equations (as LaTeX) as Markdown, then headers, footers and
    comments; pictures are left out. Raises EnvironmentProblem."""
    import mammoth

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > min(_UNPACKED, max(1 << 20, len(data) * _RATIO)):
            raise EnvironmentProblem("attachment-too-large", name=name)
    try:
        prepared, beside = word_parts(data)
        html = mammoth.convert_to_html(
            io.BytesIO(prepared),
            convert_image=lambda _image: [],
            style_map="comment-reference => sup",
        ).value
    except RecursionError:
        raise
    except Exception as error:
        # any exception that a damaged file causes
        raise EnvironmentProblem("attachment-damaged", name=name) from error
    return "\n\n".join(filter(None, (read_html(html), *beside)))


def read_html(page: str) -> str:
    """A page's text as Markdown, without scripts, styles and pictures. Raises RecursionError."""
    import warnings

    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    class Converter(MarkdownConverter):
        def convert_img(self, element: Any, _text: str = "", **_: Any) -> str:
            return str(element.attrs.get("alt") or "")

    with warnings.catch_warnings():
        # about input that looks like another format: it is parsed regardless
        warnings.simplefilter("ignore")
        soup = BeautifulSoup(page, "html.parser")
        title = soup.title.get_text(" ", strip=True) if soup.title is not None else ""
        headed = soup.find("h1") is not None
        for element in soup(_NO_TEXT):
            element.decompose()
        _close(soup)
        made = Converter(heading_style="ATX", bullets="-", strip=[]).convert_soup(soup)
    text = _GAPS.sub("\n\n", str(made)).strip()
    return f"# {title}\n\n{text}" if title and not headed and text else text or title


def _close(soup: Any) -> None:
    """Close elements left open, which Python's parser takes as nested."""
    for names, inside in _ENDS:
        for element in soup.find_all(list(names)):
            for outer in element.parents:
                if outer.name in inside:
                    break
                if outer.name in names:
                    outer.insert_after(element)
                    break
