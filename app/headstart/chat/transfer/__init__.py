"""Import and export of conversations: files to chats in the database, and back."""
