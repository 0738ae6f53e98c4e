"""The guard of the server: key, host, origin and size, before a body is read. Pure.

A page in a browser can reach 127.0.0.1: by a form, by a script, or under a name of its own that
points there. So a foreign Host is declined, and every Origin that the user has not named.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from urllib.parse import urlsplit

from headstart.chat.serving.office import Opening
from headstart.server.dialects.declined import Declined

# bytes of a body: images in it are base64
LARGEST_BODY = 64 << 20
# places that need no key: they tell nothing
OPEN_PATHS = frozenset(("/", "/api/version", "/api/hello"))


def check(opening: Opening, method: str, path: str, headers: Mapping[str, str]) -> bool:
    """Refuse a request that this program does not answer; raises Declined. True if it has the key,
    False if it needs none."""
    host = headers.get("host", "").casefold()
    if host.rsplit(":", 1)[0] not in opening.hosts and host not in opening.hosts:
        raise Declined("This server does not answer to that host.", status=403)
    origin = headers.get("origin")
    if origin is not None and origin not in opening.origins:
        raise Declined(
            "Web pages may not use this server; the settings of Headstart list those that may.",
            status=403,
        )
    if method == "OPTIONS" or (path in OPEN_PATHS and method in ("GET", "HEAD")):
        return False
    if not hmac.compare_digest(_key(headers).encode(), opening.key.encode()):
        raise Declined(
            "The key is missing or wrong. The page Server in Headstart shows it.", status=401
        )
    return True


def check_size(headers: Mapping[str, str]) -> None:
    """Refuse a body that says it is too large."""
    said = headers.get("content-length", "0")
    if said.isascii() and said.isdigit() and int(said) > LARGEST_BODY:
        raise too_large()


def too_large() -> Declined:
    return Declined(f"A body may have {LARGEST_BODY >> 20} MB.", status=413)


def _key(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.casefold() == "bearer":
        return token.strip()
    return headers.get("x-api-key", "").strip()


def cross_origin(opening: Opening, headers: Mapping[str, str]) -> dict[str, str]:
    """The headers by which a browser lets a page of the user's list read the answer."""
    origin = headers.get("origin")
    if origin is None or origin not in opening.origins:
        return {}
    return {
        "access-control-allow-origin": origin,
        "access-control-allow-headers": headers.get("access-control-request-headers", "*"),
        "access-control-allow-methods": "GET, POST, OPTIONS",
        "access-control-max-age": "600",
        "vary": "Origin",
    }


def is_origin(text: str) -> bool:
    """True for an origin, as a browser sends it."""
    parts = urlsplit(text)
    return bool(parts.scheme and parts.netloc) and not (parts.path or parts.query)
