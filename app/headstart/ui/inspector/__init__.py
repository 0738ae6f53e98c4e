"""Decisions of one chat, beside the transcript."""
