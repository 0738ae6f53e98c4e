"""One module per schema change; a released one is never edited."""
