"""What surrounds the chats fails: the disk, the files beside the database, memory, the clock.

Every
fault is put to the whole program in a process of its own, which asks questions; then the fault is
over, and the home must open, answer, and have every text that had been committed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from headstart.core.chats.parts import FilePart, ImagePart, Part, text_part
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.storage.worker import Storage, Store
from tests.faults.database import make
from tests.faults.kills import texts_in
from tests.faults.outcome import Outcome, Row, sound
from tests.faults.visit import Plan, Visit, visit
from tests.support.prefix_engine import prose
from tests.support.stored import behind_its_back

# long enough that its state is kept
QUESTION = f"{prose(420, 1)} What is this about?"
OTHERS = ("What is a lantern?", "And what is copper?")
ENDED = {MessageStatus.COMPLETE.value, MessageStatus.STOPPED.value}


@dataclass(frozen=True, slots=True)
class Sample:
    """A home that was used for a while, and left. `reply`: to `QUESTION`."""

    folder: Path
    texts: tuple[str, ...]
    reply: str


def make_sample(folder: Path) -> Sample:
    asyncio.run(make(folder, killed=False, copied=True))
    _attach(folder)
    found = visit(Plan(str(folder), (QUESTION,)))
    assert found.statuses[0] in ENDED, found
    texts = tuple(text for text in asyncio.run(texts_in(folder)) if text)
    return Sample(folder, texts, _reply(found, QUESTION))


def _attach(folder: Path) -> None:
    """A message with a file and an image, whose bytes lie beside the database."""

    def add(store: Store) -> None:
        chat = Chat(new_id(), "Attached", now_ms(), now_ms(), model="m")
        file = FilePart("notes.txt", store.blobs.put(b"notes " * 900, "text/plain"), "notes")
        image = ImagePart("a.png", store.blobs.put(b"\x89PNG" * 900, "image/png"), 8, 8)
        parts: tuple[Part, ...] = (*text_part("Two things are attached to this."), file, image)
        complete = MessageStatus.COMPLETE
        store.messages.add(
            [Message(new_id(), chat.id, None, Role.USER, complete, parts, now_ms())], chat
        )

    async def run() -> None:
        storage = Storage(folder / "headstart.db", folder / "backups")
        await storage.run(add)
        storage.close()

    asyncio.run(run())


def _reply(found: Visit, question: str) -> str:
    """What came after a question, in the order of the chat."""
    return found.texts[found.texts.index(question) + 1]


# --- judging -----------------------------------------------------------------------------


def _after(folder: Path, sample: Sample, during: Visit, why: str = "") -> Outcome:
    """Once the fault is over. What `during` said it had kept counts as committed."""
    committed = [*sample.texts, *(one for one in during.kept if one in during.texts)]
    size = sum(map(len, committed))
    after = visit(Plan(str(folder), ("Is all well again?",)))
    if after.ended or after.statuses[:1] == [""] or after.statuses[0] not in ENDED:
        return Outcome(False, size, 0, f"{why}; afterwards: {after}")
    there = "\0".join(asyncio.run(texts_in(folder)))
    lost = sum(len(text) for text in committed if text not in there)
    return Outcome(not why and sound(folder), size, lost, why)


def _complaint(found: Visit, plan: Plan, sample: Sample) -> str:
    """What a user could not forgive, of a visit while the fault lasted; "" for nothing."""
    if found.ended:
        return f"the program ended with {found.ended}: {found.told[-300:]}"
    if "Internal error" in found.told or "Traceback" in found.told:
        return f"told as an error of ours: {found.told[-300:]}"
    if missing := set(plan.questions) - set(found.kept):
        return f"questions are gone: {missing}"
    failed = [one for one in found.statuses if one not in ENDED]
    if failed and not (found.problems or found.errors or found.banner):
        return f"{failed} without a word"
    if hidden := [text for text in sample.texts if text not in found.texts]:
        return f"{len(hidden)} texts were not shown"
    return ""


# --- the disk ----------------------------------------------------------------------------


@contextlib.contextmanager
def _small_disk(folder: Path, size: int) -> Iterator[None]:
    """A file system of so many bytes, in memory."""
    folder.mkdir(parents=True)
    _system("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield
    finally:
        _system("umount", "-l", str(folder))


def _system(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def mounts_allowed() -> bool:
    """Whether this computer lets a disk be made: for root, outside of most containers."""
    if os.geteuid():
        return False
    place = Path(f"/tmp/headstart-mount-{os.getpid()}")
    try:
        with _small_disk(place, 1 << 20):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False
    finally:
        with contextlib.suppress(OSError):
            place.rmdir()


def _fill(folder: Path, left: int) -> None:
    """Leave so many bytes on the disk, about."""
    room = os.statvfs(folder)  # the tests of this process see a large disk in `shutil`
    free = room.f_bavail * room.f_frsize
    with contextlib.suppress(OSError), (folder / "filler").open("ab") as filler:
        filler.write(bytes(max(0, free - left)))


def disk_full(sample: Sample, folder: Path, random_: random.Random) -> Outcome:
    """Full before the program starts, but for some bytes."""
    with _small_disk(folder, 64 << 20):
        home = Path(shutil.copytree(sample.folder, folder / "home"))
        _fill(folder, random_.choice((0, 4096, 40_000, 300_000, 1_000_000)))
        plan = Plan(str(home), OTHERS)
        during = visit(plan)
        why = _complaint(during, plan, sample)
        (folder / "filler").unlink()
        return _after(home, sample, during, why)


def disk_fills(sample: Sample, folder: Path, random_: random.Random) -> Outcome:
    """While a question is answered."""
    with _small_disk(folder, 64 << 20):
        home = Path(shutil.copytree(sample.folder, folder / "home"))
        moments = [random_.uniform(0.0, 1.5), random_.uniform(0.0, 0.5)]

        def fill() -> None:
            if moments:
                time.sleep(moments.pop(0))
                _fill(folder, random_.choice((0, 4096, 40_000)))

        plan = Plan(str(home), (QUESTION + " Tell me again.", *OTHERS), tokens=60)
        during = visit(plan, fill)
        why = _complaint(during, plan, sample)
        (folder / "filler").unlink()
        return _after(home, sample, during, why)


def read_only(sample: Sample, folder: Path, random_: random.Random) -> Outcome:
    """A home that nothing can be written in; then it can again."""
    with _small_disk(folder, 64 << 20):
        home = Path(shutil.copytree(sample.folder, folder / "home"))
        if random_.random() < 0.5:
            # it was never closed
            (home / "headstart.db-shm").unlink(missing_ok=True)
        _system("mount", "-o", "remount,ro", str(folder))
        plan = Plan(str(home), OTHERS)
        during = visit(plan)
        why = _complaint(during, plan, sample)
        if not why and not during.banner:
            why = "nobody is told that nothing can be written"
        _system("mount", "-o", "remount,rw", str(folder))
        return _after(home, sample, during, why)


# --- the files beside the database -------------------------------------------------------

_SHAPES = (b"", b"null", b"[]", b'"text"', b"7", b"[" * 100_000, b'{"theme": {"a": []}}', b"\xff")
# caches and notes: whatever becomes of them, they are made again
_BESIDE = (
    "models.json",
    "downloads.json",
    "checked-models.json",
    "headstart.db-state.json",
    "starts.json",
    "engine-running.json",
    "headstart.lock",
    "logs/headstart.log",
)


def _damage(path: Path, random_: random.Random) -> str:
    """Do something to a file, which need not be there; says what."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = bytearray(path.read_bytes() if path.is_file() else b'{"version": 1}')
    how = random_.choice(("truncated", "changed", "garbage", "shape", "folder", "link", "gone"))
    path.unlink(missing_ok=True)
    match how:
        case "truncated":
            path.write_bytes(data[: random_.randrange(len(data) + 1)])
        case "changed":
            for _ in range(random_.choice((1, 3, 20))):
                if data:
                    data[random_.randrange(len(data))] = random_.randrange(256)
            path.write_bytes(data)
        case "garbage":
            path.write_bytes(random_.randbytes(random_.choice((1, 100, 5000))))
        case "shape":
            path.write_bytes(random_.choice(_SHAPES))
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to(path.name if random_.random() < 0.5 else "nowhere")
    return how


