"""Tool servers (MCP), as values: entries, lists of tools, offers to models, results. Pure."""
