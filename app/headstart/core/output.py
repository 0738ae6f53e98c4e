"""Output of commands: any title, also into a file and on an old console."""

from __future__ import annotations

import io
import sys


def plain_output() -> None:
    """Have files and pipes get UTF-8, and a console what it can show: by default a title that is
    not in the code page of Windows ends a command in the middle."""
    for stream in (sys.stdout, sys.stderr):
        # None in a program without a console
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
