"""Text of files, read in a child process with limits."""
