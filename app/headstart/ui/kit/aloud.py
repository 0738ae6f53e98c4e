"""Sentences for a screen reader that no focus leads to. Main thread."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

_Politeness = QAccessible.AnnouncementPoliteness


def is_heard() -> bool:
    """True while a screen reader or another assistive program is there."""
    return QAccessible.isActive()


def tell(widget: QWidget, text: str, urgent: bool = False) -> None:
    """Have a text read on behalf of a widget; an urgent one interrupts what is being read."""
    if not text.strip() or not is_heard():
        return
    event = QAccessibleAnnouncementEvent(widget, text)
    event.setPoliteness(_Politeness.Assertive if urgent else _Politeness.Polite)
    QAccessible.updateAccessibility(event)
