"""PDFium, with an additional font for characters that it would drop.

PDFium searches the computer for fonts that a PDF names without embedding them. Characters without a
font have no size, and text without a size is dropped: a Japanese page was empty on a computer
without Japanese fonts. The additional font draws every such character as a box
(packaging/blank_font.py).
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

from headstart.core.resources import resources

# PDFium's default folders on Linux
_USUAL = (
    "/usr/share/fonts",
    "/usr/share/X11/fonts/Type1",
    "/usr/share/X11/fonts/TTF",
    "/usr/local/share/fonts",
)
# PDFium keeps using the memory passed to it
_kept: list[Any] = []


@functools.cache
def pdfium() -> Any:
    """The module pypdfium2; on Linux its library is restarted with that font."""
    import pypdfium2

    # other systems ship such fonts
    if sys.platform == "linux":
        from pypdfium2 import raw

        folders = (*_USUAL, str(resources() / "fonts" / "plain"))
        texts = [ctypes.create_string_buffer(os.fsencode(folder)) for folder in folders]
        text = ctypes.POINTER(ctypes.c_char)
        # the last entry stays null
        places = (text * (len(texts) + 1))(*(ctypes.cast(one, text) for one in texts))
        _kept.extend([*texts, places])
        # no document is open yet
        raw.FPDF_DestroyLibrary()
        raw.FPDF_InitLibraryWithConfig(raw.FPDF_LIBRARY_CONFIG(version=2, m_pUserFontPaths=places))
    return pypdfium2
