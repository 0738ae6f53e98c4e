"""Choosing and opening models."""
