"""SQLite: chats, the message tree, the journal of unfinished replies, and the settings file.

The only room with SQL. Everything runs on one storage thread (`worker.Storage`).
"""
