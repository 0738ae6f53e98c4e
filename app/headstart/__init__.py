"""Headstart: a native desktop chat app for language models on the user's own computer."""

__version__ = "0.1.0"
