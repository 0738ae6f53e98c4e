"""Conversations in and out: files to chats of the database, and back."""
