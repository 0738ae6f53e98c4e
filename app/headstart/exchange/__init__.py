"""Conversation files: bytes in, trees of messages out, and back. Pure: no Qt, no database."""
