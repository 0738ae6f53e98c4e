"""Errors of the hub's client, as problems that can be told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told, told


class HubProblem(EnvironmentProblem):
    """The hub cannot be asked now, or does not give what was asked for."""

    def __init__(self, why: Told) -> None:
        super().__init__(why.code)
        self.told = why


@contextmanager
def asking() -> Iterator[None]:
    """Raises HubProblem for what the client says of the network and of the hub."""
    from headstart.hub.downloads.source import Unavailable

    try:
        yield
    except Unavailable as error:
        # a question is asked again by hand, a download goes on by itself
        offline = error.why.code == "download-no-network"
        raise HubProblem(told("hub-no-network") if offline else error.why) from error
