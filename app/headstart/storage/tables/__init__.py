"""The tables as SQLAlchemy and SQLite see them, and rows as values."""
