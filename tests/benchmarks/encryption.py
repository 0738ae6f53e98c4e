"""What encryption at rest would cost: SQLCipher instead of SQLite, AES-256-GCM around KV state.

Neither is part of the program; `pip install sqlcipher3-wheels cryptography` brings both.
"""

from __future__ import annotations

import importlib
import os
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.report import Report, json_path, spread

MESSAGES, COMMITS, RUNS = 20_000, 300, 5
TEXT = "It is about rivers, hills and the weather in the mountains. " * 16
# bytes of the KV state of a chat of some 4,000 tokens of the starter model
STATE = 92 << 20
# the passphrase is stretched (256,000 rounds); a key from the keychain is taken as it is
KEYS = {
    "plain": "",
    "key": f"x'{'5c' * 32}'",
    "passphrase": "a passphrase that somebody types",
}


def connect(driver: Any, path: Path, key: str) -> Any:
    connection = driver.connect(path, isolation_level=None)
    if key:
        connection.execute(f'PRAGMA key = "{key}"')
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def measure(driver: Any, path: Path, key: str) -> dict[str, list[float]]:
    """Milliseconds of opening, of a commit of one message, of reading all, of a search."""
    connection = connect(driver, path, key)
    connection.execute("CREATE TABLE parts (id INTEGER PRIMARY KEY, chat INTEGER, text TEXT)")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='trigram')")
    connection.execute("BEGIN")
    texts = [(number % 50, f"{number} {TEXT}") for number in range(MESSAGES)]
    connection.executemany("INSERT INTO parts (chat, text) VALUES (?, ?)", texts)
    connection.executemany("INSERT INTO words VALUES (?)", [(text[:200],) for _, text in texts])
    connection.execute("COMMIT")
    connection.close()
    found: dict[str, list[float]] = {"open": [], "commit": [], "read": [], "search": []}
    for _ in range(RUNS):
        begun = time.perf_counter()
        connection = connect(driver, path, key)
        connection.execute("SELECT count(*) FROM parts WHERE id < 100").fetchone()
        found["open"].append(1000 * (time.perf_counter() - begun))
        begun = time.perf_counter()
        connection.execute("SELECT sum(length(text)) FROM parts").fetchone()
        found["read"].append(1000 * (time.perf_counter() - begun))
        begun = time.perf_counter()
        connection.execute("SELECT count(*) FROM words WHERE words MATCH 'weather'").fetchone()
        found["search"].append(1000 * (time.perf_counter() - begun))
        for _ in range(COMMITS // RUNS):
            begun = time.perf_counter()
            connection.execute("INSERT INTO parts (chat, text) VALUES (1, ?)", (TEXT,))
            found["commit"].append(1000 * (time.perf_counter() - begun))
        connection.close()
    return found


def sealing() -> tuple[list[float], list[float]]:
    """Milliseconds to encrypt and to decrypt the KV state of a chat."""
    aead = importlib.import_module("cryptography.hazmat.primitives.ciphers.aead")
    cipher, state = aead.AESGCM(os.urandom(32)), os.urandom(STATE)
    there, back = [], []
    for _ in range(RUNS):
        nonce, begun = os.urandom(12), time.perf_counter()
        sealed = cipher.encrypt(nonce, state, None)
        there.append(1000 * (time.perf_counter() - begun))
        begun = time.perf_counter()
        cipher.decrypt(nonce, sealed, None)
        back.append(1000 * (time.perf_counter() - begun))
    return there, back


def main() -> None:
    path = json_path(__doc__ or "")
    cipher = importlib.import_module("sqlcipher3")
    report = Report("Encryption at rest, milliseconds")
    with tempfile.TemporaryDirectory() as place:
        for number, (name, key) in enumerate(KEYS.items()):
            driver = cipher if key else sqlite3
            for what, values in measure(driver, Path(place, f"{number}.db"), key).items():
                report.add(f"{what}_ms_{name}", statistics.median(values), spread=spread(values))
    there, back = sealing()
    report.add("state_encrypt_ms", statistics.median(there), spread=spread(there))
    report.add("state_decrypt_ms", statistics.median(back), spread=spread(back))
    report.write(path)


if __name__ == "__main__":
    main()
