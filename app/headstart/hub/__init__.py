"""Weights on disk: the existing models, and the facts in their files."""
