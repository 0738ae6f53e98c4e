"""Trials of files, pairs and cards in a child process, which may crash."""
