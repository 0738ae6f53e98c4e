"""Replies from servers with the OpenAI chat API, on a thread of their own."""
