"""Downloads: repository files into the shared cache, resumable, verified, in turn."""
