"""The schema's version: the program's, the file's, and the migrations between them.

Alembic takes a third of a second to import, so it is imported only for a migration: a new file gets
its tables at once. A copy of the file is made before each migration.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from pathlib import Path

from sqlalchemy import Connection, Engine

from headstart.core.errors import DatabaseProblem
from headstart.storage.rescue.copies import KEPT_BEFORE_MIGRATION, copy_database
from headstart.storage.tables import search as search_tables
from headstart.storage.tables.definitions import metadata

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011")
HEAD = REVISIONS[-1]
# identical to Alembic's
_VERSION = """CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)"""
# Alembic's context is global to the process, and a copy may be migrated beside the database
_migrating = threading.Lock()


def check_known(path: Path) -> None:
    """Raise DatabaseProblem for a file that is not ours to change; reads only."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        current = None
        if "alembic_version" in names:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            current = None if row is None else str(row[0])
    tables = any(not name.startswith(("sqlite_", "alembic_")) for name in names)
    if current is not None and current not in REVISIONS:
        raise DatabaseProblem("database-newer", path=path)
    if current is None and tables:
        raise DatabaseProblem("database-of-another-program", path=path)


def check_current(engine: Engine, path: Path) -> None:
    """Raise DatabaseProblem for an open database that a newer version wrote."""
    current = _current(engine)
    if current is not None and current not in REVISIONS:
        raise DatabaseProblem("database-newer", path=path)


def is_current(engine: Engine) -> bool:
    """True if the schema is the one that this version writes."""
    return _current(engine) == HEAD


def bring_up_to_date(engine: Engine, path: Path | None, backups: Path) -> None:
    """Migrate to `HEAD` if needed, after making a copy; none without a path (in memory)."""
    current = _current(engine)
    if current == HEAD or (current is None and _began(engine)):
        return
    if current is not None and path is not None:
        copy_database(path, backups, f"schema-{current}", KEPT_BEFORE_MIGRATION)
    migrate(engine)


def create_tables(connection: Connection) -> None:
    """Create the tables of `HEAD` in an empty database."""
    metadata.create_all(connection)
    for statement in search_tables.CREATE:
        connection.exec_driver_sql(statement)


def _began(engine: Engine) -> bool:
    """Create the tables of `HEAD` in an empty file; False if the file is not empty."""
    with engine.begin() as connection:
        if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar():
            return False
        connection.exec_driver_sql(_VERSION)
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (HEAD,))
        create_tables(connection)
    return True


def _current(engine: Engine) -> str | None:
    with engine.begin() as connection:
        known = connection.exec_driver_sql(
            "SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'"
        ).scalar()
        if not known:
            return None
        row = connection.exec_driver_sql("SELECT version_num FROM alembic_version").first()
        return None if row is None else str(row[0])


def migrate(engine: Engine) -> None:
    """Run all missing migrations, or none if one fails."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with _migrating, engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, HEAD)
