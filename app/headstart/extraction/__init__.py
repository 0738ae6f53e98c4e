"""What files say: their text, read in a child process with limits."""
