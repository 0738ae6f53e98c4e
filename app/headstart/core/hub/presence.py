"""Presence of a repository's models on this computer or in the queue. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path

from headstart.core.hub.catalog import Details, Variant
from headstart.core.hub.downloads import ACTIVE, Download, DownloadState
from headstart.core.models.installed import InstalledModel


class Presence(StrEnum):
    HERE = "here"
    # being downloaded, or queued
    COMING = "coming"
    # partly downloaded; the user paused the rest, or an error stopped it
    STOPPED = "stopped"


def presence(
    details: Details, installed: Sequence[InstalledModel], downloads: Iterable[Download]
) -> dict[str, Presence]:
    """By the variants' titles; variants neither installed nor being downloaded are left out."""
    repo = details.repository.id
    under_way = {
        (one.wanted.main, one.wanted.commit if not one.wanted.main else ""): one.state
        for one in downloads
        if one.wanted.repo == repo and one.state is not DownloadState.DONE
    }
    found = {}
    for variant in details.variants:
        state = under_way.get((variant.main, "" if variant.main else details.commit))
        if state is not None:
            found[variant.title] = Presence.COMING if state in ACTIVE else Presence.STOPPED
        elif any(_is(model, repo, variant) for model in installed):
            found[variant.title] = Presence.HERE
    return found


def repository_of(path: Path) -> str:
    """The repository of a file or folder, judged by its location: in the cache of Hugging Face's
    tools, or in folders named after the owner and the repository."""
    return cached_repository(path) or "/".join(path.parts[-2:])


def cached_repository(path: Path) -> str:
    """The same for a location in the cache; "" elsewhere, where names may be the user's own."""
    for part in path.parts:
        if part.startswith("models--") and part.count("--") >= 2:
            owner, name = part.removeprefix("models--").split("--", 1)
            return f"{owner}/{name}"
    return ""


def _is(model: InstalledModel, repo: str, variant: Variant) -> bool:
    if model.ref.format != variant.format:
        return False
    places = [model.ref.path, *map(Path, model.copies)]
    if not variant.main:
        return any(repository_of(place) == repo for place in places)
    # in any location, the same name and size mean the same file
    name = variant.main.rpartition("/")[2]
    return any(place.name == name for place in places) and model.ref.size == variant.size
