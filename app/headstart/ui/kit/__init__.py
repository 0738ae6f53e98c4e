"""Widgets, sheets and looks that every part of the window uses; they depend on no other part."""
