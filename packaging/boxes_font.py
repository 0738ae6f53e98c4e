"""Makes resources/fonts/headstart-boxes.ttf: boxes for scripts that Qt sets by OpenType only.

Without a font that declares such a script Qt takes an engine of its own, whose lines have a gap
that moves their baseline. This font declares them all and has none of their signs: those that the
computer has a font for come from there, the rest are boxes on a line like the others. Needs
fonttools:

    python -m pip install fonttools && python packaging/boxes_font.py
"""

from __future__ import annotations

from pathlib import Path

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

TARGET = Path(__file__).resolve().parent.parent / "resources/fonts/headstart-boxes.ttf"
# Syriac, Thaana, N'Ko, Devanagari to Sinhala in their old and new tags, Khmer
SCRIPTS = (
    "syrc", "thaa", "nko ", "deva", "dev2", "beng", "bng2", "guru", "gur2", "gujr", "gjr2", "orya",
    "ory2", "taml", "tml2", "telu", "tel2", "knda", "knd2", "mlym", "mlm2", "sinh", "khmr",
)  # fmt: skip
# Inter's, so that a line of boxes alone is like the others
UNITS, ASCENT, DESCENT = 2816, 2728, 680


def main() -> None:
    pen = TTGlyphPen(None)
    outer = ((170, 0), (170, 2000), (1520, 2000), (1520, 0))
    inner = ((310, 140), (1380, 140), (1380, 1860), (310, 1860))
    for contour in (outer, inner):
        pen.moveTo(contour[0])
        for point in contour[1:]:
            pen.lineTo(point)
        pen.closePath()
    builder = FontBuilder(UNITS, isTTF=True)
    builder.setupGlyphOrder([".notdef"])
    # a sign that no text has: an empty map is no map
    builder.setupCharacterMap({0xFFFF: ".notdef"})
    builder.setupGlyf({".notdef": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (1690, 170)})
    builder.setupHorizontalHeader(ascent=ASCENT, descent=-DESCENT, lineGap=0)
    builder.setupNameTable({"familyName": "Headstart Boxes", "styleName": "Regular"})
    builder.setupOS2(
        sTypoAscender=ASCENT, sTypoDescender=-DESCENT, sTypoLineGap=0,
        usWinAscent=ASCENT, usWinDescent=DESCENT, ulUnicodeRange1=0, version=4,
    )  # fmt: skip
    builder.setupPost()
    # a script without a feature is dropped, so each gets one that changes nothing
    declared = "".join(f"languagesystem {script.strip()} dflt;\n" for script in SCRIPTS)
    builder.addOpenTypeFeatures(f"{declared}feature ccmp {{ sub \\.notdef by \\.notdef; }} ccmp;\n")
    builder.save(TARGET)
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
