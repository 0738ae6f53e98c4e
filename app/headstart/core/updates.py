"""Updates: the check for a newer version, only if the user wants it. Pure."""

from __future__ import annotations

import functools
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from headstart.core.resources import resources

# seconds between two checks
PERIOD = 24 * 3600


class UpdateSettings(Struct, frozen=True, omit_defaults=True):
    look: bool = False
    # empty: the address that this package was built with
    address: Annotated[str, Meta(max_length=2_000)] = ""


class Release(Struct, frozen=True):
    """The answer of the address. `page`: the download page."""

    version: Annotated[str, Meta(min_length=1, max_length=40)]
    page: Annotated[str, Meta(max_length=2_000)] = ""

    def newer_than(self, version: str) -> bool:
        """Raises ValueError for an invalid version."""
        # not imported at every start
        from packaging.version import InvalidVersion, Version

        try:
            return Version(self.version) > Version(version)
        except InvalidVersion as error:
            raise ValueError(self.version) from error

    def page_at(self, address: str) -> str:
        """The page, if it is on the address's site; else that site."""
        asked, page = urlsplit(address), urlsplit(self.page)
        same = (page.scheme, page.netloc) == (asked.scheme, asked.netloc)
        return self.page if same else f"{asked.scheme}://{asked.netloc}/"


@functools.cache
def packaged_address() -> str:
    """The address that this package was built with; empty in a clone."""
    try:
        return (resources() / "updates-address.txt").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def may_ask(address: str) -> bool:
    """True for an address whose traffic cannot be read or changed on the way."""
    try:
        parts = urlsplit(address)
        local = parts.hostname in ("localhost", "127.0.0.1", "::1")
        return bool(parts.hostname) and parts.scheme in (("https", "http") if local else ("https",))
    except ValueError:
        return False


def decode(data: bytes) -> Release:
    """Raises ValueError for an invalid release."""
    try:
        release = msgspec.json.decode(data, type=Release)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
    release.newer_than("0")
    return release
