"""Protocols of `core` on the storage thread, and small files and keys outside the database."""
