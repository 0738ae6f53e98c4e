"""One module a schema change; a released one is never edited."""
