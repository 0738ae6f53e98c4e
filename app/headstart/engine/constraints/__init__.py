"""Constraints on a reply's tokens."""
