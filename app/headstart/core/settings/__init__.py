"""The settings: the schema, its parts, and the order in which levels override. Pure."""
