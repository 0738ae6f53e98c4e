"""Questions answered from the user's files: folders, searches, passages for prompts."""
