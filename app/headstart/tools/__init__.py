"""Tool servers: a child process speaks with them, and lists and entries on disk.

`host` and `hosted` run in the child, which imports the MCP library; the rest runs in the program,
which never does: neither the window nor the engine waits for a server's 20 MB.
"""
