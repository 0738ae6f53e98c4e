"""The Hugging Face Hub through its own library: searches, repositories, files in ranges.

Imported at its first use, on worker threads only. Endpoint, proxies and certificates are those that
the library finds; a token comes from the system's keychain, or from the library's own storage.
Requests are made only at the user's command.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
from huggingface_hub import HfApi, constants, get_session, hf_hub_url, set_client_factory
from huggingface_hub import utils as hub_utils
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)
from huggingface_hub.hf_api import ExpandModelProperty_T, ModelSort_T

from headstart.core.answers import AnswerTooLong
from headstart.core.hub.catalog import CompanionKind, Details, Repository, Search, SortBy
from headstart.core.hub.downloads import DownloadRequest, RemoteFile
from headstart.core.models.ref import ModelFormat
from headstart.core.told import told
from headstart.hub.downloads.source import DownloadProblem, RangeAnswer, Unavailable
from headstart.hub.online import variants
from headstart.hub.online.bounds import PIECES, bounded_client

# seconds to connect, and between two blocks of bytes
_CONNECT, _READ = 10.0, 15.0
# largest answer that is read as a whole: a model card, a configuration
_LARGEST_TEXT = 2 << 20
_PAGE = 100
_SORTED: dict[SortBy, ModelSort_T] = {
    "trending": "trending_score",
    "likes": "likes",
    "downloads": "downloads",
    "updated": "last_modified",
}
_EXPANDED: tuple[ExpandModelProperty_T, ...] = (
    "author", "downloads", "gated", "gguf", "lastModified", "library_name", "likes", "private",
    "safetensors", "siblings", "tags",
)  # fmt: skip
# longest plausible length of a file, in digits
_LENGTH = re.compile(r"[0-9]{1,18}")
_RANGE = re.compile(rf"bytes ({_LENGTH.pattern})-{_LENGTH.pattern}/({_LENGTH.pattern})")
_NO_NETWORK = (httpx2.TimeoutException, httpx2.NetworkError, httpx2.RemoteProtocolError)


# no usage statistics
constants.HF_HUB_DISABLE_TELEMETRY = True
# limit the library's own requests too
set_client_factory(bounded_client)


class HubClient:
    """`token` is called for each request; None lets the library find its own. `endpoint`: address
    of the hub, by default the environment's; `stall_seconds` without a byte end a connection."""

    def __init__(
        self,
        token: Callable[[], str | None] = lambda: None,
        endpoint: str = "",
        stall_seconds: float = _READ,
    ) -> None:
        self.timeout = httpx2.Timeout(stall_seconds, connect=min(_CONNECT, stall_seconds))
        self._token = token
        self.endpoint = endpoint or str(constants.ENDPOINT)
        # whether the last search was answered
        self._reached = False

    # --- search --------------------------------------------------------------------------

    def search(self, search: Search, format_: ModelFormat) -> Iterator[list[Repository]]:
        """Pages of results for one format; raises Unavailable or DownloadProblem."""
        api = self._api()
        with _told_apart(""):
            self._reach()
            found = api.list_models(
                filter="gguf" if format_ == "gguf" else "mlx",
                search=search.text or None,
                sort=_SORTED[search.sort],
                gated=False if search.open_only else None,
                num_parameters=f"max:{search.largest:g}B" if search.largest else None,
                expand=list(_EXPANDED),
            )
            page: list[Repository] = []
            for info in found:
                self._reached = True
                page.append(_repository(info))
                if len(page) == _PAGE:
                    yield page
                    page = []
            yield page

    def details(self, repo: str, revision: str = "main", named: str = "") -> Details:
        """Everything about one repository; raises Unavailable or DownloadProblem."""
        with _told_apart(repo):
            info = self._api().model_info(repo, revision=revision, files_metadata=True)
        files = [
            RemoteFile(sibling.rfilename, sibling.size or 0, _etag(sibling))
            for sibling in info.siblings or ()
            if _etag(sibling)
        ]
        found = _repository(info)
        folder = found.name if "mlx" in found.formats else ""
        models = variants.of_files(files, folder)
        heads = variants.of_heads(files)
        return Details(
            found,
            info.sha or revision,
            models or heads,
            variants.companions(files) if models else (),
            named,
            revision,
            heads,
        )

    def card(self, repo: str, commit: str) -> str:
        """The source of the model card, without its metadata; "" if there is none."""
        data = self.text(repo, commit, "README.md")
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        if text.startswith("---\n") and (end := text.find("\n---", 3)) > 0:
            text = text[end + 4 :].lstrip("-").lstrip()
        return text

    def text(self, repo: str, commit: str, path: str) -> bytes:
        """A small file as a whole; b"" if it does not exist."""
        source = FileSource(self, repo, commit, path)
        found = bytearray()
        try:
            with source.open(0, None) as answer:
                for chunk in answer.chunks:
                    found += chunk
                    if len(found) > _LARGEST_TEXT:
                        break
        except DownloadProblem as problem:
            if problem.told.code != "hub-file-gone":
                raise
        return bytes(found)

    # --- account -------------------------------------------------------------------------

    def account(self, token: str) -> str:
        """The name of the account that a token belongs to; raises Unavailable, and DownloadProblem
        for a token that the hub rejects."""
        try:
            with _told_apart(""):
                return str(self._api().whoami(token).get("name") or "")
        except DownloadProblem as problem:
            if problem.told.code == "hub-needs-token":
                raise DownloadProblem("hub-token-unknown") from problem
            raise

    # --- bytes ---------------------------------------------------------------------------

    def source(self, wanted: DownloadRequest, file: RemoteFile) -> FileSource:
        return FileSource(self, wanted.repo, wanted.commit, file.path)

    def headers(self) -> dict[str, str]:
        """Headers for one request; the token goes to the hub only, not to its storage servers."""
        return hub_utils.build_hf_headers(  # type: ignore[attr-defined]
            token=self._token(), library_name="headstart"
        )

    def _reach(self) -> None:
        """Probe the hub once before a search: without an answer, the library would retry for half a
        minute; this fails at once."""
        if not self._reached:
            url, one = f"{self.endpoint}/api/models", {"limit": 1}
            headers, wait = self.headers(), self.timeout
            _check(get_session().get(url, params=one, headers=headers, timeout=wait), "", "")
        # until this search is answered
        self._reached = False

    def _api(self) -> HfApi:
        return HfApi(self.endpoint, token=self._token(), library_name="headstart")


