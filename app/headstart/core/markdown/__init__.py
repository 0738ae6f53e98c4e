"""Markdown with formulas, parsed for windows and files. Pure."""
