"""Tool servers: the user's entries, the servers that run, and the tools that they lend to chats."""
