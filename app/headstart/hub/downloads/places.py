"""Locations of downloads: the cache that Hugging Face's tools share, in the layout that they
document.

`models--owner--name/blobs/ETAG` has the bytes, `snapshots/COMMIT/PATH` points to them, `refs/main`
names the commit. What is not whole yet lies beside the blobs, where nobody takes it for one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path, PurePosixPath

from headstart.core.files import let_others_read, shared_folder, write_whole
from headstart.core.hub.downloads import DownloadRequest, RemoteFile
from headstart.hub.downloads.pieces import discard
from headstart.hub.downloads.source import DownloadProblem

# tools that tidy the cache know the ending
PARTIAL = ".headstart.incomplete"


def shared_cache() -> Path:
    """Cache that Hugging Face's tools share, as the environment says."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def repository(cache: Path, repo: str) -> Path:
    """The folder of a repository; raises DownloadProblem for a name that is no name."""
    names = repo.split("/")
    if not 1 <= len(names) <= 2 or any(not _plain(name) or "--" in name for name in names):
        raise DownloadProblem("repository-name", name=repo)
    return cache / "--".join(("models", *names))


def partial(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> Path:
    return _blob(cache, wanted, file).with_name(file.etag + PARTIAL)


def lock(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> Path:
    """Lock that every program holds while it downloads this file."""
    return cache / ".locks" / repository(cache, wanted.repo).name / f"{file.etag}.lock"


def pointer(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> Path:
    """Path under which programs open the file; raises DownloadProblem for a path that leads
    elsewhere."""
    path = PurePosixPath(file.path)
    named = path.parts and all(map(_plain, path.parts))
    if not _plain(wanted.commit) or path.is_absolute() or not named:
        raise DownloadProblem("repository-path", name=file.path)
    return repository(cache, wanted.repo) / "snapshots" / wanted.commit / path


def where(cache: Path, wanted: DownloadRequest) -> Path:
    """The file or folder that is opened, once everything is there."""
    for file in wanted.files:
        if file.path == wanted.main:
            return pointer(cache, wanted, file)
    folder = PurePosixPath(wanted.files[0].path).parent
    return repository(cache, wanted.repo) / "snapshots" / wanted.commit / folder


def is_there(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> bool:
    """True if a file is whole: its blob is, or the copy where links do not exist."""
    with contextlib.suppress(OSError):
        return pointer(cache, wanted, file).stat().st_size == file.size
    return False


def has_blob(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> bool:
    """True if the bytes are there, under another commit or name."""
    with contextlib.suppress(OSError):
        return _blob(cache, wanted, file).stat().st_size == file.size
    return False


def take(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> None:
    """Make a whole file of the partial one: make it a blob, unless another program did. Raises
    OSError."""
    source, blob = partial(cache, wanted, file), _blob(cache, wanted, file)
    if has_blob(cache, wanted, file):
        discard(source)
        return
    let_others_read(source)
    source.replace(blob)


def point(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> None:
    """Let the snapshot name a blob; raises OSError."""
    target, link = _blob(cache, wanted, file), pointer(cache, wanted, file)
    shared_folder(link.parent)
    if is_there(cache, wanted, file):
        return
    link.unlink(missing_ok=True)
    try:
        link.symlink_to(os.path.relpath(target, link.parent))
    except OSError:
        # systems without links for everybody: the bytes themselves, once
        try:
            os.link(target, link)
        except OSError:
            shutil.move(target, link)


def name_commit(cache: Path, wanted: DownloadRequest) -> None:
    """Name the branch's commit, unless another program has done so already; raises OSError."""
    if wanted.revision == wanted.commit or not _plain(wanted.revision):
        return
    path = repository(cache, wanted.repo) / "refs" / wanted.revision
    if path.exists():
        # it may be at a newer commit by now than the one that was resolved when this began
        return
    shared_folder(path.parent)
    write_whole(path, wanted.commit.encode(), wait=False, shared=True)


def _blob(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> Path:
    if not _plain(file.etag):
        raise DownloadProblem("repository-path", name=file.path)
    return repository(cache, wanted.repo) / "blobs" / file.etag


def _plain(name: str) -> bool:
    """A name of one file or folder, on any system."""
    return bool(name) and name not in (".", "..") and not set(name) & set('\\/:*?"<>|\0')
