"""Our own files: one chat as JSON, or several in a zip with their attached files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from headstart.core.chats.attachments import LARGEST
from headstart.core.chats.parts import needed_blobs
from headstart.exchange import own_format
from headstart.exchange.fields import Fields
from headstart.exchange.ids import OWN, content_id
from headstart.exchange.material import ImportProblem, Material
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = OWN, "Headstart"
BLOBS = "blobs"


def recognise(first: Fields) -> bool:
    return first.text("format") == own_format.FORMAT


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    for member in members:
        root = member.rpartition("/")[0].removesuffix("chats").rstrip("/")

        def beside(digest: str, root: str = root) -> bytes | None:
            return _blob(material, f"{root}/{BLOBS}/{digest}" if root else f"{BLOBS}/{digest}")

        try:
            odd: list[int] = []
            found = own_format.from_json(material.data(member), beside, odd.append)
        except ValueError:
            report.skip(member, "import-unreadable")
            continue
        named = needed_blobs(part for node in found.nodes for part in node.parts)
        missing = [one for one in named if one not in found.blobs]
        where = found.title or member
        if odd:
            report.skip(where, "import-numbers", count=sum(odd))
        for digest in missing:
            report.skip(where, "import-file-missing", name=digest[:12])
        wrong = [
            digest
            for digest, data in found.blobs.items()
            if hashlib.sha256(data).hexdigest() != digest
        ]
        for digest in wrong:
            report.skip(where, "import-file-damaged", name=digest[:12])
        if not found.nodes:
            report.skip(where, "import-empty")
            continue
        if not found.id:
            # the same at each import
            words = [part.text for node in found.nodes for part in node.parts]
            found = replace(found, id=content_id(OWN, found.title, *words))
        yield found


def _blob(material: Material, member: str) -> bytes | None:
    if member not in material.members or material.size(member) > LARGEST:
        return None
    try:
        return bytes(material.data(member))
    except ImportProblem:
        return None
