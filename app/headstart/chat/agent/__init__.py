"""Replies that call tools: the loop of a model's steps, the program's own tools, permissions."""
