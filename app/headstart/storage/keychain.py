"""Keys of servers, in the system's keychain and nowhere else. Any thread; the keychain may ask
the user for a password and take long.

Where a system has no keychain the key lives in memory until the program ends, and that is said:
it is never written to a file.
"""

from __future__ import annotations

import logging
import threading

log = logging.getLogger(__name__)

SERVICE = "Headstart"


class Keychain:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        # what was asked for once; None: there is no key
        self._known: dict[str, str | None] = {}

    def get(self, connection_id: str) -> str | None:
        """The key of a connection; None when there is none, or no keychain."""
        with self._lock:
            if connection_id in self._known:
                return self._known[connection_id]
        found = _ask(connection_id)
        with self._lock:
            return self._known.setdefault(connection_id, found)

    def set(self, connection_id: str, key: str) -> str:
        """Keep a key; an empty one is forgotten. Returns what the user should know, if anything."""
        with self._lock:
            self._known[connection_id] = key or None
        import keyring
        import keyring.errors

        try:
            if key:
                keyring.set_password(SERVICE, connection_id, key)
            elif keyring.get_password(SERVICE, connection_id) is not None:
                keyring.delete_password(SERVICE, connection_id)
        except Exception as error:
            # back ends raise whatever their system does
            log.warning("the keychain cannot be used: %s", type(error).__name__)
            if key:
                return (
                    "This computer's keychain cannot be used, so the key is kept only until "
                    "Headstart ends. It was not written to any file."
                )
        return ""


def _ask(connection_id: str) -> str | None:
    import keyring

    try:
        return keyring.get_password(SERVICE, connection_id)
    except Exception as error:
        log.warning("the keychain cannot be used: %s", type(error).__name__)
        return None
