"""The actions of a conversation: send, edit, regenerate, continue, stop, export. Knows no Qt."""
