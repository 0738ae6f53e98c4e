"""All that the server needs of this program. Called on the server's thread and loop; what belongs
to the window's loop hops there once for each request."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from headstart.chat.serving.admission import Admission, Admitted, Embeddings
from headstart.chat.serving.log import ServingLog
from headstart.core.serving.models import ServedModel
from headstart.core.serving.request import ServedRequest

T = TypeVar("T")


class Office:
    def __init__(
        self, admission: Admission, log: ServingLog, loop: asyncio.AbstractEventLoop
    ) -> None:
        """`loop`: the window's."""
        self._admission = admission
        self._loop = loop
        self.log = log

    async def models(self) -> list[ServedModel]:
        """The models that programs may name, embedding models last."""
        return await self._there(self._admission.offering.listed())

    async def admit(self, served: ServedRequest, program: str, agent: str) -> Admitted:
        """An engine's request; raises EnvironmentProblem."""
        return await self._there(self._admission.admit(served, program, agent))

    async def count(self, served: ServedRequest) -> int:
        """Tokens of a prompt; raises EnvironmentProblem."""
        return await self._there(self._admission.count(served))

    async def embed(self, texts: Sequence[str], name: str, program: str) -> Embeddings:
        """Vectors of texts; raises EnvironmentProblem."""
        return await self._there(self._admission.embed(texts, name, program))

    def ended(self, admitted: Admitted) -> None:
        self._admission.ended(admitted)

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))


class Opening(Struct, frozen=True):
    """The place and the rules of a server. `hosts`: names by which programs may call it; `origins`:
    web pages that may; `network`: other computers may."""

    port: int
    key: str
    hosts: tuple[str, ...]
    origins: tuple[str, ...] = ()
    network: bool = False


class Door(Protocol):
    """A server that opens and closes. Worker threads; a call ends when it is done."""

    def open(self, opening: Opening, office: Office) -> None:
        """Listen, in a thread of its own; raises EnvironmentProblem."""
        ...

    def close(self) -> None:
        """End all requests, then the thread."""
        ...

    def tried(self, opening: Opening, dialect: str) -> str:
        """Send one short request, as a program would; returns the first words of the answer.
        Raises EnvironmentProblem."""
        ...
