"""`make install` and `make uninstall`: this checkout in the desktop's menu, for one user.

Standard library only. A `headstart` command, a menu entry, icons and the file type, all in the
user's own folders; chats and settings are not touched. Linux; elsewhere only the command.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import deb

ROOT = Path(__file__).resolve().parent.parent
# says that a file is ours to remove
_MARK = "# installed by headstart's `make install`"


def main(arguments: list[str]) -> int:
    if arguments == ["uninstall"]:
        return _uninstall()
    python = sys.executable
    command = _command()
    if command.exists() and not _ours(command):
        print(f"headstart install: {command} is another program's; nothing was changed.")
        return 1
    command.parent.mkdir(parents=True, exist_ok=True)
    starts = f'exec "{python}" -I -m headstart "$@"'
    command.write_text(f"#!/bin/sh\n{_MARK}\n{starts}\n", encoding="utf-8")
    command.chmod(command.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    print(f"headstart install: {command}")
    if sys.platform == "linux":
        for source, target in _shared():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        entry = _data() / "applications" / "headstart.desktop"
        text = entry.read_text(encoding="utf-8")
        # the menu may not look where the command lies
        entry.write_text(text.replace("Exec=headstart", f"Exec={command}"), encoding="utf-8")
        _refresh()
        print(f"headstart install: {entry}")
    if str(command.parent) not in os.environ.get("PATH", "").split(os.pathsep):
        print(f"headstart install: add {command.parent} to PATH to start it by name")
    return 0


def _uninstall() -> int:
    removed = 0
    command = _command()
    if command.exists() and _ours(command):
        command.unlink()
        removed += 1
    if sys.platform == "linux":
        for _source, target in _shared():
            if target.exists():
                target.unlink()
                removed += 1
        _refresh()
    print(f"headstart uninstall: {removed} files removed; chats and settings stay where they are")
    return 0


def _command() -> Path:
    return Path.home() / ".local" / "bin" / "headstart"


def _ours(command: Path) -> bool:
    return _MARK in command.read_text(encoding="utf-8", errors="replace")


def _data() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def _shared() -> list[tuple[Path, Path]]:
    return [
        (source, _data() / target) for source, target in deb.shared(ROOT / "build/package/icons")
    ]


def _refresh() -> None:
    """The desktop reads its menus and file types again, where it has programs for that."""
    for program, folder in (
        ("update-desktop-database", "applications"),
        ("update-mime-database", "mime"),
    ):
        if shutil.which(program) and (_data() / folder).is_dir():
            subprocess.run([program, str(_data() / folder)], capture_output=True, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
