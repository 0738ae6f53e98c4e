"""A chat as PDF and as a document: what can be read and copied out of them."""

from __future__ import annotations

import asyncio
import hashlib
import io
import re
import zipfile

import pypdfium2 as pdfium

from headstart.core.chats.parts import BlobRef, ImagePart, TextPart
from headstart.core.chats.values import Role
from headstart.exchange.formats import format_of
from headstart.exchange.include import Include
from headstart.exchange.tree import ChatNode, ExchangeChat
from headstart.ui.transfer.renderers import RENDERERS
from tests.support.conversation_files import png

_LONG = "total = " + " + ".join(f"value_{n}" for n in range(60))
_CODE = f"```python\nif a != b:\n    call(lambda x: x -> y)\n{_LONG}\n```"
_TABLE = "| River | Length |\n| --- | --- |\n| Nile | 6,650 km |"
_TASKS = "- [x] packed\n- [ ] paid"
_WORDS = "Long sentences fill the page, one after another, until the next page begins. " * 12


def chat() -> ExchangeChat:
    texts = [f"Turn {n:03} begins.\n\n{_WORDS}\n\nTurn {n:03} ends." for n in range(40)]
    texts[1] = "\n\n".join(
        ["Turn 001 begins.", _CODE, _TABLE, _TASKS, "$$x_1 * y_2$$", "Turn 001 ends."]
    )
    # paragraphs of lists and of cells fall on the ends of pages too
    items = "\n".join(f"{n}. {_WORDS}" for n in range(1, 31))
    rows = "\n".join(f"| row {n} of them | {_WORDS} |" for n in range(30))
    texts[3] = f"Turn 003 begins.\n\n{items}\n\nTurn 003 ends."
    texts[5] = f"Turn 005 begins.\n\n| a | b |\n| --- | --- |\n{rows}\n\nTurn 005 ends."
    nodes = tuple(
        ChatNode(
            f"{n:032x}",
            f"{n - 1:032x}" if n else None,
            Role.ASSISTANT if n % 2 else Role.USER,
            (TextPart(text),),
        )
        for n, text in enumerate(texts)
    )
    return ExchangeChat("headstart", "c" * 32, "Rivers", nodes, created_at=1_760_000_000_000)


async def document(form: str) -> bytes:
    return await asyncio.to_thread(format_of(form).to_bytes, chat(), Include(), RENDERERS[form])


async def test_every_line_is_on_one_page_of_the_pdf_and_can_be_copied() -> None:
    with pdfium.PdfDocument(await document("pdf")) as pdf:
        pages = [page.get_textpage().get_text_range() for page in pdf]
        title = pdf.get_metadata_value("Title")
    assert len(pages) > 5
    text = "\n".join(pages)
    for number in range(40):
        assert text.count(f"Turn {number:03} begins.") == 1
        assert text.count(f"Turn {number:03} ends.") == 1
    # nothing twice, unseen at the edge of a page
    assert text.count("sentences") == (37 + 30 + 30) * 12
    for number in range(30):
        assert text.count(f"row {number} of them") == 1
    assert [int(found) for found in re.findall(r"(\d+)\. Long", text)] == [*range(1, 31)]
    assert title == "Rivers"
    assert "2025-10-09" in pages[0]
    for number, page in enumerate(pages, 1):
        assert f"{number} / {len(pages)}" in page
    # no ligatures, and nothing cut at the edge
    assert "if a != b:" in text
    assert "lambda x: x -> y" in text
    packed = re.sub(r"\s", "", text)
    assert re.sub(r"\s", "", _LONG) in packed
    assert "$$x_1 * y_2$$" in text
    assert "6,650 km" in text


async def test_nothing_is_painted_beside_the_page() -> None:
    with pdfium.PdfDocument(await document("pdf")) as pdf:
        for page in pdf:
            width, height = page.get_size()
            words = page.get_textpage()
            for number in range(words.count_rects()):
                left, bottom, right, top = words.get_rect(number)
                assert 0 <= left <= right <= width
                assert 0 <= bottom <= top <= height


async def test_the_document_has_every_word() -> None:
    with zipfile.ZipFile(io.BytesIO(await document("odt"))) as odt:
        content = odt.read("content.xml").decode()
    text = re.sub(r"<[^>]*>", "", content)
    for number in range(40):
        assert text.count(f"Turn {number:03} begins.") == 1
    assert "☑" in text
    assert "☐" in text
    assert "6,650 km" in text
    assert "<table:table " in content


async def test_a_damaged_image_costs_no_words() -> None:
    data = png()[:40]
    image = ImagePart("p.png", BlobRef(hashlib.sha256(data).hexdigest(), 40, "image/png"), 3, 2)
    node = ChatNode("1", None, Role.USER, (image, TextPart("Words of the question.")))
    damaged = ExchangeChat("list", "c", "T", (node,), blobs={image.blob.digest: data})

    async def written(form: str) -> bytes:
        make = format_of(form).to_bytes
        return await asyncio.to_thread(make, damaged, Include(), RENDERERS[form])

    with pdfium.PdfDocument(await written("pdf")) as pdf:
        words = "\n".join(page.get_textpage().get_text_range() for page in pdf)
    with zipfile.ZipFile(io.BytesIO(await written("odt"))) as archive:
        text = archive.read("content.xml").decode()
    for found in (words, text):
        assert "Words of the question." in found
        assert "p.png" in found
