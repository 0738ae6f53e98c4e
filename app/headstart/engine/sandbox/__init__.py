"""A sandbox for chat templates: untrusted programs, run with limits."""
