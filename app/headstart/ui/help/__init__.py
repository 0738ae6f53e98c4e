"""Help inside the window."""
