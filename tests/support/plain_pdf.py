"""PDF files written by hand, for what Qt does not write: forms, notes, turned text."""

from __future__ import annotations


def plain_pdf(
    content: str,
    annotations: tuple[str, ...] = (),
    looks: tuple[str, ...] = (),
    japanese: str = "",
) -> bytes:
    """One page with a stream of `content`, in Helvetica as F1. `annotations` are the insides of
    objects 6 and on; `looks` the streams behind them, which they name by number. `japanese`: F1 is
    a Japanese font without outlines instead, written H (across) or V (down)."""
    first = 6
    numbers = " ".join(f"{first + n} 0 R" for n in range(len(annotations)))
    fonts = "/Resources<</Font<</F1 5 0 R>>>>"
    page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Contents 4 0 R{fonts}"
    form = f"/AcroForm<</Fields[{numbers}]>>" if annotations else ""
    objects = [
        f"<</Type/Catalog/Pages 2 0 R{form}>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"{page}/Annots[{numbers}]>>",
        _stream("", content),
        _JAPANESE % japanese if japanese else "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *annotations,
        *(_stream(f"/Type/XObject/Subtype/Form/BBox[0 0 300 30]{fonts}", one) for one in looks),
    ]
    data, places = b"%PDF-1.7\n", []
    for number, inside in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{inside}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<</Size {size}/Root 1 0 R>>\n"
    return data + f"{end}startxref\n{len(data)}\n%%EOF\n".encode()


_JAPANESE = (
    "<</Type/Font/Subtype/Type0/BaseFont/Plain/Encoding/UniJIS-UCS2-%s/DescendantFonts[<<"
    "/Type/Font/Subtype/CIDFontType0/BaseFont/Plain/DW 1000/CIDSystemInfo<<"
    "/Registry(Adobe)/Ordering(Japan1)/Supplement 2>>/FontDescriptor<</Type/FontDescriptor"
    "/FontName/Plain/Flags 4/FontBBox[0 -200 1000 900]/Ascent 880/Descent -120>>>>]>>"
)


def _stream(about: str, content: str) -> str:
    return f"<<{about}/Length {len(content)}>>stream\n{content}\nendstream"


def words(text: str) -> str:
    """The stream of a look with these words."""
    return f"BT /F1 12 Tf 2 5 Td ({text}) Tj ET"
