"""Tries the README's own lines on bare Debians: `make bare-trial`.

Makes a bare Debian 12 and a Debian 13 under build/bare with debootstrap, puts a clone of what is
committed here into each, and runs `packaging/readme_lines.sh` there: as root, and as a user who
gets the command that the set-up names. Mounts and processes are of a namespace and end with it.
Standard library only; needs root, debootstrap, and room on the disk.

    make bare-trial                             # all, some three hours on 2 cores
    make bare-trial ONLY="debian12-root:run"    # one release, account and target
    make bare-trial ARGS="--again --cached"     # in the systems that are there, with kept downloads
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "bare"
RELEASES = {"debian12": "bookworm", "debian13": "trixie"}
ACCOUNTS = ("root", "user")
TARGETS = ("run", "test")
# bytes: a system with everything installed, and what compiling takes besides
_ROOM = 8 << 30
_STEP = re.compile(r"^bare: (.+): (ok|failed) in (\d+) s$", re.MULTILINE)
_USER = "someone"
# a certificate of this computer's, for package indexes that it reaches in its own way
_CERTIFICATES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_INSIDE_CERTIFICATE = "etc/trial-certificates.crt"
# the namespace's own: nothing of it is left when the command ends
_MOUNTS = """
set -e
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
if [ -n "$kept" ]; then
  mkdir -p "$root/$home/.cache"
  mount --bind "$kept" "$root/$home/.cache"
fi
exec chroot "$root" /usr/bin/env -i "$@"
"""


class Row(NamedTuple):
    """One line of the table: the name of the system, its account, the step and its outcome."""

    release: str
    account: str
    step: str
    outcome: str
    seconds: int


def missing() -> list[str]:
    """What this computer lacks for a trial."""
    lacks = [tool for tool in ("debootstrap", "unshare", "chroot", "git") if not shutil.which(tool)]
    if sys.platform != "linux" or os.geteuid() != 0:
        lacks.append("root on Linux")
    free = shutil.disk_usage(ROOT).free
    if free < _ROOM:
        lacks.append(f"{_ROOM >> 30} GB of free disk (there are {free / (1 << 30):.1f})")
    return lacks


def chosen(only: list[str]) -> dict[tuple[str, str], list[str]]:
    """Targets by release and account, for words such as debian12, debian12-root, debian13-user:run.

    Raises ValueError for one that means nothing.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for word in only or RELEASES:
        match = re.fullmatch(r"([a-z0-9]+)(?:-([a-z]+))?(?::([a-z]+))?", word)
        if match is None:
            raise ValueError(word)
        release, account, target = match.groups()
        if (
            release not in RELEASES
            or account not in (None, *ACCOUNTS)
            or target not in (None, *TARGETS)
        ):
            raise ValueError(word)
        for one in [account] if account else ACCOUNTS:
            targets = found.setdefault((release, one), [])
            targets += [each for each in ([target] if target else TARGETS) if each not in targets]
    return {key: sorted(each, key=TARGETS.index) for key, each in found.items()}


def mirror() -> list[str]:
    """The mirror that this computer uses, if it is a Debian; else debootstrap's own."""
    if not shutil.which("apt-get"):
        return []
    asked = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)", "Created-By: Packages"]
    lines = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.splitlines()
    return [line.split()[1] for line in lines if line.startswith("Debian ")][:1]


def base(release: str) -> Path:
    """The bare system as debootstrap makes it, made once."""
    target = PLACE / f"{release}-base"
    if not target.exists():
        print(f"bare: {release} is made by debootstrap", flush=True)
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        keys = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
        keyring = [f"--keyring={keys}"] if keys.exists() else []
        command = ["debootstrap", "--variant=minbase", *keyring, RELEASES[release], str(partial)]
        with (PLACE / f"{release}-base.log").open("w") as log:
            subprocess.run([*command, *mirror()], stdout=log, stderr=log, check=True)
        partial.rename(target)
    return target


def ready(release: str, account: str, again: bool) -> Path:
    """A system with a clean clone of what is committed here; the one that is there if `again`."""
    system = PLACE / f"{release}-{account}"
    if again and system.exists():
        return system
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
    clone = system / _home(account) / "headstart"
    clone.parent.mkdir(parents=True, exist_ok=True)
    command = ["git", "clone", "--quiet", "--no-hardlinks", f"file://{ROOT}", str(clone)]
    subprocess.run(command, check=True)
    return system


