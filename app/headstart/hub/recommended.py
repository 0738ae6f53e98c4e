"""The list of models to begin with, as it lies in the resources. Worker threads."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from headstart.core.models.recommended import Recommended, RecommendedList
from headstart.core.resources import resources

log = logging.getLogger(__name__)


def read_list(path: Path | None = None) -> tuple[Recommended, ...]:
    """Every model of the list; one that somebody broke while editing it is empty, and said so."""
    path = path or resources() / "models.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=RecommendedList).models
    except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
        log.warning("the list of recommended models cannot be read: %s", error)
        return ()
