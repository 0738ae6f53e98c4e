"""Pages of a line or two, whose letters PDFium takes for lines of their own."""

from __future__ import annotations

import pytest

from headstart.extraction.documents import read_pdf
from tests.support.documents import pdf

LINES = (
    "here is planted28word now",
    "descriptor's :meth:`__get__` and :meth:`__set__` methods are triggered when",
    "A line of a report, with commas; and 20 litres.",
    "Grüße aus Köln – naïve Œuvre",
)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("first", range(4))
def test_words_of_short_pages_stay_apart_and_whole(qapp: object, first: int, count: int) -> None:
    chosen = [LINES[(first + number) % 4] for number in range(count)]
    (text,) = read_pdf(pdf(["\n".join(chosen)]), "a.pdf", lambda _done, _total: None)
    assert text.strip().split("\n") == chosen
