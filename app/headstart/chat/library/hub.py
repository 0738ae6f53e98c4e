"""The hub's client, cache and token. Created on first use: nothing is imported and no request is
sent before the user wants it.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headstart.chat.preferences import Preferences
from headstart.core.told import Told
from headstart.storage.adapters.keychain import Keychain

if TYPE_CHECKING:
    from headstart.hub.online.client import HubClient

# the keychain's entry for a hub's token, by host
_ACCOUNT = "hub {host}"


class Hub:
    """Any worker thread. `cache` and `endpoint` come from the environment, except in tests."""

    def __init__(
        self,
        keychain: Keychain,
        preferences: Preferences,
        cache: Path | None = None,
        endpoint: str = "",
    ) -> None:
        self._keychain = keychain
        self._preferences = preferences
        self._cache = cache
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._client: HubClient | None = None

    @property
    def client(self) -> HubClient:
        """The client; the first use imports the hub's library."""
        with self._lock:
            if self._client is None:
                from headstart.hub.online.client import HubClient

                self._client = HubClient(self._token, self._endpoint)
            return self._client

    @property
    def cache(self) -> Path:
        """The cache folder shared by Hugging Face's tools."""
        if self._cache is None:
            from headstart.hub.downloads.places import shared_cache

            self._cache = shared_cache()
        return self._cache

    @property
    def host(self) -> str:
        return urlsplit(self.client.endpoint).netloc

    def set_token(self, token: str) -> Told | None:
        """Keep a token in the system's keychain, or forget it (""); return a notice for the user,
        if any."""
        if not token:
            self._keychain.forget(self._account)
            return None
        return self._keychain.set(self._account, token)

    @property
    def _account(self) -> str:
        return _ACCOUNT.format(host=self.host)

    def _token(self) -> str | None:
        # a keychain may ask for a password: queried only if it holds a token
        known = self._preferences.current.library.has_token
        return self._keychain.get(self._account) if known else None
