"""state.json: the window's state, written atomically. Damage to the file costs only that state."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import msgspec

from headstart.core.files import write_whole
from headstart.core.settings.state import WindowState
from headstart.core.text.whole import whole_json

log = logging.getLogger(__name__)


class StateFile:
    """`settings`: the file that held the state in versions before it had its own."""

    def __init__(self, path: Path, settings: Path) -> None:
        self._path = path
        self._settings = settings

    @property
    def is_new(self) -> bool:
        """True if the state's own file does not exist yet."""
        return not self._path.exists()

    def load(self) -> WindowState:
        found = _read(self._path)
        if found is None:
            found = _read(self._settings) or {}
        kept = {}
        for name in WindowState.__struct_fields__:
            try:
                msgspec.convert({name: found[name]}, WindowState)
            except (KeyError, msgspec.ValidationError):
                continue
            kept[name] = found[name]
        return msgspec.convert(kept, WindowState)

    def save(self, state: WindowState) -> None:
        """Raises OSError."""
        data = msgspec.json.format(whole_json(state), indent=2)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._path, data + b"\n")


def _read(path: Path) -> dict[str, Any] | None:
    """The values of a file; None if it does not exist or has none."""
    try:
        values = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        log.warning("the state of the window cannot be read")
        return None
    return values if isinstance(values, dict) else None
