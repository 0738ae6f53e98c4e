"""Chats as values: messages and their parts, the tree, search, prompts and unsent text."""
