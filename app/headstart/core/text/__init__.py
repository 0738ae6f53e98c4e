"""Text and numbers as people write and read them. Pure."""
