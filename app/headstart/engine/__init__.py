"""The inference engine: takes requests, emits events. Owns the one inference thread and its
models."""
