"""Locations of downloads: the cache shared by Hugging Face's tools, in its documented layout.

`models--owner--name/blobs/ETAG` has the bytes, `snapshots/COMMIT/PATH` points to them, `refs/main`
names the commit. Partial files lie beside the blobs under names that no tool takes for a blob.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path, PurePosixPath

from headstart.core import patient
from headstart.core.files import let_others_read, shared_folder, write_whole
from headstart.core.hub.downloads import DownloadRequest, RemoteFile
from headstart.hub.downloads.pieces import discard
from headstart.hub.downloads.source import DownloadProblem

# tools that tidy the cache recognize this suffix
PARTIAL = ".headstart.incomplete"


def shared_cache() -> Path:
    """Cache shared by Hugging Face's tools, according to the environment."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def repository(cache: Path, repo: str) -> Path:
    """The folder of a repository; raises DownloadProblem for an invalid name."""
    names = repo.split("/")
    if not 1 <= len(names) <= 2 or any(not _plain(name) or "--" in name for name in names):
        raise DownloadProblem("repository-name", name=repo)
    return cache / "--".join(("models", *names))


def partial(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> Path:
    return _blob(cache, wanted, file).with_name(file.etag + PARTIAL)


def lock(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> Path:
    """Lock that any program holds while it downloads this file."""
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
    """The file or folder to open once the download is complete."""
    for file in wanted.files:
        if file.path == wanted.main:
            return pointer(cache, wanted, file)
    folder = PurePosixPath(wanted.files[0].path).parent
    return repository(cache, wanted.repo) / "snapshots" / wanted.commit / folder


def is_there(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> bool:
    """True if a file is complete, as a link to its blob, or as the bytes themselves on systems
    without links."""
    with contextlib.suppress(OSError):
        return pointer(cache, wanted, file).stat().st_size == file.size
    return False


def has_blob(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> bool:
    """True if the bytes exist already, under another commit or name."""
    with contextlib.suppress(OSError):
        return _blob(cache, wanted, file).stat().st_size == file.size
    return False


def take(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> None:
    """Turn the complete partial file into a blob, unless another program made the blob. Raises
    OSError."""
    source, blob = partial(cache, wanted, file), _blob(cache, wanted, file)
    if has_blob(cache, wanted, file):
        discard(source)
        return
    let_others_read(source)
    patient.replace(source, blob)


def remove(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> None:
    """Remove a finished file: its link, and its bytes unless another link has them."""
    link, blob = pointer(cache, wanted, file), _blob(cache, wanted, file)
    with contextlib.suppress(OSError):
        patient.remove(link)
        snapshots = repository(cache, wanted.repo) / "snapshots"
        target = blob.resolve()
        if not any(one.resolve() == target for one in snapshots.rglob("*") if one.is_symlink()):
            patient.remove(blob)


def point(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> None:
    """Link the snapshot to a blob; raises OSError."""
    target, link = _blob(cache, wanted, file), pointer(cache, wanted, file)
    shared_folder(link.parent)
    if is_there(cache, wanted, file):
        return
    patient.remove(link)
    try:
        link.symlink_to(os.path.relpath(target, link.parent))
    except OSError:
        # systems that do not let every user make symbolic links: a hard link, or the blob itself
        try:
            os.link(target, link)
        except OSError:
            shutil.move(target, link)


def name_commit(cache: Path, wanted: DownloadRequest) -> None:
    """Store the branch's commit, unless another program has already done so; raises OSError."""
    if wanted.revision == wanted.commit or not _plain(wanted.revision):
        return
    path = repository(cache, wanted.repo) / "refs" / wanted.revision
    if path.exists():
        # it may name a newer commit than the one this download began with
        return
    shared_folder(path.parent)
    write_whole(path, wanted.commit.encode(), wait=False, shared=True)


def _blob(cache: Path, wanted: DownloadRequest, file: RemoteFile) -> Path:
    if not _plain(file.etag):
        raise DownloadProblem("repository-path", name=file.path)
    return repository(cache, wanted.repo) / "blobs" / file.etag


def _plain(name: str) -> bool:
    """True for the name of a single file or folder that is valid on any system."""
    return bool(name) and name not in (".", "..") and not set(name) & set('\\/:*?"<>|\0')
