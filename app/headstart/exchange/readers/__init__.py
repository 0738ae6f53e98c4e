"""Readers, one module for each kind of imported file."""
