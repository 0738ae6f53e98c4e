"""Downloads through the real client against a hub of our own: whatever goes wrong, no byte that
came is fetched twice without need, and what is taken for whole is right."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from huggingface_hub import scan_cache_dir

from headstart.core.catalog import Details
from headstart.core.downloads import Download, DownloadState
from headstart.hub.downloads import pieces, places
from headstart.hub.downloads.book import Book
from headstart.hub.downloads.queue import Downloads
from headstart.hub.downloads.source import DownloadProblem
from headstart.hub.downloads.transfer import Patience
from headstart.hub.online.client import HubClient
from tests.support.hub_server import Fault, HubServer, Repo

MODEL = random.Random(7).randbytes(3 << 20)
OTHER = random.Random(8).randbytes(300 << 10)
SMALL = b'{"model_type": "llama"}'
REPO = "maker/model-GGUF"
QUICK = Patience(first=0.01, most=0.1, slow=0.4, least=64 << 10, piece=256 << 10, reserve=1 << 20)


@pytest.fixture
def hub() -> Iterator[HubServer]:
    server = HubServer(
        {
            REPO: Repo({"model-Q4_K_M.gguf": MODEL}),
            "maker/parts-GGUF": Repo(
                {
                    "big-Q4_K_M-00001-of-00002.gguf": MODEL,
                    "big-Q4_K_M-00002-of-00002.gguf": OTHER,
                }
            ),
            "maker/gated-GGUF": Repo({"m-Q8_0.gguf": OTHER}, token="hf_right", gated=True),
            "maker/folder-4bit": Repo(
                {"config.json": SMALL, "model.safetensors": OTHER, "tokenizer.json": b"{}"},
                {"tags": ["mlx"], "library_name": "mlx"},
            ),
        }
    )
    yield server
    server.close()


class Desk:
    """A queue over a hub, in a home of its own."""

    def __init__(self, hub: HubServer, folder: Path, token: str | None = None) -> None:
        self.client = HubClient(lambda: token, hub.endpoint, stall_seconds=0.6)
        self.cache = folder / "cache"
        self.book = folder / "book.json"
        self.changes = 0
        self.queue = self._open()

    def _open(self) -> Downloads:
        return Downloads(Book(self.book), self.cache, self.client.source, self._count, QUICK)

    def _count(self) -> None:
        self.changes += 1

    def reopen(self) -> None:
        self.queue.close()
        self.queue = self._open()
        self.queue.start()

    def details(self, repo: str = REPO) -> Details:
        return self.client.details(repo)

    def get(self, repo: str = REPO) -> str:
        details = self.details(repo)
        return self.queue.add(details.wanted(details.variants[0]))

    def one(self, number: int = 0) -> Download:
        return self.queue.all()[number]

    def wait(self, *states: DownloadState, number: int = 0) -> Download:
        wait_for(lambda: self.one(number).state in states)
        return self.one(number)

    def ended(self, number: int = 0) -> Download:
        return self.wait(DownloadState.DONE, DownloadState.FAILED, number=number)


def wait_for(done: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.005)


@pytest.fixture
def desk(hub: HubServer, tmp_path: Path) -> Iterator[Desk]:
    found = Desk(hub, tmp_path)
    yield found
    found.queue.close()


def test_a_download_lies_where_other_tools_look(hub: HubServer, desk: Desk) -> None:
    desk.get()
    done = desk.ended()
    assert done.state is DownloadState.DONE
    assert Path(done.path).read_bytes() == MODEL
    scanned = scan_cache_dir(desk.cache)
    assert scanned.warnings == []
    (repo,) = scanned.repos
    assert repo.repo_id == REPO
    assert repo.refs.keys() == {"main"}
    assert hub.sent == len(MODEL)
    assert not list(desk.cache.rglob("*.incomplete"))


@pytest.mark.parametrize(
    ("faults", "most"),
    [
        ([Fault("cut", 900_000), Fault("cut", 10), Fault("cut", 1_000_000)], 1.0),
        ([Fault("stall", 500_000, 5)], 1.0),
        ([Fault("status", 0, 503), Fault("status", 0, 500), Fault("status", 0, 429)], 1.0),
        ([Fault("status", 1, 429)], 1.0),
        ([Fault("page"), Fault("redirect")], 1.0),
        ([Fault("drip", 1_500_000, 2_000)], 1.01),
        # a server that forgot about ranges begins again: what is there is not written again
        ([Fault("cut", 1_000_000), Fault("no-ranges")], 1.35),
        ([Fault("wrong", 2_900_000)], 2.1),
        ([Fault("cut", 1_000_000), Fault("wrong", 100)], 1.3),
    ],
    ids=lambda value: value[0].kind if isinstance(value, list) else "",
)
def test_what_goes_wrong_costs_little_and_ends_right(
    hub: HubServer, desk: Desk, faults: Sequence[Fault], most: float
) -> None:
    hub.faults = list(faults)
    desk.get()
    done = desk.ended()
    assert done.state is DownloadState.DONE
    assert Path(done.path).read_bytes() == MODEL
    assert hub.sent <= most * len(MODEL) + 2 * 64 * 1024
    assert not hub.faults


def test_a_pause_is_heard_at_once_and_nothing_is_fetched_twice(hub: HubServer, desk: Desk) -> None:
    hub.rate = 2e6
    name = desk.get()
    wait_for(lambda: desk.one().received > 500_000)
    desk.queue.pause([name])
    assert desk.one().state is DownloadState.PAUSED
    time.sleep(0.2)
    sent = hub.sent
    time.sleep(0.3)
    assert hub.sent - sent <= 128 << 10
    hub.rate = 0
    desk.queue.resume([name])
    assert desk.ended().state is DownloadState.DONE
    assert hub.sent < 1.2 * len(MODEL)


def test_a_restart_goes_on_where_it_was(hub: HubServer, desk: Desk) -> None:
    hub.rate = 2e6
    desk.get()
    wait_for(lambda: desk.one().received > 1_000_000)
    desk.reopen()
    hub.rate = 0
    done = desk.ended()
    assert Path(done.path).read_bytes() == MODEL
    assert hub.sent < 1.2 * len(MODEL)


def test_bytes_that_a_list_of_pieces_does_not_know_are_kept_and_doubted(tmp_path: Path) -> None:
    path = tmp_path / "x"
    first = pieces.Pieces(path, 1000, 100)
    first.write(0, b"a" * 250)
    first.save()
    first.write(250, b"b" * 300)
    # as a kill leaves it: neither saved nor closed
    for name in ("x", "x.pieces"):
        shutil.copy(tmp_path / name, tmp_path / f"left-{name}")
    first.close()
    again = pieces.Pieces(tmp_path / "left-x", 1000, 100)
    assert again.received == 550
    assert again.gap() == (550, 1000)
    assert again.suspects == {2, 3, 4, 5}
    again.write(550, b"c" * 450)
    assert again.gap() is None
    again.close()


def test_what_the_disk_lost_is_fetched_again(hub: HubServer, desk: Desk) -> None:
    hub.rate = 2e6
    name = desk.get()
    wait_for(lambda: desk.one().received > 1_600_000)
    desk.queue.pause([name])
    time.sleep(0.3)
    (partial,) = desk.cache.rglob("*.headstart.incomplete")
    with partial.open("r+b") as file:
        file.seek(300_000)
        file.write(b"\0" * 5000)
    sent = hub.sent
    desk.queue.resume([name])
    done = desk.ended()
    assert Path(done.path).read_bytes() == MODEL
    # the piece once more, and what had not come yet
    assert hub.sent - sent < len(MODEL) - 1_600_000 + (1 << 20)


def test_a_cancel_leaves_what_another_download_is_writing(tmp_path: Path) -> None:
    server = HubServer(
        {
            REPO: Repo(
                {
                    "first-Q4_K_M.gguf": MODEL,
                    # the same bytes under another name
                    "second-Q5_K_M.gguf": MODEL,
                }
            )
        }
    )
    server.rate = 3e6
    desk = Desk(server, tmp_path)
    details = desk.details()
    first, second = (desk.queue.add(details.wanted(one)) for one in details.variants)
    wait_for(lambda: desk.one().received > 400_000)
    desk.queue.cancel([second])
    server.rate = 0
    assert desk.ended().state is DownloadState.DONE
    assert [one.id for one in desk.queue.all()] == [first]
    assert server.sent < 1.2 * len(MODEL)
    desk.queue.close()
    server.close()


def test_what_lies_there_in_the_wrong_size_is_not_taken_for_the_file(
    hub: HubServer, desk: Desk
) -> None:
    details = desk.details()
    wanted = details.wanted(details.variants[0])
    file = wanted.files[0]
    partial = places.partial(desk.cache, wanted, file)
    blob = partial.with_name(file.etag)
    blob.parent.mkdir(parents=True)
    blob.write_bytes(MODEL[:1000])
    partial.write_bytes(MODEL + b"more")
    desk.queue.add(wanted)
    done = desk.ended()
    assert Path(done.path).read_bytes() == MODEL
    assert not partial.exists()


def test_what_was_cancelled_in_a_hurry_is_swept_at_the_next_start(
    hub: HubServer, desk: Desk
) -> None:
    hub.rate = 2e6
    name = desk.get()
    wait_for(lambda: desk.one().received > 300_000)
    desk.queue.pause([name])
    wait_for(lambda: bool(list(desk.cache.rglob("*.pieces"))))
    desk.book.unlink()
    desk.queue.close()
    again = Desk(hub, desk.book.parent)

    def swept() -> bool:
        again.queue.sweep()
        return not list(desk.cache.rglob("*.incomplete*"))

    wait_for(swept)
    again.queue.close()


def test_a_companion_that_is_wanted_later_is_fetched_too(hub: HubServer, desk: Desk) -> None:
    hub.repos[REPO].files["mmproj-F16.gguf"] = OTHER
    details = desk.details()
    desk.queue.add(details.wanted(details.variants[0]))
    desk.ended()
    desk.queue.add(details.wanted(details.variants[0], details.companions))
    wait_for(lambda: desk.one().state is DownloadState.DONE)
    folder = Path(desk.one().path).parent
    assert (folder / "mmproj-F16.gguf").read_bytes() == OTHER


def test_a_place_is_not_given_up_while_the_network_is_away(hub: HubServer, desk: Desk) -> None:
    desk.queue.set_limits(1, 0)
    hub.faults = [Fault("status", 0, 503)] * 8
    for repo in (REPO, "maker/parts-GGUF", "maker/folder-4bit"):
        desk.get(repo)
    desk.wait(DownloadState.WAITING)
    assert [one.state for one in desk.queue.all()[1:]] == [DownloadState.QUEUED] * 2


def test_a_file_that_is_not_what_the_hub_says_is_never_taken(hub: HubServer, desk: Desk) -> None:
    details = desk.details()
    hub.repos[REPO].files["model-Q4_K_M.gguf"] = MODEL[:-1] + b"x"
    desk.queue.add(details.wanted(details.variants[0]))
    failed = desk.ended()
    assert failed.reason is not None
    assert failed.reason.code == "download-differs"
    assert not list(desk.cache.rglob("*.gguf"))


def test_all_parts_of_a_model_are_one_download(hub: HubServer, desk: Desk) -> None:
    hub.faults = [None, Fault("cut", 1000)]
    desk.get("maker/parts-GGUF")
    done = desk.ended()
    first = Path(done.path)
    assert first.name == "big-Q4_K_M-00001-of-00002.gguf"
    assert first.with_name("big-Q4_K_M-00002-of-00002.gguf").read_bytes() == OTHER


def test_a_folder_comes_whole_and_small_files_are_checked_too(hub: HubServer, desk: Desk) -> None:
    hub.faults = [Fault("wrong", 3)]
    desk.get("maker/folder-4bit")
    folder = Path(desk.ended().path)
    assert (folder / "config.json").read_bytes() == SMALL
    assert (folder / "model.safetensors").read_bytes() == OTHER


def test_a_cancel_leaves_nothing_behind(hub: HubServer, desk: Desk) -> None:
    hub.rate = 2e6
    name = desk.get()
    wait_for(lambda: desk.one().received > 200_000)
    desk.queue.cancel([name])
    assert desk.queue.all() == ()
    wait_for(lambda: not list(desk.cache.rglob("*.incomplete*")))


def test_only_so_many_run_at_a_time_and_the_order_can_be_changed(
    hub: HubServer, desk: Desk
) -> None:
    hub.rate = 1e6
    desk.queue.set_limits(1, 0)
    first, second, third = (
        desk.get(repo) for repo in (REPO, "maker/parts-GGUF", "maker/folder-4bit")
    )
    states = [one.state for one in desk.queue.all()]
    assert states == [DownloadState.RUNNING, DownloadState.QUEUED, DownloadState.QUEUED]
    desk.queue.move(third, 1)
    assert [one.id for one in desk.queue.all()] == [first, third, second]
    desk.queue.pause([first])
    wait_for(lambda: desk.one(1).state is not DownloadState.QUEUED)
    assert desk.one(2).state is DownloadState.QUEUED


def test_the_limit_holds_for_all_downloads_together(hub: HubServer, desk: Desk) -> None:
    desk.queue.set_limits(2, 2e6)
    began = time.monotonic()
    desk.get()
    desk.get("maker/parts-GGUF")
    desk.ended(0)
    desk.ended(1)
    assert hub.sent / (time.monotonic() - began) < 2.6e6


def test_a_gate_is_told_and_a_token_opens_it(hub: HubServer, tmp_path: Path) -> None:
    without = Desk(hub, tmp_path / "a")
    without.get("maker/gated-GGUF")
    failed = without.ended()
    assert failed.reason is not None
    assert failed.reason.code == "hub-gated"
    without.queue.close()
    having = Desk(hub, tmp_path / "b", "hf_right")
    having.get("maker/gated-GGUF")
    assert having.ended().state is DownloadState.DONE
    having.queue.close()
    # the key goes to the hub, never to the host that has the bytes
    assert {host for _, _, host, keyed in hub.requests if keyed} == {"localhost"}


def test_a_nearly_full_disk_stops_cleanly_and_says_how_much_is_missing(
    hub: HubServer, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(desk.cache.parent)
    full = type(usage)(usage.total, usage.total - 700_000, 700_000)
    monkeypatch.setattr("shutil.disk_usage", lambda _path: full)
    name = desk.get()
    failed = desk.ended()
    assert failed.reason is not None
    assert failed.reason.code == "download-disk-full"
    assert "needed" in failed.reason.facts
    monkeypatch.undo()
    desk.queue.resume([name])
    assert desk.ended().state is DownloadState.DONE


def test_another_program_that_downloads_the_same_is_waited_for(hub: HubServer, desk: Desk) -> None:
    from filelock import FileLock

    details = desk.details()
    wanted = details.wanted(details.variants[0])
    file = wanted.files[0]
    path = places.lock(desk.cache, wanted, file)
    path.parent.mkdir(parents=True)
    with FileLock(path):
        desk.queue.add(wanted)
        waiting = desk.wait(DownloadState.WAITING)
        assert waiting.reason is not None
        assert waiting.reason.code == "download-elsewhere"
        # the other one is done
        blob = places.partial(desk.cache, wanted, file).with_name(file.etag)
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(MODEL)
    assert desk.ended().state is DownloadState.DONE
    assert hub.sent == 0


def test_many_ask_at_once_and_each_gets_its_answer(hub: HubServer, desk: Desk) -> None:
    desk.queue.set_limits(4, 0)
    repos = (REPO, "maker/parts-GGUF", "maker/folder-4bit")
    threads = [threading.Thread(target=desk.get, args=(repo,)) for repo in repos for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(desk.queue.all()) == 3
    for number in range(3):
        assert desk.ended(number).state is DownloadState.DONE


@pytest.mark.parametrize("path", ["../x.gguf", "/etc/x.gguf", "a/../../x.gguf", "C:\\x.gguf", ""])
def test_names_that_lead_elsewhere_are_refused(desk: Desk, path: str) -> None:
    from headstart.core.downloads import RemoteFile, Wanted

    wanted = Wanted(REPO, "abc", "x", (RemoteFile(path, 5, "e" * 40),), path)
    with pytest.raises(DownloadProblem):
        desk.queue.add(wanted)
    assert desk.queue.all() == ()


@pytest.mark.logs("the list of downloads is damaged")
def test_a_damaged_list_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    path.write_text("[{")
    assert Book(path).load() == []
    assert path.with_name("book.json.damaged").exists()
