"""A screen reader's place on the desktop: the accessibility bus of Linux (AT-SPI 2), spoken to as
Orca does, by D-Bus."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jeepney import (
    DBusAddress,
    DBusErrorResponse,
    HeaderFields,
    MatchRule,
    Message,
    MessageType,
    new_method_call,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import unwrap_msg

from tests.support.patience import PATIENCE, wait_for
from tests.support.screen import Screen, missing_tools, screen
from tests.support.session_bus import session_bus

_LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_TEXT = "org.a11y.atspi.Text"
_EVENT = "org.a11y.atspi.Event.Object"
# how Orca asks for a line; a relation; the number of a state
_LINE, _LABELLED_BY, _SHOWING = 3, 2, 25


def missing() -> list[str]:
    launchers = [one for one in _LAUNCHERS if Path(one).exists()]
    lacking = missing_tools()
    if shutil.which("dbus-daemon") is None:
        lacking.append("dbus-daemon")
    return lacking if launchers else [*lacking, "at-spi2-core"]


class Part:
    """One part of a program's window. `role` is AT-SPI's name, “push button”."""

    def __init__(self, bus: Bus, name: str, path: str) -> None:
        self.bus, self.owner, self.path = bus, name, path

    def ask(self, interface: str, method: str, form: str = "", *given: object) -> Any:
        return self.bus.ask(self.owner, self.path, interface, method, form, given)

    def _property(self, interface: str, name: str) -> Any:
        found = self.ask("org.freedesktop.DBus.Properties", "Get", "ss", interface, name)
        return found[0][1]

    @property
    def name(self) -> str:
        return str(self._property(_ACCESSIBLE, "Name"))

    @property
    def title(self) -> str:
        """The name that a reader says: that of its label, if it has one."""
        for kind, labels in self.ask(_ACCESSIBLE, "GetRelationSet")[0]:
            if kind == _LABELLED_BY:
                return " ".join(Part(self.bus, *one).name for one in labels)
        return "" if self.role == "combo box" else self.name

    @property
    def is_shown(self) -> bool:
        """True on the screen; AT-SPI gives states as 64 bits."""
        low, _high = self.ask(_ACCESSIBLE, "GetState")[0]
        return bool(low >> _SHOWING & 1)

    @property
    def description(self) -> str:
        return str(self._property(_ACCESSIBLE, "Description"))

    @property
    def role(self) -> str:
        return str(self.ask(_ACCESSIBLE, "GetRoleName")[0])

    @property
    def interfaces(self) -> set[str]:
        return {one.rpartition(".")[2] for one in self.ask(_ACCESSIBLE, "GetInterfaces")[0]}

    @property
    def parts(self) -> list[Part]:
        found = self.ask(_ACCESSIBLE, "GetChildren")[0]
        return [Part(self.bus, name, path) for name, path in found if not path.endswith("/null")]

    def walk(self) -> Iterator[Part]:
        """The part and everything in it, as it is read."""
        yield self
        for one in self.parts:
            yield from one.walk()

    def find(self, role: str, begins: str = "") -> Part | None:
        return next(
            (one for one in self.walk() if one.role == role and one.name.startswith(begins)), None
        )

    def press(self) -> None:
        self.ask("org.a11y.atspi.Action", "DoAction", "i", 0)

    def write(self, text: str) -> None:
        self.ask("org.a11y.atspi.EditableText", "SetTextContents", "s", text)

    def text(self) -> str:
        return str(self.ask(_TEXT, "GetText", "ii", 0, -1)[0])

    def lines(self) -> list[str]:
        """Its lines, one after the other, as a reader steps through them."""
        count, at, found = int(self._property(_TEXT, "CharacterCount")), 0, []
        while at < count:
            line, begin, end = self.ask(_TEXT, "GetStringAtOffset", "iu", at, _LINE)
            found.append(str(line).strip("\n"))
            assert begin <= at < end, (at, begin, end)
            at = end
        return found

    def place(self, offset: int) -> tuple[int, int, int, int]:
        """A character on the screen."""
        x, y, width, height = self.ask(_TEXT, "GetCharacterExtents", "iu", offset, 0)
        return x, y, width, height


class Bus:
    """The accessibility bus. `heard`: announcements, as they came."""

    def __init__(self, session: str) -> None:
        with open_dbus_connection(session) as connection:
            place = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
            answer = connection.send_and_get_reply(new_method_call(place, "GetAddress"))
            address = unwrap_msg(answer)[0]
        self._asking = open_dbus_connection(address)
        self._hearing = open_dbus_connection(address)
        rule = MatchRule(type="signal", interface=_EVENT, member="Announcement")
        self._events: deque[Message] = deque()
        self._filter = self._hearing.filter(rule, queue=self._events)
        self._filter.__enter__()
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        self._call(self._hearing, new_method_call(bus, "AddMatch", "s", (rule.serialise(),)))
        registry = DBusAddress(
            "/org/a11y/atspi/registry", "org.a11y.atspi.Registry", "org.a11y.atspi.Registry"
        )
        wanted = "object:announcement"
        self._call(self._hearing, new_method_call(registry, "RegisterEvent", "s", (wanted,)))

    def close(self) -> None:
        self._asking.close()
        self._hearing.close()

    def _call(self, connection: DBusConnection, message: Message) -> tuple[Any, ...]:
        answer = connection.send_and_get_reply(message, timeout=PATIENCE)
        if answer.header.message_type is MessageType.error:
            raise LookupError(answer.header.fields.get(HeaderFields.error_name), answer.body)
        return tuple(answer.body)

    def ask(
        self, owner: str, path: str, interface: str, method: str, form: str, given: object
    ) -> tuple[Any, ...]:
        place = DBusAddress(path, owner, interface)
        message = new_method_call(place, method, form or None, given)
        return self._call(self._asking, message)

    def programs(self) -> list[Part]:
        root = Part(self, "org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
        return root.parts

    def heard(self, seconds: float = 0.3) -> list[str]:
        """All announcements until now."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                self._hearing.recv_messages(timeout=left)
        return [str(one.body[3][1]) for one in self._events]


@contextlib.contextmanager
def desktop(home: Path) -> Iterator[tuple[Screen, Bus]]:
    """A screen with a session bus and an accessibility bus, for programs of the user `home`."""
    runtime = home / "runtime"
    runtime.mkdir(mode=0o700)
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "HOME": str(home)}
    environment |= {"QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "LANG": "C.UTF-8"}
    launcher = next(one for one in _LAUNCHERS if Path(one).exists())
    with session_bus(environment) as (address, found), screen(found) as shown:
        buses = subprocess.Popen(
            [launcher, "--launch-immediately"], env=shown.environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            with contextlib.closing(_bus(address)) as bus:
                wait_for(lambda: bus.programs() is not None)
                yield shown, bus
        finally:
            buses.terminate()
            buses.wait(PATIENCE)


def _bus(session: str) -> Bus:
    """The accessibility bus, once its launcher has it."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return Bus(session)
        except (DBusErrorResponse, OSError, LookupError):
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
