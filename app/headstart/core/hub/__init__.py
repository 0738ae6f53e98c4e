"""The hub as values: repositories, their details, downloads."""
