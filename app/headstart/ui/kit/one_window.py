"""One window of a kind at a time. Main thread."""

from __future__ import annotations

from typing import Generic, TypeVar, overload

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog

W = TypeVar("W", bound=QDialog)


class OneWindow(Generic[W]):
    """An attribute that holds a window while it is open, else None. Assigning a window closes the
    one that is open; closing deletes it."""

    def __set_name__(self, owner: type[object], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, owner: None, kind: type[object]) -> OneWindow[W]: ...
    @overload
    def __get__(self, owner: object, kind: type[object]) -> W | None: ...
    def __get__(self, owner: object | None, kind: type[object]) -> OneWindow[W] | W | None:
        return self if owner is None else owner.__dict__.get(self._name)

    def __set__(self, owner: object, window: W) -> None:
        before = owner.__dict__.get(self._name)
        if before is not None:
            before.close()
        owner.__dict__[self._name] = window
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        window.finished.connect(lambda _result: self._forget(owner, window))

    def _forget(self, owner: object, window: W) -> None:
        if owner.__dict__.get(self._name) is window:
            owner.__dict__[self._name] = None
