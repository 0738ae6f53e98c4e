"""A Debian package of the folder that PyInstaller made, with its menu entry, icons and file type.

Standard library and dpkg-deb; works offline and as any user.
"""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import bootstrap
from steps import run

LINUX = Path(__file__).resolve().parent / "linux"
# where the folder lies once installed
INSTALLED = "usr/lib/headstart"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_MAINTAINER = "The Headstart authors <headstart@localhost>"


def build(folder: Path, build: Path, version: str) -> Path:
    """Returns the path of the package."""
    root = build / "deb"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(folder, root / INSTALLED, symlinks=True)
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/headstart").symlink_to("../lib/headstart/headstart")
    for source, target in shared(build / "icons"):
        kept = root / "usr/share" / target
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, kept)
    about = root / "usr/share/doc/headstart"
    about.mkdir(parents=True)
    shutil.copyfile(LINUX / "copyright", about / "copyright")
    machine = _ARCHITECTURES.get(platform.machine(), platform.machine())
    control = root / "DEBIAN"
    control.mkdir()
    (control / "control").write_text(_control(root, version, machine), encoding="utf-8")
    for script in ("postinst", "postrm"):
        shutil.copyfile(LINUX / script, control / script)
        (control / script).chmod(0o755)
    _permissions(root)
    package = build / f"headstart_{version}_{machine}.deb"
    run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "--build", str(root), str(package)])
    shutil.rmtree(root)
    return package


def shared(icons: Path) -> list[tuple[Path, str]]:
    """What the desktop reads, and where it lies under `share`; for `make install` too."""
    found = [
        (LINUX / "headstart.desktop", "applications/headstart.desktop"),
        (LINUX / "headstart-serve.service", "doc/headstart/headstart-serve.service"),
        (LINUX / "headstart-mime.xml", "mime/packages/headstart.xml"),
        (LINUX / "headstart.metainfo.xml", "metainfo/app.headstart.headstart.metainfo.xml"),
        (
            LINUX.parents[1] / "resources/icons/headstart.svg",
            "icons/hicolor/scalable/apps/headstart.svg",
        ),
    ]
    found.extend(
        (icons / f"{size}.png", f"icons/hicolor/{size}x{size}/apps/headstart.png")
        for size in (16, 22, 24, 32, 48, 64, 128, 256, 512)
        if (icons / f"{size}.png").exists()
    )
    return found


def _control(root: Path, version: str, machine: str) -> str:
    files = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    size = sum(path.stat().st_size for path in files) // 1024
    # the C library that it was compiled with, or a later one
    needs = [f"libc6 (>= {platform.libc_ver()[1]})", *bootstrap.QT_LIBRARIES.values()]
    return f"""Package: headstart
Version: {version}
Architecture: {machine}
Maintainer: {_MAINTAINER}
Installed-Size: {size}
Depends: {", ".join(needs)}
Recommends: xdg-desktop-portal
Section: utils
Priority: optional
Description: chat with language models on your own computer
 Headstart is a desktop app for language models that run on your own computer.
 It answers faster than others: a small model drafts what the large one
 verifies, and what was read once is never read again. A small model comes with
 it; nothing leaves the computer unless you ask for it.
"""


def _permissions(root: Path) -> None:
    for path in [root, *root.rglob("*")]:
        if path.is_symlink():
            continue
        executable = path.is_dir() or path.name in ("headstart", "postinst", "postrm")
        path.chmod(0o755 if executable else 0o644)
