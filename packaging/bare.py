"""A bare Debian in a folder, and commands in it, whose mounts and processes end with them.

For trials (`bare_trial.py`, `windows_trial.py`): debootstrap makes the system once, and each trial
works in a copy. Standard library only; needs root, debootstrap, and room on the disk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "bare"
RELEASES = {"debian12": "bookworm", "debian13": "trixie"}
# bytes: a system with everything installed, and what compiling takes besides
_ROOM = 8 << 30
# a certificate of this computer's, for package indexes that it reaches in its own way
_CERTIFICATES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_INSIDE_CERTIFICATE = "etc/trial-certificates.crt"
# the namespace's own: nothing of it is left when the command ends
_MOUNTS = """
set -e
mount -t proc proc "$system/proc"
mount --rbind /sys "$system/sys"
mount --rbind /dev "$system/dev"
for pair in $folders; do
  mkdir -p "$system/${pair#*:}"
  mount --bind "${pair%%:*}" "$system/${pair#*:}"
done
exec chroot "$system" /usr/bin/env -i "$@"
"""


def missing() -> list[str]:
    """What this computer lacks for a trial."""
    lacks = [tool for tool in ("debootstrap", "unshare", "chroot", "git") if not shutil.which(tool)]
    if sys.platform != "linux" or os.geteuid() != 0:
        lacks.append("root on Linux")
    free = shutil.disk_usage(ROOT).free
    if free < _ROOM:
        lacks.append(f"{_ROOM >> 30} GB of free disk (there are {free / (1 << 30):.1f})")
    return lacks


def base(release: str) -> Path:
    """The bare system as debootstrap makes it, made once."""
    target = PLACE / f"{release}-base"
    if not target.exists():
        print(f"bare: {release} is made by debootstrap", flush=True)
        PLACE.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        keys = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
        keyring = [f"--keyring={keys}"] if keys.exists() else []
        command = ["debootstrap", "--variant=minbase", *keyring, RELEASES[release], str(partial)]
        with (PLACE / f"{release}-base.log").open("w") as log:
            subprocess.run([*command, *_mirror()], stdout=log, stderr=log, check=True)
        partial.rename(target)
    return target


def copied(release: str, system: Path) -> None:
    """Put a copy of the bare system there, which reaches what this computer reaches."""
    shutil.rmtree(system, ignore_errors=True)
    subprocess.run(["cp", "-a", "--reflink=auto", str(base(release)), str(system)], check=True)
    (system / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    shutil.copyfile("/etc/resolv.conf", system / "etc/resolv.conf")
    for name in (
        "apt.conf",
        *(f"apt.conf.d/{one.name}" for one in Path("/etc/apt/apt.conf.d").glob("*")),
    ):
        settings = Path("/etc/apt", name)
        # how this computer reaches the mirror
        if settings.is_file() and "Acquire::" in settings.read_text(errors="replace"):
            shutil.copyfile(settings, system / "etc/apt" / name)


def clone(folder: Path) -> None:
    """Put a clean clone of what is committed here into a folder that is not there yet."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    command = ["git", "clone", "--quiet", "--no-hardlinks", f"file://{ROOT}", str(folder)]
    subprocess.run(command, check=True)


def changed() -> bool:
    """True where something here is not committed, which no trial tries."""
    command = ["git", "status", "--porcelain"]
    return bool(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)


def environment(system: Path) -> dict[str, str]:
    """The variables of a shell there, and how this computer reaches package indexes."""
    found = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
             "HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb"}  # fmt: skip
    found |= {name: os.environ[name] for name in _PROXIES if name in os.environ}
    bundle = next((os.environ[one] for one in _CERTIFICATES if one in os.environ), "")
    if bundle and Path(bundle).is_file():
        shutil.copyfile(bundle, system / _INSIDE_CERTIFICATE)
        found |= dict.fromkeys(_CERTIFICATES, f"/{_INSIDE_CERTIFICATE}")
    for name in ("index-url", "extra-index-url", "timeout"):
        asked = [sys.executable, "-m", "pip", "config", "get", f"global.{name}"]
        value = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        # folders of this computer are not there
        if value and "file:" not in value:
            found[f"PIP_{name.upper().replace('-', '_')}"] = value
    if "PIP_DEFAULT_TIMEOUT" in os.environ:
        found["PIP_DEFAULT_TIMEOUT"] = os.environ["PIP_DEFAULT_TIMEOUT"]
    return found


def run(
    system: Path,
    command: Sequence[str],
    variables: Mapping[str, str],
    output: IO[str] | int | None = None,
    folders: Mapping[Path, str] | None = None,
) -> int:
    """The exit code of a command in the system, as root, with these variables and no others.

    `folders`: those of this computer that it sees, with their places there; no path of the two has
    a space or a colon.
    """
    own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    pairs = " ".join(f"{folder}:{place.lstrip('/')}" for folder, place in (folders or {}).items())
    return subprocess.run(
        [*own, "sh", "-c", _MOUNTS, "sh", *(f"{k}={v}" for k, v in variables.items()), *command],
        env={**os.environ, "system": str(system), "folders": pairs},
        stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False,
    ).returncode  # fmt: skip


def _mirror() -> list[str]:
    """The mirror that this computer uses, if it is a Debian; else debootstrap's own."""
    if not shutil.which("apt-get"):
        return []
    asked = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)", "Created-By: Packages"]
    lines = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.splitlines()
    return [line.split()[1] for line in lines if line.startswith("Debian ")][:1]
