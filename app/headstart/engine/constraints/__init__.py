"""What of a reply may be drawn."""
