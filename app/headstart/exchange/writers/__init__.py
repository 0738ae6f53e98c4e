"""One module for each kind of file that conversations go out as."""
