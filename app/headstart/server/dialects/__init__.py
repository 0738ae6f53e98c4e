"""Dialects of other programs: a body in, a request out; events in, bytes out. Pure."""
