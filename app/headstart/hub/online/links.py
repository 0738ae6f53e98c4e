"""Links that a user pastes: a link to the hub, or `owner/name[:file]`. Pure."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from msgspec import Struct

_NAME = r"[A-Za-z0-9][\w.\-]{0,95}"
_PLAIN = re.compile(rf"(?P<repo>{_NAME}/{_NAME})(?:[:@](?P<file>[^\s?#]+))?", re.ASCII)
_HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co", "hf-mirror.com")
# path components before the revision and file in a link
_VIEWS = ("blob", "resolve", "tree", "raw")


class Link(Struct, frozen=True):
    """`file`: a path inside, or a quantization; "" if none was named."""

    repo: str
    file: str = ""
    revision: str = "main"


def parse(text: str, endpoint: str = "") -> Link | None:
    """The repository in a link; None for search terms."""
    text = text.strip().removeprefix("hf://").removeprefix("models/").rstrip("/")
    if "://" in text or text.startswith(tuple(f"{host}/" for host in _HOSTS)):
        return _from_url(text if "://" in text else f"https://{text}", endpoint)
    # `ollama run` and `llama-server -hf` take such names
    found = _PLAIN.fullmatch(text)
    return Link(found["repo"], found["file"] or "") if found else None


def _from_url(text: str, endpoint: str) -> Link | None:
    try:
        url = urlsplit(text)
        host = url.hostname or ""
        own = (urlsplit(endpoint).hostname or "") if endpoint else ""
    except ValueError:
        return None
    if host not in (*_HOSTS, own):
        return None
    parts = [unquote(part) for part in url.path.split("/") if part]
    if parts[:1] == ["models"]:
        parts = parts[1:]
    found = _PLAIN.fullmatch("/".join(parts[:2]))
    if len(parts) < 2 or found is None:
        return None
    repo = found["repo"]
    if len(parts) > 4 and parts[2] in _VIEWS:
        return Link(repo, "/".join(parts[4:]), parts[3])
    return Link(repo, found["file"] or "")
