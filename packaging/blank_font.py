"""Makes resources/fonts/plain/headstart-plain.ttf: signs of Chinese, Japanese and Korean as boxes.

PDFium drops text whose signs have no size, and a font that a PDF names and does not contain is
looked for on the computer: where none has these signs, the text was lost. Needs fonttools:

    python -m pip install fonttools && python packaging/blank_font.py
"""

from __future__ import annotations

from pathlib import Path

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib.tables._c_m_a_p import CmapSubtable

TARGET = Path(__file__).resolve().parent.parent / "resources/fonts/plain/headstart-plain.ttf"
# radicals to half-width signs, and the planes of rare ideographs
RANGES = ((0x1100, 0x1200), (0x2000, 0x2700), (0x2E80, 0xD7FC), (0xF900, 0xFFF0))
# Japanese, simplified Chinese, Korean, traditional Chinese, Johab: bits of OS/2's code pages
CODE_PAGES = sum(1 << bit for bit in (17, 18, 19, 20, 21))


def main() -> None:
    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for point in ((100, 800), (900, 800), (900, 0)):
        pen.lineTo(point)
    pen.closePath()
    box = pen.glyph()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "box"])
    builder.setupCharacterMap({0x3042: "box"})
    builder.setupGlyf({".notdef": box, "box": box})
    builder.setupHorizontalMetrics({".notdef": (1000, 100), "box": (1000, 100)})
    builder.setupHorizontalHeader(ascent=880, descent=-120)
    builder.setupNameTable({"familyName": "Headstart Plain", "styleName": "Regular"})
    builder.setupOS2(ulCodePageRange1=CODE_PAGES, ulUnicodeRange1=0, version=4)
    builder.setupPost()
    # many to one: a range of any length takes twelve bytes
    table = CmapSubtable.newSubtable(13)
    table.platformID, table.platEncID, table.language = 3, 10, 0
    table.cmap = {code: "box" for first, end in RANGES for code in range(first, end)}
    builder.font["cmap"].tables.append(table)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    builder.save(TARGET)
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
