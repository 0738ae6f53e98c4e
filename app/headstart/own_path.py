"""Removes the current folder from the import path, where `python -m headstart` puts it first.

Imported before anything else, and imports only modules that the interpreter has already loaded:
files in the user's current folder are not the program's. (`__future__` is a module, too.)
"""

import os
import sys

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def _is_started() -> bool:
    """True if the package is run; tests import it."""
    return os.path.abspath(sys.argv[0]) == os.path.join(_PACKAGE, "__main__.py")


def without_current_folder(path: list[str]) -> list[str]:
    """The entries of `path` without the current folder, unless the package itself lies in it."""
    try:
        here = os.getcwd()
    except OSError:
        # the folder was removed
        here = ""
    if here in (os.path.dirname(_PACKAGE), os.path.dirname(os.__file__)) or here.endswith(
        ("site-packages", "dist-packages")
    ):
        # the program's, or Python's own
        return path
    return [entry for entry in path if entry and os.path.abspath(entry) != here]


if _is_started():
    sys.path[:] = without_current_folder(sys.path)
