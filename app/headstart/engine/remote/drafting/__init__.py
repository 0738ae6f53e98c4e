"""Drafts for replies of servers: checked there, one request for each. Only the session uses it."""
