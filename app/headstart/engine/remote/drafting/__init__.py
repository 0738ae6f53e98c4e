"""Drafts for servers' replies, checked by the server with one request each. Only the session uses
it."""
