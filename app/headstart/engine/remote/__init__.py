"""Replies from servers with the OpenAI chat API, on a separate thread."""
