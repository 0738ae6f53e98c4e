"""What of a repository is here already, or on its way."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.core.hub.catalog import Details, Repository, Variant
from headstart.core.hub.downloads import Download, DownloadState, RemoteFile
from headstart.core.hub.presence import Presence, presence, repository_of
from headstart.core.models.installed import InstalledModel
from headstart.core.models.ref import ModelFormat, ModelRef

FOUR = Variant("Q4_0", "gguf", (RemoteFile("a-Q4_0.gguf", 400, "x"),), "a-Q4_0.gguf")
EIGHT = Variant("Q8_0", "gguf", (RemoteFile("sub/a-Q8_0.gguf", 800, "y"),), "sub/a-Q8_0.gguf")
FOLDER = Variant("MLX", "mlx", (RemoteFile("model.safetensors", 500, "z"),))
DETAILS = Details(Repository("maker/a-GGUF", ("gguf", "mlx")), "c0ffee", (FOUR, EIGHT, FOLDER))


def installed(path: str, size: int, form: ModelFormat = "gguf", *copies: str) -> InstalledModel:
    ref = ModelRef(Path(path), "a", size, form)
    return InstalledModel(ref, "folder", f"content of {path}", copies=copies)


def test_a_file_is_known_by_its_name_and_size_wherever_it_lies() -> None:
    models = [
        installed("/models/a-Q8_0.gguf", 800),
        # another file of the same name
        installed("/models/a-Q4_0.gguf", 401),
    ]
    assert presence(DETAILS, models, []) == {"Q8_0": Presence.HERE}
    copy = installed("/models/renamed.gguf", 400, "gguf", "/elsewhere/a-Q4_0.gguf")
    assert presence(DETAILS, [copy], []) == {"Q4_0": Presence.HERE}


def test_a_folder_is_known_by_the_repository_it_came_from() -> None:
    cached = "/cache/models--maker--a-GGUF/snapshots/c0ffee"
    assert presence(DETAILS, [installed(cached, 1, "mlx")], []) == {"MLX": Presence.HERE}
    assert presence(DETAILS, [installed("/lm/maker/a-GGUF", 1, "mlx")], [])
    assert not presence(DETAILS, [installed("/lm/other/a-GGUF", 1, "mlx")], [])
    assert repository_of(Path("/c/models--o--n--m/snapshots/1/x.gguf")) == "o/n--m"


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (DownloadState.QUEUED, Presence.COMING),
        (DownloadState.RUNNING, Presence.COMING),
        (DownloadState.PAUSED, Presence.STOPPED),
        (DownloadState.FAILED, Presence.STOPPED),
    ],
)
def test_what_is_on_its_way(state: DownloadState, shown: Presence) -> None:
    assert presence(DETAILS, [], [Download(DETAILS.wanted(FOUR), state)]) == {"Q4_0": shown}
    assert presence(DETAILS, [], [Download(DETAILS.wanted(FOLDER), state)]) == {"MLX": shown}


def test_what_was_downloaded_and_deleted_is_not_here() -> None:
    assert presence(DETAILS, [], [Download(DETAILS.wanted(FOUR), DownloadState.DONE)]) == {}
