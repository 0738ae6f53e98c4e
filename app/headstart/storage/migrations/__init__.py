"""Schema changes, oldest first; they only grow. `schema.REVISIONS` lists them."""
