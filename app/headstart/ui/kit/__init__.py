"""Widgets, sheets and looks that every part of the window uses; they know no other part."""
