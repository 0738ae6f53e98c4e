"""Keys of servers, stored only in the system's keychain. Any thread; the keychain may ask the user
for a password and take long.

A key belongs to an account, which names the connection and its address: another address never gets
it. On a system without a keychain the key stays in memory until the program ends, and the user is
told: it is never written to a file of ours.
"""

from __future__ import annotations

import logging
import threading

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told, told

log = logging.getLogger(__name__)

SERVICE = "Headstart"
# back ends below this are stand-ins: plain files, or no storage at all
_LEAST_PRIORITY = 1.0


class Keychain:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, str | None] = {}

    def get(self, account: str) -> str | None:
        """The key of an account; None if there is none. Raises EnvironmentProblem if the keychain
        cannot be opened, which may succeed the next time."""
        with self._lock:
            if account in self._known:
                return self._known[account]
        import keyring

        try:
            found = keyring.get_password(SERVICE, account)
        except Exception as error:
            # back ends raise any error of their system; its message may contain the key
            log.warning("the keychain cannot be read: %s", type(error).__name__)
            raise EnvironmentProblem("keychain-closed") from None
        with self._lock:
            return self._known.setdefault(account, found)

    def set(self, account: str, key: str) -> Told | None:
        """Store a key. Returns a message for the user, if any."""
        with self._lock:
            self._known[account] = key
        import keyring

        try:
            if keyring.get_keyring().priority < _LEAST_PRIORITY:
                raise RuntimeError("there is no keychain")
            keyring.set_password(SERVICE, account, key)
        except Exception as error:
            log.warning("the keychain cannot be written: %s", type(error).__name__)
            return told("key-not-kept")
        return None

    def forget(self, account: str) -> None:
        """Remove a key, as far as the keychain allows it."""
        with self._lock:
            self._known[account] = None
        import keyring

        try:
            if keyring.get_password(SERVICE, account) is not None:
                keyring.delete_password(SERVICE, account)
        except Exception as error:
            log.warning("a key could not be removed: %s", type(error).__name__)
