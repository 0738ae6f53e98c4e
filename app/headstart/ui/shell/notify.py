"""Notifications by the system, for a user who looks at another window."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys

from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

log = logging.getLogger(__name__)

_NAME, _ICON = "Headstart", "headstart"
# milliseconds
_SHOWN = 8000


class Notifier:
    """`tell` does nothing while the window is active."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._icon: QSystemTrayIcon | None = None

    def tell(self, title: str, text: str) -> None:
        if self._window.isActiveWindow():
            return
        QApplication.alert(self._window)
        if sys.platform == "linux":
            with contextlib.suppress(RuntimeError):
                # without a running loop the program is about to end
                asyncio.get_running_loop().run_in_executor(None, _by_bus, title, text)
        elif QSystemTrayIcon.isSystemTrayAvailable():
            if self._icon is None:
                self._icon = QSystemTrayIcon(self._window.windowIcon(), self._window)
            self._icon.show()
            self._icon.showMessage(title, text, self._window.windowIcon(), _SHOWN)


def _by_bus(title: str, text: str) -> None:
    """Notify over the session's bus; does nothing on systems without one."""
    try:
        from jeepney import DBusAddress, new_method_call
        from jeepney.io.blocking import open_dbus_connection

        address = DBusAddress(
            "/org/freedesktop/Notifications",
            bus_name="org.freedesktop.Notifications",
            interface="org.freedesktop.Notifications",
        )
        actions: list[str] = []
        hints: dict[str, object] = {}
        body = (_NAME, 0, _ICON, title, text, actions, hints, _SHOWN)
        with open_dbus_connection("SESSION") as connection:
            connection.send(new_method_call(address, "Notify", "susssasa{sv}i", body))
    except Exception as error:
        # no bus, no service, or one with unusual answers
        log.info("the desktop was not notified: %s", type(error).__name__)
