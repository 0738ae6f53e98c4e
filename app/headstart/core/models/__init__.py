"""Models as values: their files' facts, their memory, and the draft that suits each. Pure."""
