"""The server for other programs: dialects, guard, routes, and the thread that it runs in."""
