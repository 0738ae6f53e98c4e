"""Speculation: drafts, their verification without loss, and how deep it pays to draft."""
