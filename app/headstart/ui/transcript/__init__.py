"""The transcript: shows the messages of a chat."""
