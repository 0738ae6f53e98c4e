"""The verbs of a conversation: send, edit, regenerate, continue, stop, export. Knows no Qt."""
