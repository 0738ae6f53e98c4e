"""Text extraction from files, in a child process with limits."""
