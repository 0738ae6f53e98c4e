"""The list of models to start with, from the resources. Worker threads."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from headstart.core.models.recommended import Recommended, RecommendedList
from headstart.core.resources import resources

log = logging.getLogger(__name__)


def read_list(path: Path | None = None) -> tuple[Recommended, ...]:
    """Every model of the list; an unreadable or invalid list counts as empty, with a line in the
    log."""
    path = path or resources() / "models.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=RecommendedList).models
    except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
        log.warning("the list of recommended models cannot be read: %s", error)
        return ()
