"""Take the current folder from the path of imports, where `python -m headstart` puts it first.

Imported before anything else, and imports only what the interpreter has loaded by then: what lies
in the folder that somebody stands in is not the program's. (`__future__` is a module, too.)
"""

import os
import sys

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def _is_started() -> bool:
    """The package is what runs; tests import it."""
    return os.path.abspath(sys.argv[0]) == os.path.join(_PACKAGE, "__main__.py")


def without_current_folder(path: list[str]) -> list[str]:
    """The entries of `path` but the current folder, unless the package itself lies there."""
    try:
        here = os.getcwd()
    except OSError:
        # a folder that was removed
        here = ""
    if here in (os.path.dirname(_PACKAGE), os.path.dirname(os.__file__)) or here.endswith(
        ("site-packages", "dist-packages")
    ):
        # the program's, or Python's own
        return path
    return [entry for entry in path if entry and os.path.abspath(entry) != here]


if _is_started():
    sys.path[:] = without_current_folder(sys.path)
