"""SQLite: chats, the message tree, the journal of replies being written, and the settings file.

The only room that knows SQL. Everything runs on one storage thread (`worker.Storage`).
"""
