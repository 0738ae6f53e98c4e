"""Rules of a reply."""
