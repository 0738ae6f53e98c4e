"""Markdown and the formulas in it, as windows and files read them. Pure."""
