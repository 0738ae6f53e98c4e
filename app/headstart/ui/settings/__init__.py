"""The settings, with a page for each kind."""
