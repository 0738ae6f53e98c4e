"""PySide6, imported first and told not to read the source of modules imported after it.

To detect its optional spellings (`from __feature__ import snake_case`, unused in this program),
PySide6 reads the source file of every module imported later, and Python keeps the lines: a fifth
of a second and 18 MB of a program's start (PySide6 6.11).
"""

from __future__ import annotations

import contextlib


def _uses_no_spellings(_module: object) -> bool:
    return False


# private names: another version of PySide6 may lack them, and then pays this cost
with contextlib.suppress(ImportError, AttributeError):
    import PySide6.QtCore  # noqa: F401
    from shibokensupport import feature

    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = _uses_no_spellings
