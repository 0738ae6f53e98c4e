"""Speculation: drafts, their lossless verification, and the choice of the draft depth."""
