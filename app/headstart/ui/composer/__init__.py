"""The composer."""