def settings(sample: Sample, folder: Path, random_: random.Random) -> Outcome:
    shutil.copytree(sample.folder, folder)
    path = folder / "settings.json"
    before = path.read_bytes()
    how = _damage(path, random_)
    damaged = path.read_bytes() if path.is_file() else b""
    plan = Plan(str(folder), OTHERS[:1])
    during = visit(plan)
    why = _complaint(during, plan, sample)
    copies = [one.read_bytes() for one in folder.glob("settings-damaged-*") if one.is_file()]
    if not why and damaged not in (b"", before, *copies) and during.banner:
        why = f"no copy of {damaged[:40]!r} was kept"
    if not why and how in ("truncated", "garbage", "shape") and damaged and not during.banner:
        why = f"nobody is told of {damaged[:40]!r}" if damaged != before else ""
    return _after(folder, sample, during, why)


def beside(sample: Sample, folder: Path, random_: random.Random) -> Outcome:
    shutil.copytree(sample.folder, folder)
    done = [f"{name} {_damage(folder / name, random_)}" for name in random_.sample(_BESIDE, 2)]
    plan = Plan(str(folder), OTHERS[:1])
    during = visit(plan)
    why = _complaint(during, plan, sample)
    return _after(folder, sample, during, why and f"{done}: {why}")


