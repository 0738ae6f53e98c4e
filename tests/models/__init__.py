"""Makers of models that no hub is needed for; used by benchmarks and tests."""
