"""The hub as values: repositories, what is shown of them, downloads."""
