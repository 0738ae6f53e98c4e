"""Files shipped with the program: beside the package, or in it once installed."""

from __future__ import annotations

import functools
from pathlib import Path


@functools.cache
def resources() -> Path:
    package = Path(__file__).resolve().parents[1]
    installed = package / "resources"
    return installed if installed.is_dir() else package.parents[1] / "resources"


def guide() -> Path:
    """The user guide, in Markdown with pictures."""
    packaged = resources() / "guide"
    return packaged if packaged.is_dir() else resources().parent / "docs" / "guide"


def changelog() -> Path:
    """Changes of each version, in Markdown."""
    packaged = resources() / "CHANGELOG.md"
    return packaged if packaged.exists() else resources().parent / "CHANGELOG.md"
