"""Checks that a figure is of the model that is meant: another one may answer in its place.

Every benchmark that asks through the window or a server calls one of these for each reply, or for
each process whose model cannot change.
"""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

from headstart.core.chats.values import Message, TurnStats
from headstart.core.models.installed import InstalledModel
from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import title
from headstart.core.serving.models import short_ids
from headstart.hub.library import starter_model


class WrongModel(AssertionError):
    """Another model than the one that is measured."""

    def __init__(self, meant: str, found: object) -> None:
        super().__init__(f"{found} answered, the figure is about {meant}")


def starter_key() -> str:
    """The key of the model that answers where none was chosen."""
    model = starter_model()
    assert model is not None
    return model.key


def stats_of(reply: Message, key: str) -> TurnStats:
    """The figures of a reply in the window, which the model with this key must have written."""
    if reply.model_key != key:
        raise WrongModel(key, reply.model_key or reply.error)
    if reply.stats is None:
        raise WrongModel(key, f"nobody ({reply.error})")
    return reply.stats


def served_name(model: Path) -> str:
    """The short name that `headstart serve` gives to a file."""
    (name,) = short_ids([InstalledModel(ModelRef(model, title(model), 0), "", "")])
    return name


def check_name(meant: str, found: object) -> None:
    """`found`: the `model` of a reply of `headstart serve`, or of its first listed model."""
    if found != meant:
        raise WrongModel(meant, found)


def check_served(port: int, key: str, meant: str) -> None:
    """The first model that `headstart serve` lists answers where a request names none."""
    check_name(meant, _got(port, "/v1/models", key)["data"][0]["id"])


def check_llama_server(port: int, model: Path) -> None:
    """llama.cpp's server has one model as long as it runs."""
    found = Path(str(_got(port, "/props", "")["model_path"]))
    if found.resolve() != model.resolve():
        raise WrongModel(str(model), found)


def _got(port: int, path: str, key: str) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", headers={"authorization": f"Bearer {key}"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)