class FileSource:
    """A `Source`: one file of a repository at one commit."""

    def __init__(self, client: HubClient, repo: str, commit: str, path: str) -> None:
        self._client = client
        self._repo = repo
        self._commit = commit
        self._path = path

    @contextmanager
    def open(self, start: int, end: int | None) -> Iterator[RangeAnswer]:
        url = hf_hub_url(
            self._repo, self._path, revision=self._commit, endpoint=self._client.endpoint
        )
        headers = self._client.headers() | {"Accept-Encoding": "identity"}
        if start or end is not None:
            headers["Range"] = f"bytes={start}-{'' if end is None else end - 1}"
        with (
            _told_apart(self._repo, self._path),
            get_session().stream(
                "GET",
                url,
                headers=headers,
                timeout=self._client.timeout,
                follow_redirects=True,
                extensions={PIECES: True},
            ) as response,
        ):
            _check(response, self._repo, self._path)
            at, total = _span(response)
            yield RangeAnswer(at, total, self._chunks(response))

    def _chunks(self, response: httpx2.Response) -> Iterator[bytes]:
        with _told_apart(self._repo, self._path):
            yield from response.iter_raw()


@contextmanager
def _told_apart(repo: str, path: str = "") -> Iterator[None]:
    """Divide the libraries' errors into those worth a retry and others."""
    try:
        yield
    except _NO_NETWORK as error:
        raise Unavailable(told("download-no-network")) from error
    except OfflineModeIsEnabled as error:
        raise DownloadProblem("hub-offline-mode") from error
    except HfHubHTTPError as error:
        _raise(error.response, repo, path, error)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Unavailable(told("hub-no-answer", reason=type(error).__name__)) from error
    except AnswerTooLong as error:
        raise DownloadProblem("hub-answer-too-long") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # an answer that is no JSON or not the hub's, or a name that the library refuses
        raise DownloadProblem("hub-no-sense", name=repo or "search") from error


def _check(response: httpx2.Response, repo: str, path: str) -> None:
    if response.status_code not in (200, 206):
        _raise(response, repo, path, None)


