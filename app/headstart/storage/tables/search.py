"""The index of words over the texts of messages, as SQL. Migration 0008 creates it; one made with
other rules is rebuilt when the database is opened.

An FTS5 table over a view: the index stores only the words, the texts stay in their table. `fold`
(see `folding`) is a function of every connection. Ranges of parts not indexed yet are listed; the
program adds them while it is idle.
"""

from __future__ import annotations

import sqlite3

# the searched parts of a message: its text, and that of its files
_KINDS = "('text', 'file')"
TABLE = "message_search"

LEFT = f"{TABLE}_left"
_ROWS_LEFT = f"EXISTS (SELECT 1 FROM {LEFT} WHERE %s.rowid BETWEEN first AND last)"
_REMOVE = (
    f"WHEN old.kind IN {_KINDS} AND NOT {_ROWS_LEFT % 'old'} BEGIN"
    f" INSERT INTO {TABLE}({TABLE}, rowid, text)"
    " VALUES ('delete', old.rowid, fold(old.text)); END"
)
_ADD = (
    f"WHEN new.kind IN {_KINDS} AND NOT {_ROWS_LEFT % 'new'} BEGIN"
    f" INSERT INTO {TABLE}(rowid, text) VALUES (new.rowid, fold(new.text)); END"
)
_VIEW = f"""CREATE VIEW {TABLE}_texts AS
SELECT rowid AS id, fold(text) AS text FROM parts WHERE kind IN {_KINDS}"""
# a different SQL has the index rebuilt: the order of the categories must change with `fold`,
# because removing a text from the index requires the same folded words
_INDEX = f"""CREATE VIRTUAL TABLE {TABLE} USING fts5(
text, content='{TABLE}_texts', content_rowid='id',
tokenize="unicode61 remove_diacritics 2 categories 'L* M* N* Co So'")"""
_ALL_LEFT = f"""INSERT INTO {LEFT}
SELECT 1, max(rowid) FROM parts HAVING max(rowid) IS NOT NULL"""
CREATE = (
    _VIEW,
    _INDEX,
    f"CREATE TABLE {LEFT} (first INTEGER PRIMARY KEY, last INTEGER NOT NULL)",
    _ALL_LEFT,
    f"CREATE TRIGGER {TABLE}_added AFTER INSERT ON parts {_ADD}",
    f"CREATE TRIGGER {TABLE}_removed AFTER DELETE ON parts {_REMOVE}",
    f"CREATE TRIGGER {TABLE}_changed_from AFTER UPDATE ON parts {_REMOVE}",
    f"CREATE TRIGGER {TABLE}_changed_to AFTER UPDATE ON parts {_ADD}",
)


def is_of_this_make(made: str) -> bool:
    """True for the SQL of an index made with the current rules."""
    return " ".join(made.split()) == " ".join(_INDEX.split())


def empty(connection: sqlite3.Connection) -> None:
    """Clear the index of a database, if it has one; it is rebuilt later."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (TABLE,)).fetchone()
    # the only records of an index without words: its counts, and its structure
    words = f"SELECT 1 FROM {TABLE}_data WHERE id NOT IN (1, 10) LIMIT 1"
    if found is not None and connection.execute(words).fetchone() is not None:
        connection.execute(f"INSERT INTO {TABLE}({TABLE}) VALUES ('delete-all')")
        connection.execute(f"DELETE FROM {LEFT}")
        connection.execute(_ALL_LEFT)
        connection.commit()
