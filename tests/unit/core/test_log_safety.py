"""No text of a chat reaches the log, whatever an error says."""

from __future__ import annotations

import logging
from pathlib import Path

from headstart.core.errors import EnvironmentProblem
from headstart.core.log_safety import KindsOnly, SafeFormatter

CANARY = "yellow-canary"


def _written(tmp_path: Path, *calls: tuple[str, tuple[object, ...], BaseException | None]) -> str:
    handler = logging.FileHandler(tmp_path / "log", encoding="utf-8")
    handler.setFormatter(SafeFormatter("%(levelname)s %(message)s"))
    handler.addFilter(KindsOnly())
    logger = logging.getLogger("test_log_safety")
    logger.propagate = False
    logger.addHandler(handler)
    for text, arguments, error in calls:
        logger.error(text, *arguments, exc_info=error)
    logger.removeHandler(handler)
    handler.close()
    return (tmp_path / "log").read_text(encoding="utf-8")


def test_errors_are_told_by_kind_and_tracebacks_by_place(tmp_path: Path) -> None:
    try:
        try:
            raise KeyError(CANARY)
        except KeyError as inner:
            raise ValueError(f"cannot read {CANARY}") from inner
    except ValueError as error:
        raised = error
    problem = EnvironmentProblem("as-written", quotes=True, message=f"refuses {CANARY}", remedy="")
    text = _written(
        tmp_path,
        ("it failed", (), raised),
        ("it failed: %s", (raised,), None),
        ("it failed: %s", (problem,), None),
        ("it failed: %s", (OSError(28, "No space left on device", f"/home/{CANARY}.md"),), None),
        (
            "%s",
            (EnvironmentProblem("as-written", message="The disk is full.", remedy="Free some."),),
            None,
        ),
    )
    assert CANARY not in text
    assert "ValueError" in text
    assert "KeyError" in text
    assert Path(__file__).name in text
    assert "No space left on device" in text
    assert "The disk is full." in text
