"""Chat templates: strangers' programs, run with limits."""
