"""A request in, events out. Owns the one inference thread and what runs on it."""
