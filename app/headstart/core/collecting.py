"""Python's collector of cycles rests from the import of this module until `resume`: the modules and
the window that a start makes stay, and it would look through all of them several times."""

from __future__ import annotations

import gc


def rest() -> None:
    gc.disable()


def resume() -> None:
    """Collect again, without what there is by now: later collections are shorter, too."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


rest()
