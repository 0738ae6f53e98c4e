"""Passages of the user's files: the text around them, and the search of all files."""
