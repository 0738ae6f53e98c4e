"""Schema changes, oldest first; new ones are only appended. `schema.REVISIONS` lists them."""
