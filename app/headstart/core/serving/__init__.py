"""Requests of other programs to the server of this program, as values. Pure."""
