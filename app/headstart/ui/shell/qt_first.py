"""PySide6, imported first and told not to read the source of whatever is imported after it.

To find out where its optional spellings are used (`from __feature__ import snake_case`, which
nothing here does), PySide6 reads the source file of every module that is imported later, and
Python keeps the lines: a fifth of a second and 18 MB of a program's start (PySide6 6.11).
"""

from __future__ import annotations

import contextlib


def _uses_no_spellings(_module: object) -> bool:
    return False


# a private name: another version of PySide6 may have none of it, and costs what it costs
with contextlib.suppress(ImportError, AttributeError):
    import PySide6.QtCore  # noqa: F401
    from shibokensupport import feature

    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = _uses_no_spellings
