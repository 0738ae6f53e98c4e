"""From the bytes of a file to its text in pages or parts; in the child process."""

from __future__ import annotations

from headstart.core.chats.attachments import LONGEST, Extracted, Unit, in_parts
from headstart.core.errors import EnvironmentProblem
from headstart.extraction.documents import Progress, read_docx, read_html, read_pdf
from headstart.extraction.kinds import DocumentKind, kind_of, media_type_of
from headstart.extraction.notebook import read_notebook
from headstart.extraction.texts import Decoded, decode, decode_html


def read(data: bytes, name: str, progress: Progress, encoding: str = "") -> Extracted:
    """`progress` gets the number of pages read, and of all pages; `encoding`: the user's choice for
    a text. Raises EnvironmentProblem."""
    kind = kind_of(data, name)
    media_type = media_type_of(kind, name)
    if kind is DocumentKind.PDF:
        return Extracted(media_type, Unit.PAGE, tuple(read_pdf(data, name, progress)))
    try:
        if kind is DocumentKind.DOCX:
            found = Decoded(read_docx(data, name))
        else:
            found = _text(kind, data, name, encoding)
    except RecursionError as error:
        raise EnvironmentProblem("attachment-damaged", name=name) from error
    text = found.text
    if len(text) > LONGEST:
        raise EnvironmentProblem("attachment-too-long", name=name)
    if not text.strip():
        raise EnvironmentProblem("attachment-empty", name=name)
    return Extracted(media_type, Unit.PART, in_parts(text), found.encoding)


def _text(kind: DocumentKind, data: bytes, name: str, encoding: str) -> Decoded:
    if kind is not DocumentKind.HTML:
        plain = decode(data, name, encoding)
        if name.lower().endswith(".ipynb"):
            cells = read_notebook(plain.text)
            return plain if cells is None else Decoded(cells, plain.encoding)
        return plain
    found = decode_html(data, name, encoding)
    return Decoded(read_html(found.text), found.encoding)
