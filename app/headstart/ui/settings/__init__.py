"""The settings window, a page for each kind of setting."""
