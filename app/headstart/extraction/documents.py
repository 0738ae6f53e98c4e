"""The text of PDF, Word and HTML files, as Markdown where they have structure.

In the child process only: PDFium may crash on a damaged file, and is not safe in threads.
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
# bytes of a Word file, unpacked, and how much more that may be than the file
_UNPACKED, _RATIO = 400 << 20, 200
# how PDFium marks a word that goes on in the next line
_HYPHEN = re.compile("[\x02\ufffe]\r?\n?")
# parts of a page that are no text to read
_NO_TEXT = ("script", "style", "noscript", "template", "svg", "head", "iframe", "object")
# elements that end where the next of their kind begins, and what they may be nested in again
_ENDS = (
    (("li",), ("ul", "ol", "menu")),
    (("tr",), ("table",)),
    (("td", "th"), ("tr",)),
    (("dt", "dd"), ("dl",)),
    (("p",), ("td", "th", "li", "blockquote")),
)
# signs that may be written from top to bottom, and how many a page has for that
_FIRST_WIDE, _LAST_WIDE, _WIDE_SIGNS = "\u2e80", "\uffdc", 8
# points by which a part of a page is read inside of its edges
_INSET = 0.2
_LINE_END = re.compile(r"[ \t]*\r?\n")
_GAPS = re.compile(r"\n{3,}")


def read_pdf(data: bytes, name: str, progress: Progress) -> list[str]:
    """One text for each page, "" where there is only a picture. Raises EnvironmentProblem."""
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
    """A page's text; "" for an unreadable page, so that the others are read."""
    import pypdfium2
    from pypdfium2 import raw

    try:
        page = document[index]
        # values of fields, notes and stamps become a part of the page, as viewers show them
        if raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS:
            page.close()
            page = document[index]
        text_page = page.get_textpage()
        quarters = _quarters(text_page)
        if page.get_rotation() != quarters * 90:
            # the order of lines is that of the page as it is shown
            text_page.close()
            page.set_rotation(quarters * 90)
            text_page = page.get_textpage()
        if quarters:
            # of turned text PDFium's bounded way loses the ends of lines
            found = str(text_page.get_text_range())
        else:
            found = _in_order(text_page, str(text_page.get_text_bounded()))
        text_page.close()
        page.close()
    except pypdfium2.PdfiumError:
        return ""
    text = _HYPHEN.sub("", found).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    # half characters, which fonts without names for their glyphs give
    return text.encode("utf-8", "ignore").decode()


def _in_order(page: Any, text: str) -> str:
    """A page's text as it is read: in columns, and from top to bottom. All letters of `text` are in
    it, else it is `text`."""
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


def _letters(text: str) -> Counter[str]:
    return Counter(one for one in text if one.isalnum())


def _vertical(page: Any) -> list[Sign]:
    """The signs of a page that is written from top to bottom, else none."""
    from pypdfium2 import raw

    signs = []
    for index in range(page.count_chars()):
        sign = chr(raw.FPDFText_GetUnicode(page, index))
        if not sign.isspace() and unicodedata.category(sign) != "Cc":
            signs.append(Sign(sign, Box(*page.get_charbox(index, loose=True))))
    return signs if is_vertical([one for one in signs if one.text >= _FIRST_WIDE]) else []


def _quarters(page: Any) -> int:
    """Quarters by which a page has to be turned clockwise for most of its letters to stand
    upright."""
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
        # whatever a damaged file does to it
        raise EnvironmentProblem("attachment-damaged", name=name) from error
    return "\n\n".join(filter(None, (read_html(html), *beside)))


def read_html(page: str) -> str:
    """A page as Markdown: what it says, without what it does or shows. Raises RecursionError."""
    import warnings

    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    class Converter(MarkdownConverter):
        def convert_img(self, element: Any, _text: str = "", **_: Any) -> str:
            return str(element.attrs.get("alt") or "")

    with warnings.catch_warnings():
        # about what looks like another format: it is read all the same
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
    """End what a page left open, which Python's parser takes as nested."""
    for names, inside in _ENDS:
        for element in soup.find_all(list(names)):
            for outer in element.parents:
                if outer.name in inside:
                    break
                if outer.name in names:
                    outer.insert_after(element)
                    break
