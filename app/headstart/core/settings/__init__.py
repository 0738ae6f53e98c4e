"""The settings: the schema, its parts, and which of several holds. Pure."""
