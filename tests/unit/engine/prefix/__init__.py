"""Tests of stored prefixes."""