def _raise(response: httpx2.Response, repo: str, path: str, error: HfHubHTTPError | None) -> None:
    status, code = response.status_code, response.headers.get("X-Error-Code", "")
    if status == 429:
        raise Unavailable(told("hub-busy"), _retry_after(response)) from error
    if status in (408, 425) or status >= 500:
        raise Unavailable(told("hub-trouble", status=status), _retry_after(response)) from error
    if isinstance(error, GatedRepoError) or code == "GatedRepo":
        raise DownloadProblem("hub-gated", repo=repo) from error
    if status == 401 and code != "RepoNotFound":
        raise DownloadProblem("hub-needs-token", repo=repo) from error
    if isinstance(error, RepositoryNotFoundError) or code == "RepoNotFound":
        # private ones are reported as missing too
        raise DownloadProblem("hub-repository-gone", repo=repo) from error
    if status == 403:
        raise DownloadProblem("hub-forbidden", repo=repo) from error
    if status == 404 and path:
        raise DownloadProblem("hub-file-gone", name=path, repo=repo) from error
    if status == 404:
        raise DownloadProblem("hub-repository-gone", repo=repo) from error
    raise DownloadProblem("hub-refused", repo=repo or "search", status=status) from error


def _retry_after(response: httpx2.Response) -> float | None:
    with contextlib.suppress(ValueError):
        return float(response.headers.get("Retry-After", ""))
    return None


def _span(response: httpx2.Response) -> tuple[int, int | None]:
    """First byte of an answer, and size of the whole file."""
    if response.status_code == 206:
        found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if found is None:
            raise Unavailable(told("download-cut"))
        return int(found[1]), int(found[2])
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if _LENGTH.fullmatch(length) else None


def _etag(sibling: Any) -> str:
    """Name of a file in the cache: its SHA-256 if it is large, else its git object id."""
    lfs = sibling.lfs
    return str((lfs.sha256 if lfs is not None else sibling.blob_id) or "")


def _repository(info: Any) -> Repository:
    tags = info.tags or []
    paths = [sibling.rfilename for sibling in info.siblings or ()]
    gguf = info.gguf or {}
    formats: list[ModelFormat] = []
    if gguf or "gguf" in tags or any(path.lower().endswith(".gguf") for path in paths):
        formats.append("gguf")
    if info.library_name == "mlx" or "mlx" in tags:
        formats.append("mlx")
    tensors = info.safetensors
    total = gguf.get("total") or (tensors.total if tensors is not None else 0)
    licences = (tag.partition(":")[2] for tag in tags if tag.startswith("license:"))
    kinds = {companion.kind for companion in variants.companions(_named(paths))}
    return Repository(
        id=str(info.id),
        formats=tuple(formats),
        likes=_count(info.likes),
        downloads=_count(info.downloads),
        updated=info.last_modified.timestamp() if info.last_modified else 0.0,
        gated=bool(info.gated),
        private=bool(info.private),
        licence=next(licences, ""),
        parameters=_count(total),
        context=_count(gguf.get("context_length")),
        architecture=str(gguf.get("architecture") or ""),
        smallest=_smallest(info, paths, _count(total)),
        has_vision="image-text-to-text" in tags or CompanionKind.PROJECTOR in kinds,
        has_own_draft=CompanionKind.HEAD in kinds or _own_layers(str(info.id)),
    )


def _named(paths: list[str]) -> list[RemoteFile]:
    return [RemoteFile(path, 0, "-") for path in paths]


def _smallest(info: Any, paths: list[str], parameters: int) -> int:
    """Bytes of the smallest chat model: exact if the list has sizes, else estimated."""
    sized = [s for s in info.siblings or () if s.size]
    files = [RemoteFile(s.rfilename, s.size, "-") for s in sized] or _named(paths)
    found = variants.of_files(files, str(info.id) if not info.gguf else "")
    if sized:
        return min((variant.size for variant in found), default=0)
    least = min((variant.bits for variant in found if variant.bits), default=0.0)
    return int(parameters * least / 8)


def _own_layers(repo: str) -> bool:
    return re.search(r"(?:^|[-_/.])mtp(?:$|[-_.])", repo, re.IGNORECASE) is not None


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
