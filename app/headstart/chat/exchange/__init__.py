"""Conversation files: what goes out of the program and what comes in."""
