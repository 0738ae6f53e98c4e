"""Import and export from a terminal, without a window, even beside an open one.

Exit codes: 0 if everything was imported or exported, 3 for a partial import, 1 for a failure, 2 for
invalid arguments.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence

import filelock

from headstart.chat.broadcast import Broadcast
from headstart.chat.databases import Databases
from headstart.chat.library.hub import Hub
from headstart.chat.preferences import Preferences
from headstart.chat.services import ModelLocations
from headstart.chat.transfer.export_request import ExportJobRun as ExportRun
from headstart.chat.transfer.exporting import Exporting, formats
from headstart.chat.transfer.importing import Importing
from headstart.chat.transfer.intake import ImportJobRun as ImportRun
from headstart.chat.transfer.intake import ImportPlan, Result
from headstart.core import reentry
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import keep_private, private_folder, typed_path
from headstart.home import Home
from headstart.storage.adapters.keychain import Keychain
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.worker import Storage

# exit code of an import that succeeded in part; 1: nothing was imported
PARTLY = 3


def main(arguments: Sequence[str]) -> int:
    """`arguments` begin with the command."""
    options = _parse(arguments)
    reentry.enter_folder()
    home = Home(options.home) if options.home else Home.default()
    keep_private()
    try:
        private_folder(home.path, home.names)
        return asyncio.run(_run(home, options))
    except EnvironmentProblem as problem:
        print(f"headstart: {problem}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"headstart: {home.path}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("headstart: stopped; what is whole stays", file=sys.stderr)
        return 1


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="headstart")
    parser.add_argument(
        "--home", type=typed_path, metavar="DIR", help="the folder with chats and settings"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    take = commands.add_parser("import", help="take in conversations of other programs")
    take.add_argument(
        "files", nargs="+", type=typed_path, metavar="FILE", help="files, folders, zips"
    )
    take.add_argument("--dry-run", action="store_true", help="say what would come in, and end")
    give = commands.add_parser("export", help="write chats to files")
    codes = [form.code for form in formats()]
    give.add_argument("--format", type=_format, choices=codes, default="markdown")
    give.add_argument(
        "--out", type=typed_path, required=True, metavar="PATH", help="a folder, or a file to write"
    )
    give.add_argument("--chat", action="append", default=[], help="a title; once for each chat")
    give.add_argument("--no-reasoning", action="store_true", help="leave reasoning out")
    give.add_argument("--stats", action="store_true", help="with the figures of each reply")
    give.add_argument("--branches", action="store_true", help="with other versions of messages")
    for command in (take, give):
        command.add_argument("--home", type=typed_path, metavar="DIR", default=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _format(text: str) -> str:
    """The code of a format; file extensions are accepted too."""
    return {"md": "markdown", "txt": "text", "htm": "html", "jsonl": "trace"}.get(text, text)


async def _run(home: Home, options: argparse.Namespace) -> int:
    lock = filelock.FileLock(home.lock)
    with contextlib.suppress(filelock.Timeout, OSError):
        lock.acquire(timeout=0)
    # an open window remains in charge of the database
    beside = not lock.is_locked
    settings, _ = SettingsFile(home.settings).load()
    preferences = Preferences(settings, SettingsFile(home.settings))
    storage = Storage(home.database, home.backups, beside=beside)
    try:
        await storage.ready()
        if options.command == "import":
            return await _import(home, storage, preferences, options)
        return await _export(storage, preferences, options)
    finally:
        await asyncio.to_thread(storage.close)
        await asyncio.to_thread(preferences.close)
        lock.release()


async def _import(
    home: Home, storage: Storage, preferences: Preferences, options: argparse.Namespace
) -> int:
    weights = ModelLocations(Hub(Keychain(), preferences), home.known_models)
    shelf = weights.shelf(preferences)
    importing = Importing(storage, shelf, preferences, Broadcast(), home.temporary)
    found: ImportPlan | Result
    known: int
    if options.dry_run:
        plan = found = await importing.plan(options.files, ImportRun())
        for chat in plan.chats:
            print(f"{chat.state:5}  {chat.messages:6,}  {chat.source:12}  {chat.title}")
        known = len(plan.chats)
        says = f"{_count(plan.count('new'), 'new chat')} would come in"
    else:
        result = found = await importing.run(options.files, ImportRun())
        known = result.new + result.more + result.restored + result.here
        words = [_count(result.new, "new chat"), f"{result.more:,} with new messages"]
        words += [f"{result.restored:,} from the trash", f"{result.here:,} here already"]
        says = f"{', '.join(words)}: {_count(result.messages, 'message')}"
    for line in found.report.lines:
        print(f"left out: {line.where}: {line.why.text}", file=sys.stderr)
    if found.report.left_out:
        print(f"left out: {found.report.left_out:,} further", file=sys.stderr)
    print(says)
    if not found.report.counts:
        return 0
    return PARTLY if known else 1


def _count(count: int, word: str) -> str:
    """“1 chat”, “2,000 chats”: the terminal speaks English."""
    return f"{count:,} {word if count == 1 else f'{word}s'}"


async def _export(storage: Storage, preferences: Preferences, options: argparse.Namespace) -> int:
    broadcast = Broadcast()
    databases = Databases(storage, broadcast)
    chats: list[str] = []
    if options.chat:
        known = await databases.summaries()
        chats = [chat.id for chat in known if chat.title in options.chat]
        missing = set(options.chat) - {chat.title for chat in known}
        for title in sorted(missing):
            print(f"headstart: there is no chat “{title}”", file=sys.stderr)
        if missing:
            return 1
    # this program generates no replies
    exporting = Exporting(databases, lambda _: None, None, preferences)
    if options.format in ("pdf", "odt"):
        exporting.renderers.update(_renderers())
    wanted = exporting.wanted(
        chats,
        options.format,
        reasoning=not options.no_reasoning,
        stats=options.stats,
        branches=options.branches,
    )
    if not options.out.suffix:
        # a folder, existing or not
        options.out.mkdir(parents=True, exist_ok=True)
    count = await exporting.write(wanted, options.out, ExportRun())
    print(f"{_count(count, 'chat')} written to {options.out}")
    return 0


def _renderers() -> Mapping[str, Callable[[str, str], bytes]]:
    """Writers of documents, with Qt started for them."""
    # no screen is needed
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from headstart.launch import make_application
    from headstart.ui.transfer.renderers import RENDERERS

    _kept.append(make_application())
    return RENDERERS


# Qt's application lives as long as the program
_kept: list[object] = []
