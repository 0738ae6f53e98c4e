"""Chats as values: messages and their parts, the tree, search, prompts and what is not sent yet."""