def environment(system: Path) -> list[str]:
    """What a shell there has, and how this computer reaches package indexes."""
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
    return [f"{name}={value}" for name, value in found.items()]


def kept(release: str, account: str) -> Path:
    """Downloads and compiled wheels from one trial to the next, owned by the account."""
    folder = PLACE / f"{release}-cache"
    folder.mkdir(parents=True, exist_ok=True)
    # the first user of a bare Debian; pip does not read a cache of somebody else's
    owner = "0:0" if account == "root" else "1000:1000"
    subprocess.run(["chown", "-R", owner, str(folder)], check=True)
    return folder


def tried(release: str, account: str, targets: list[str], again: bool, cached: bool) -> list[Row]:
    """Run the README's lines in a system; a row for each step."""
    system = ready(release, account, again)
    name = f"{release}-{account}"
    print(f"bare: {name}: {', '.join(f'make {one}' for one in targets)}", flush=True)
    script = f"/{_home(account)}/headstart/packaging/readme_lines.sh"
    inside = [*environment(system), "sh", script, "root" if account == "root" else _USER, *targets]
    given = {
        **os.environ,
        "root": str(system),
        "home": _home(account),
        "kept": str(kept(release, account)) if cached else "",
    }
    log = PLACE / f"{name}.log"
    own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    began = time.monotonic()
    with log.open("w") as out:
        code = subprocess.run(
            [*own, "sh", "-c", _MOUNTS, "sh", *inside], env=given, stdin=subprocess.DEVNULL,
            stdout=out, stderr=subprocess.STDOUT, check=False,
        ).returncode  # fmt: skip
    said = log.read_text(errors="replace")
    rows = [
        Row(release, account, step, outcome, int(seconds))
        for step, outcome, seconds in _STEP.findall(said)
    ]
    if code and not any(row.outcome == "failed" for row in rows):
        last = said.strip().splitlines()[-1:] or ["nothing was printed"]
        rows.append(Row(release, account, last[0], "failed", int(time.monotonic() - began)))
    for row in rows:
        print(f"bare: {name}: {row.step}: {row.outcome} in {row.seconds} s", flush=True)
    if code:
        print("\n".join(f"    {line}" for line in said.splitlines()[-25:]))
        print(f"bare: all of it is in {log.relative_to(ROOT)}", flush=True)
    return rows


def table(rows: list[Row]) -> str:
    width = max((len(row.step) for row in rows), default=4)
    lines = [f"{'system':<14} {'step':<{width}} {'outcome':<8} seconds"]
    for (release, account), group in itertools.groupby(rows, lambda row: row[:2]):
        lines += [
            f"{f'{release}-{account}':<14} {row.step:<{width}} {row.outcome:<8} {row.seconds:>7}"
            for row in group
        ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="make bare-trial")
    parser.add_argument(
        "only", nargs="*", help="such as debian12, debian12-root, debian13-user:run"
    )
    parser.add_argument("--again", action="store_true", help="in the systems that are there")
    parser.add_argument("--cached", action="store_true", help="keep downloads and compiled wheels")
    parser.add_argument(
        "--where-possible", action="store_true", help="say so and succeed where it is not"
    )
    options = parser.parse_args()
    try:
        wanted = chosen(options.only)
    except ValueError as problem:
        parser.error(
            f"{problem} is none of {', '.join(RELEASES)} with -root or -user, :run or :test"
        )
    lacks = missing()
    if lacks:
        print(f"Not tried on bare Debians: this needs {', '.join(lacks)}.")
        return 0 if options.where_possible else 1
    PLACE.mkdir(parents=True, exist_ok=True)
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    if changed:
        print("bare: what is not committed here is not tried", flush=True)
    rows: list[Row] = []
    for (release, account), targets in wanted.items():
        rows += tried(release, account, targets, options.again, options.cached)
    print(table(rows))
    return int(any(row.outcome == "failed" for row in rows))


def _home(account: str) -> str:
    """The account's home, without the slash in front."""
    return "root" if account == "root" else f"home/{_USER}"


if __name__ == "__main__":
    sys.exit(main())
