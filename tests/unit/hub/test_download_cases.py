"""Downloads that share, that were damaged, cancelled, limited or gated."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from headstart.core.hub.downloads import DownloadState
from headstart.hub.downloads import places
from headstart.hub.downloads.book import Book
from headstart.hub.downloads.source import DownloadProblem
from tests.support.disk import free_disk
from tests.support.download_desk import MODEL, OTHER, REPO, SMALL, Desk
from tests.support.hub_server import Fault, HubServer, Repo
from tests.support.patience import wait_for


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
    # closed first: a thread that ends late would write the list again
    desk.queue.close()
    desk.book.unlink()
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


@pytest.mark.parametrize("repo", ["maker/parts-GGUF", "maker/folder-4bit"])
def test_a_cancel_leaves_no_finished_part_that_no_list_shows(
    hub: HubServer, desk: Desk, repo: str
) -> None:
    hub.rate = 4e6
    name = desk.get(repo)
    first = desk.one().wanted.files[0]
    wait_for(lambda: places.is_there(desk.cache, desk.one().wanted, first))
    desk.queue.cancel([name])

    def left() -> list[Path]:
        return [one for one in desk.cache.rglob("*") if one.is_file() and ".lock" not in one.name]

    wait_for(lambda: not left())


def test_a_cancel_leaves_what_was_there_before(hub: HubServer, desk: Desk) -> None:
    name = desk.get("maker/parts-GGUF")
    done = desk.ended()
    first, second = done.wanted.files[:2]
    desk.queue.cancel([name])
    assert Path(done.path).exists(), "a model that is whole stays"
    # as if another program had fetched the first part
    places.remove(desk.cache, done.wanted, second)
    hub.rate = 2e5
    desk.get("maker/parts-GGUF")
    wait_for(lambda: desk.one().state is DownloadState.RUNNING)
    desk.queue.cancel([name])
    wait_for(lambda: not list(desk.cache.rglob("*.incomplete*")))
    assert places.is_there(desk.cache, done.wanted, first)


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
    free_disk(monkeypatch, 700_000)
    name = desk.get()
    failed = desk.ended()
    assert failed.reason is not None
    assert failed.reason.code == "download-disk-full"
    assert "needed" in failed.reason.facts
    free_disk(monkeypatch, 1 << 40)
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
    from headstart.core.hub.downloads import DownloadRequest, RemoteFile

    wanted = DownloadRequest(REPO, "abc", "x", (RemoteFile(path, 5, "e" * 40),), path)
    with pytest.raises(DownloadProblem):
        desk.queue.add(wanted)
    assert desk.queue.all() == ()


@pytest.mark.logs("the list of downloads is damaged")
def test_a_damaged_list_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    path.write_text("[{")
    assert Book(path).load() == []
    assert path.with_name("book.json.damaged").exists()