_INDEX = (
    "DELETE FROM prefix_records WHERE rowid % 2 = 0",
    "UPDATE prefix_records SET tokens = X'00ff13'",
    "UPDATE prefix_records SET parent = key",
    "UPDATE prefix_records SET size = size * 1000, start = -7",
    "UPDATE prefix_records SET kind = 'unknown', family = X'00'",
    "UPDATE prefix_records SET key = randomblob(32)",
    "UPDATE prefix_traces SET data = '{'",
    "UPDATE prefix_written SET bytes = -1",
    "DELETE FROM prefix_uses",
)


def prefixes(sample: Sample, folder: Path, random_: random.Random) -> Outcome:
    """The index of saved KV state, or the records: the same reply as without them."""
    shutil.copytree(sample.folder, folder)
    records = sorted(folder.glob("prefixes/*/*.kv"))
    done = ""
    if random_.random() < 0.5 or not records:
        done = random_.choice(_INDEX)
        with behind_its_back(folder / "headstart.db") as connection:
            connection.execute(done)
    else:
        done = _damage(random_.choice(records), random_)
    plan = Plan(str(folder), (QUESTION,))
    during = visit(plan)
    why = _complaint(during, plan, sample)
    replies = [
        after for text, after in zip(during.texts, during.texts[1:], strict=False)
        if text == QUESTION
    ]  # fmt: skip
    if not why and set(replies) != {sample.reply}:
        why = f"other words: {replies}"
    return _after(folder, sample, during, why and f"{done}: {why}")


def blobs(sample: Sample, folder: Path, random_: random.Random) -> Outcome:
    """An attached file: its message is there, and what became of the file is said."""
    shutil.copytree(sample.folder, folder)
    path = random_.choice([one for one in sorted(folder.glob("blobs/*/*")) if one.is_file()])
    before = path.read_bytes()
    _damage(path, random_)
    same = path.is_file() and path.read_bytes() == before
    plan = Plan(str(folder), OTHERS[:1])
    during = visit(plan)
    why = _complaint(during, plan, sample)
    whole = during.attached if same else during.attached - 1
    if not why and (during.read != whole or (not same and not during.errors)):
        why = f"{during.read} of {during.attached} attachments were read, {during.errors}"
    return _after(folder, sample, during, why)


# --- memory and time ---------------------------------------------------------------------


def memory(sample: Sample, folder: Path, random_: random.Random) -> Outcome:
    """Less of it than the model needs, from the first question on.

    OpenBLAS ends the process where it gets no memory at its start, whoever asks for it: then the
    home must open again with the question in it, as after a kill.
    """
    shutil.copytree(sample.folder, folder)
    plan = Plan(str(folder), OTHERS, memory=int(random_.uniform(0.55e9, 2.0e9)))
    during = visit(plan)
    if during.ended and "OpenBLAS error" in during.stderr:
        return _after(folder, sample, Visit())
    why = _complaint(during, plan, sample)
    return _after(folder, sample, during, why and f"{plan.memory:,}: {why}")


def clock(sample: Sample, folder: Path, random_: random.Random) -> Outcome:
    """It is put back and forth, by years too."""
    shutil.copytree(sample.folder, folder)
    jumps = tuple(random_.choice((-1, 1)) * 10 ** random_.uniform(1, 8.6) for _ in range(3))
    plan = Plan(str(folder), (OTHERS[0], QUESTION, OTHERS[1]), jumps=jumps)
    during = visit(plan)
    why = _complaint(during, plan, sample)
    if not why and not ENDED.issuperset(during.statuses):
        why = f"not answered: {during.statuses} {during.told}"
    return _after(folder, sample, during, why and f"{jumps}: {why}")


Fault = Callable[[Sample, Path, random.Random], Outcome]
DISK: dict[str, Fault] = {"disk_full": disk_full, "disk_fills": disk_fills, "read_only": read_only}
FAULTS: dict[str, Fault] = {
    **DISK,
    "settings": settings,
    "beside": beside,
    "prefixes": prefixes,
    "blobs": blobs,
    "memory": memory,
    "clock": clock,
}


def run(sample: Sample, kind: str, count: int, seed: int, tell: Callable[[str], None]) -> Row:
    row, random_ = Row(), random.Random(f"{kind} {seed}")
    with tempfile.TemporaryDirectory() as place:
        for number in range(count):
            folder = Path(place, str(number))
            outcome = FAULTS[kind](sample, folder, random_)
            row.add(outcome, lambda why, number=number: tell(f"{number}: {why}"))  # type: ignore[misc]
            shutil.rmtree(folder, ignore_errors=True)
    return row
