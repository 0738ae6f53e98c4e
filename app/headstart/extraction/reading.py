"""Bytes of a file in, its text in pages or parts out; in the child process."""

from __future__ import annotations

from headstart.core.attachments import LONGEST, Extracted, Unit, in_parts
from headstart.core.errors import EnvironmentProblem
from headstart.extraction.documents import Progress, read_docx, read_html, read_pdf
from headstart.extraction.kinds import Kind, kind_of, media_type_of
from headstart.extraction.texts import decode


def read(data: bytes, name: str, progress: Progress) -> Extracted:
    """`progress` is told how many of how many pages are read. Raises EnvironmentProblem."""
    kind = kind_of(data, name)
    media_type = media_type_of(kind, name)
    if kind is Kind.PDF:
        return Extracted(media_type, Unit.PAGE, tuple(read_pdf(data, name, progress)))
    try:
        if kind is Kind.DOCX:
            text = read_docx(data, name)
        elif kind is Kind.HTML:
            text = read_html(data)
        else:
            text = decode(data, name)
    except RecursionError as error:
        raise EnvironmentProblem("attachment-damaged", name=name) from error
    if len(text) > LONGEST:
        raise EnvironmentProblem("attachment-too-long", name=name)
    if not text.strip():
        raise EnvironmentProblem("attachment-empty", name=name)
    return Extracted(media_type, Unit.PART, in_parts(text))
