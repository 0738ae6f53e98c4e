"""The messages of a chat, as they are written and read."""
