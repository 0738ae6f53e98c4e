"""One module for each kind of file that conversations come in."""
