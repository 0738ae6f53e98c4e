"""The tables in SQLAlchemy and SQLite, and the conversion of rows to values."""
