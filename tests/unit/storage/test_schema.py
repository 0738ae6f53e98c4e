"""Opening databases: new, current, newer, foreign, damaged; and migrations that only grow."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from headstart.core.errors import DatabaseProblem
from headstart.core.models.profiles import ProfileKey, ProfileKind
from headstart.storage import schema
from headstart.storage.database import open_database, open_engine
from headstart.storage.messages import MessageTable
from headstart.storage.profiles import ProfileTable
from headstart.storage.rescue import copies
from headstart.storage.rescue.opening import open_home
from headstart.storage.tables.definitions import metadata


def _open(tmp_path: Path) -> Engine:
    return open_database(tmp_path / "a.db", tmp_path / "backups")


def test_the_known_revisions_are_those_of_the_scripts() -> None:
    config = Config()
    folder = Path(schema.__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder))
    scripts = ScriptDirectory.from_config(config)
    ordered = [script.revision for script in scripts.walk_revisions()]
    assert tuple(reversed(ordered)) == schema.REVISIONS


def test_migrations_make_exactly_the_tables_that_the_code_uses(tmp_path: Path) -> None:
    from alembic.autogenerate import compare_metadata

    engine = open_engine(tmp_path / "a.db")
    schema.migrate(engine)
    with engine.begin() as connection:
        options = {"include_name": lambda name, *_: not str(name).startswith("message_search")}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def _made(engine: Engine) -> dict[str, str]:
    with engine.begin() as connection:
        rows = connection.exec_driver_sql("SELECT type, name, sql FROM sqlite_master").fetchall()
    engine.dispose()
    return {f"{kind} {name}": "".join(str(sql).split()) for kind, name, sql in rows}


def test_a_new_database_is_the_one_that_migrations_make(tmp_path: Path) -> None:
    migrated = open_engine(tmp_path / "migrated.db")
    schema.migrate(migrated)
    new = _open(tmp_path)
    assert schema.is_current(new)
    assert _made(new) == _made(migrated)


def test_a_new_database_has_wal_and_foreign_keys(tmp_path: Path) -> None:
    engine = _open(tmp_path)
    with engine.begin() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    engine.dispose()


def _change(path: Path, *statements: str) -> bytes:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path.read_bytes()


def test_a_newer_database_is_refused_and_left_untouched(tmp_path: Path) -> None:
    _open(tmp_path).dispose()
    before = _change(tmp_path / "a.db", "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(DatabaseProblem, match="newer version"):
        _open(tmp_path)
    assert (tmp_path / "a.db").read_bytes() == before


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    before = _change(tmp_path / "a.db", "CREATE TABLE recipes (id INTEGER)")
    with pytest.raises(DatabaseProblem, match="another program"):
        _open(tmp_path)
    assert (tmp_path / "a.db").read_bytes() == before


def test_a_copy_is_whole_and_old_copies_go(tmp_path: Path) -> None:
    _open(tmp_path).dispose()
    backups = tmp_path / "backups"
    backups.mkdir()
    for number in range(7):
        (backups / f"a-2000010{number}-000000-schema-0001.db").touch()
        (backups / f"a-2000010{number}-000000-daily.db").touch()
    copy = copies.copy_database(tmp_path / "a.db", backups, "schema-0003", 5)
    assert len(list(backups.glob("*-schema-*.db"))) == 5
    assert len(list(backups.glob("*-daily.db"))) == 7
    assert not list(backups.glob("*.partial"))
    connection = sqlite3.connect(copy)
    known = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert known == (schema.HEAD,)
    connection.close()


def test_an_older_schema_is_copied_before_it_is_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _open(tmp_path).dispose()
    before = schema.HEAD
    monkeypatch.setattr(schema, "REVISIONS", (*schema.REVISIONS, "9998"))
    monkeypatch.setattr(schema, "HEAD", "9998")
    migrated: list[Engine] = []
    monkeypatch.setattr(schema, "migrate", migrated.append)
    _open(tmp_path).dispose()
    assert len(migrated) == 1
    assert len(list((tmp_path / "backups").glob(f"a-*-schema-{before}.db"))) == 1


def _at_revision(path: Path, revision: str) -> None:
    from alembic import command

    from headstart.storage.database import open_engine

    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    engine = open_engine(path)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


def test_a_database_of_the_first_schema_keeps_everything(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    _at_revision(path, "0001")
    _change(
        path,
        "INSERT INTO chats VALUES ('c', 'Rivers', 0, 0, 5, 6, NULL, NULL, '{}', 'q')",
        "INSERT INTO messages VALUES "
        "('q', 'c', NULL, 1, 'user', 'complete', 5, NULL, NULL, 'a'),"
        "('a', 'c', 'q', 2, 'assistant', 'complete', 6, 'SmolLM2', NULL, NULL)",
        "INSERT INTO parts VALUES ('q', 0, 'text', 'Why?', '[]'),"
        """('a', 0, 'text', 'Because.', '[[8,"target"]]')""",
        "INSERT INTO turns VALUES (1, 'a', 6, 'end', 10, 2, 0.1, 0.2, 3, 0.4, NULL)",
    )
    engine = _open(tmp_path)
    question, answer = MessageTable(engine).branch("c")
    assert (question.text, answer.text) == ("Why?", "Because.")
    assert answer.stats is not None
    assert answer.stats.generated_tokens == 3
    assert answer.stats.speculation is None
    profiles = ProfileTable(engine)
    key = ProfileKey("target", "draft", "device")
    assert profiles.load(key) is None
    for data in (b'{"a":1}', b'{"a":2}'):
        profiles.save(key, data)
    assert profiles.load(key) == b'{"a":2}'
    assert profiles.load(key._replace(draft="")) is None
    engine.dispose()
    assert len(list((tmp_path / "backups").glob("a-*-schema-0001.db"))) == 1


def test_measurements_get_their_kind(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    _at_revision(path, "0008")
    names = ["", "a draft", *(f"({kind.value})" for kind in ProfileKind if kind != "speed")]
    _change(
        path,
        *(
            f"INSERT INTO speed_profiles VALUES ('target', '{name}', 'cpu', 1, '{number}')"
            for number, name in enumerate(names)
        ),
    )
    engine = _open(tmp_path)
    profiles = ProfileTable(engine)
    for number, name in enumerate(names):
        kind = ProfileKind(name.strip("()")) if name.startswith("(") else ProfileKind.SPEED
        draft = "" if kind is not ProfileKind.SPEED else name
        assert profiles.load(ProfileKey("target", draft, "cpu", kind)) == str(number).encode()
    engine.dispose()


def test_a_newer_database_that_is_open_already_is_refused(tmp_path: Path) -> None:
    engine = _open(tmp_path)
    schema.check_current(engine, tmp_path)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(DatabaseProblem, match="newer version"):
        schema.check_current(engine, tmp_path)
    engine.dispose()


@pytest.mark.skipif(sys.platform == "win32", reason="SQLite takes longer ones there")
def test_a_path_that_sqlite_does_not_take_is_named(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["x" * 100] * 5)
    folder.mkdir(parents=True)
    with pytest.raises(DatabaseProblem, match="more than 500 bytes"):
        open_home(folder / "headstart.db", folder / "backups")
