"""Requests of other programs: admission, sessions, the list of requests, the server's switch."""
