"""PDFium, with a font of our own for signs that it would drop.

PDFium looks on the computer for a font that a PDF names and does not contain. Signs for which none
is found have no size, and text without a size is left out: a Japanese page was empty on a computer
without Japanese fonts. One font more is there for it, in which every such sign is a box
(packaging/blank_font.py).
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

from headstart.core.resources import resources

# where PDFium looks on Linux unless it is told
_USUAL = (
    "/usr/share/fonts",
    "/usr/share/X11/fonts/Type1",
    "/usr/share/X11/fonts/TTF",
    "/usr/local/share/fonts",
)
# PDFium goes on reading what it was given
_kept: list[Any] = []


@functools.cache
def pdfium() -> Any:
    """The module pypdfium2; on Linux its library was started with that font."""
    import pypdfium2

    # other systems come with such fonts
    if sys.platform == "linux":
        from pypdfium2 import raw

        folders = (*_USUAL, str(resources() / "fonts" / "plain"))
        texts = [ctypes.create_string_buffer(os.fsencode(folder)) for folder in folders]
        text = ctypes.POINTER(ctypes.c_char)
        # the last one stays empty
        places = (text * (len(texts) + 1))(*(ctypes.cast(one, text) for one in texts))
        _kept.extend([*texts, places])
        # nothing was opened with it yet
        raw.FPDF_DestroyLibrary()
        raw.FPDF_InitLibraryWithConfig(raw.FPDF_LIBRARY_CONFIG(version=2, m_pUserFontPaths=places))
    return pypdfium2
