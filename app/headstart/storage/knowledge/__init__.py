"""The index of files: a database of its own, which can be deleted and made again."""
