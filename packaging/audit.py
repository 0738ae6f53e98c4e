"""Known vulnerabilities in what is pinned, where a list of them can be reached.

pip-audit asks the package index; a computer without a connection, or with an index that keeps no
such list, says so and goes on. What is found fails, except what is accepted below with its reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

ACCEPTED = {
    # llama-cpp-python imports diskcache for a kind of cache that Headstart does not use
    "CVE-2025-69872": "Headstart never opens a cache of diskcache",
}
# of one request is pip-audit's own; this one is of them all
SECONDS = 180


def found() -> list[dict[str, Any]] | None:
    """What pip-audit says of each pinned package; None where it could not ask."""
    command = [
        sys.executable, "-m", "pip_audit", "--requirement", str(ROOT / "constraints.txt"),
        "--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off",
    ]  # fmt: skip
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        packages: list[dict[str, Any]] = json.loads(result.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return None
    return packages


def main() -> int:
    packages = found()
    audited = [one for one in packages or () if "vulns" in one]
    if not audited:
        print("Not audited: no list of vulnerabilities can be reached from here.")
        return 0
    bad = False
    for package in audited:
        for vulnerability in package["vulns"]:
            names = {vulnerability["id"], *vulnerability.get("aliases", ())}
            fixed = ", ".join(vulnerability.get("fix_versions", ())) or "no version yet"
            reason = next((ACCEPTED[name] for name in names if name in ACCEPTED), None)
            bad |= reason is None
            print(f"{package['name']} {package['version']}: {', '.join(sorted(names))}, fixed in "
                  f"{fixed}{f'; accepted: {reason}' if reason else ''}")  # fmt: skip
    print(f"Audited {len(audited)} of {len(packages or ())} pinned packages.")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
