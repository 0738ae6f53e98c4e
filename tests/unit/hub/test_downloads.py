"""Downloads through the real client against a hub of our own: whatever goes wrong, no byte that
came is fetched twice without need, and what is taken for whole is right."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from huggingface_hub import scan_cache_dir

from headstart.core.hub.downloads import DownloadState
from headstart.hub.downloads import pieces
from tests.support.download_desk import MODEL, REPO, Desk
from tests.support.hub_server import Fault, HubServer
from tests.support.patience import wait_for


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

    def quiet() -> bool:
        sent = hub.sent
        time.sleep(0.2)
        return hub.sent == sent

    wait_for(quiet)
    assert hub.sent < len(MODEL)
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
