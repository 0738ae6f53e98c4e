"""Protocols of `core` over the storage thread, and the small files and keys beside the database."""
