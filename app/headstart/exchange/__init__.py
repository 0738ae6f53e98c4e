"""Conversation files: from bytes to trees of messages, and back. Pure: no Qt, no database."""
