"""Weights on disk: which models there are, and what their files say about themselves."""
