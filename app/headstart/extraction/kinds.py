"""Kind of a file, by its content, or by its name if that is not enough. Pure."""

from __future__ import annotations

import contextlib
import io
import mimetypes
import zipfile
from enum import StrEnum
from xml.etree.ElementTree import ParseError

from headstart.core.errors import EnvironmentProblem
from headstart.extraction.word import main_part


class DocumentKind(StrEnum):
    TEXT = "text"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"


DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# how far into a PDF its mark may be
_PDF_WITHIN = 1024
_HTML_NAMES = (".html", ".htm", ".xhtml")
_HTML_STARTS = (b"<!doctype html", b"<html")
# the first bytes of files that are not text, and the code of their kind
BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "attachment-old-office"),
    (b"{\\rtf", "attachment-old-office"),
    (b"GGUF", "attachment-model"),
    (b"\x7fELF", "attachment-no-text"),
    (b"MZ", "attachment-no-text"),
)
# a file inside a zip, and the code of the kind that it reveals
MEMBERS = (
    ("xl/workbook.xml", "attachment-spreadsheet"),
    ("xl/workbook.bin", "attachment-spreadsheet"),
    ("ppt/presentation.xml", "attachment-slides"),
    ("META-INF/manifest.xml", "attachment-open-document"),
    ("META-INF/container.xml", "attachment-book"),
)


def kind_of(data: bytes, name: str) -> DocumentKind:
    """Raises EnvironmentProblem for a file without readable text, naming its kind."""
    if not data:
        raise EnvironmentProblem("attachment-empty", name=name)
    if b"%PDF-" in data[:_PDF_WITHIN]:
        return DocumentKind.PDF
    if data[:4] == b"PK\x03\x04":
        return _in_zip(data, name)
    for start, code in BEGINNINGS:
        # many texts begin with such two letters
        if data.startswith(start) and (len(start) > 2 or b"\0" in data[:_PDF_WITHIN]):
            raise EnvironmentProblem(code, name=name)
    begin = data[:_PDF_WITHIN].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if name.lower().endswith(_HTML_NAMES) or begin.startswith(_HTML_STARTS):
        return DocumentKind.HTML
    return DocumentKind.TEXT


def media_type_of(kind: DocumentKind, name: str) -> str:
    known = {
        DocumentKind.PDF: "application/pdf",
        DocumentKind.DOCX: DOCX_TYPE,
        DocumentKind.HTML: "text/html",
    }
    if kind in known:
        return known[kind]
    guessed = mimetypes.guess_type(name, strict=False)[0] or ""
    return guessed if guessed.startswith("text/") else "text/plain"


def _in_zip(data: bytes, name: str) -> DocumentKind:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            # its main part has no fixed name
            with contextlib.suppress(KeyError, ParseError):
                if main_part(archive) in names:
                    return DocumentKind.DOCX
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise EnvironmentProblem("attachment-damaged", name=name) from error
    if "word/document.xml" in names:
        return DocumentKind.DOCX
    for member, code in MEMBERS:
        if member in names:
            raise EnvironmentProblem(code, name=name)
    raise EnvironmentProblem("attachment-archive", name=name)
