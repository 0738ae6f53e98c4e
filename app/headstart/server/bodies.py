"""Bodies of requests: bounded while they arrive, decoded and read beside the server's loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from starlette.requests import Request

from headstart.core.strange_json import DEEPEST, JsonCount, JsonLimits, JsonTooLarge, counted
from headstart.server import guard
from headstart.server.dialects.declined import Declined

# an agent's session of 2,000 messages with 100 tools has 40,000 objects, lists and keys
LIMITS = JsonLimits(guard.LARGEST_BODY, 200_000)
# bytes of all bodies on their way
_MOST_TOGETHER = 4 * guard.LARGEST_BODY
# bytes of a body that is read in less than 10 ms
_SMALL = 1 << 17
T = TypeVar("T")
Body = Mapping[str, Any]


class Bodies:
    def __init__(self) -> None:
        self._together = 0

    async def read(self, request: Request, reader: Callable[[Body], T], seconds: float) -> T:
        """The body of a request, as `reader` reads it: an object, its keys in their order. `reader`
        may run on another thread. A body has so many seconds to arrive. Raises Declined."""
        guard.check_size(request.headers)
        data, count = bytearray(), JsonCount(LIMITS)
        try:
            async with asyncio.timeout(seconds):
                async for part in request.stream():
                    count.take(part)
                    self._together += len(part)
                    data += part
                    if self._together > _MOST_TOGETHER:
                        raise Declined("Too many large bodies arrive at once.", status=503)
            if len(data) <= _SMALL:
                return reader(_object(data, count))
            return await asyncio.to_thread(lambda: reader(_object(data, count)))
        except TimeoutError:
            raise Declined("The body did not arrive in time.", status=408) from None
        except JsonTooLarge as error:
            raise _refusal(error.bound) from None
        finally:
            self._together -= len(data)


def _object(data: bytearray, count: JsonCount) -> Body:
    try:
        found = counted(data, count)
    except ValueError:
        raise Declined("The body is no JSON.") from None
    if not isinstance(found, dict):
        raise Declined("The body must be a JSON object.")
    return found


def _refusal(bound: str) -> Declined:
    match bound:
        case "size":
            return guard.too_large()
        case "structure":
            most = f"{LIMITS.structure:,} objects, lists and keys"
            return Declined(f"A body may have {most}.", status=413)
        case "text":
            most = f"{LIMITS.size >> 21} MB of texts with other than ASCII characters"
            return Declined(f"A body may have {most}.", status=413)
        case "depth":
            return Declined(f"The body is nested too deeply: it may have {DEEPEST} levels.")
    return Declined("A number in the body has too many digits.")
