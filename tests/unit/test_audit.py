"""What the audit of pinned packages makes of the answers it gets."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    path = Path(__file__).parents[2] / "packaging" / "audit.py"
    spec = importlib.util.spec_from_file_location("audit", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(**more: Any) -> dict[str, Any]:
    return {"name": "thing", "version": "1.0", **more}


VULNERABLE = {"id": "PYSEC-1", "aliases": ["CVE-2000-1"], "fix_versions": ["1.1"]}
KNOWN = {"id": "GHSA-1", "aliases": ["CVE-2025-69872"], "fix_versions": []}


@pytest.mark.parametrize(
    ("packages", "code", "said"),
    [
        (None, 0, "Not audited"),
        ([package(skip_reason="not on this index")], 0, "Not audited"),
        ([package(vulns=[]), package(skip_reason="?")], 0, "Audited 1 of 2"),
        ([package(vulns=[VULNERABLE])], 1, "CVE-2000-1, PYSEC-1, fixed in 1.1"),
        ([package(vulns=[KNOWN])], 0, "no version yet; accepted"),
        ([package(vulns=[KNOWN, VULNERABLE])], 1, "accepted"),
    ],
    ids=["no answer", "no list", "clean", "vulnerable", "accepted", "both"],
)
def test_only_a_vulnerability_that_nobody_accepted_fails(
    audit: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    packages: list[dict[str, Any]] | None,
    code: int,
    said: str,
) -> None:
    monkeypatch.setattr(audit, "found", lambda: packages)
    assert audit.main() == code
    assert said in capsys.readouterr().out
