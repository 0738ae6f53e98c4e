"""Writers of documents that need Qt, by format; their modules are imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def _pdf(title: str, body: str) -> bytes:
    from headstart.ui.transfer.documents import pdf_bytes

    return pdf_bytes(title, body)


def _odt(title: str, body: str) -> bytes:
    from headstart.ui.transfer.documents import odt_bytes

    return odt_bytes(title, body)


RENDERERS: Mapping[str, Callable[[str, str], bytes]] = {"pdf": _pdf, "odt": _odt}
