"""Parts of `make windows-trial` that run on Windows; each prints JSON in its last line: whether it
was right, and words or figures."""
