"""Errors of the hub's client, as problems to show to the user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told, told


class HubProblem(EnvironmentProblem):
    """The hub cannot be reached, or refuses a request."""

    def __init__(self, why: Told) -> None:
        super().__init__(why.code)
        self.told = why


@contextmanager
def asking() -> Iterator[None]:
    """Turn the client's network and hub errors into HubProblem."""
    from headstart.hub.downloads.source import Unavailable

    try:
        yield
    except Unavailable as error:
        # a query is repeated by hand, a download resumes by itself
        offline = error.why.code == "download-no-network"
        raise HubProblem(told("hub-no-network") if offline else error.why) from error
