"""Parts of a Word file: equations are replaced by text, and headers and footers are read."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from headstart.extraction.equations import M, latex_of

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_MAIN = "wordprocessingml.document.main+xml"
_TYPES = "[Content_Types].xml"
# most bytes of a file's list of parts
_LARGEST_LIST = 1 << 20
# parts of a file that can have equations
_WITH_TEXT = ("document", "footnotes", "endnotes", "comments", "header", "footer")


def main_part(archive: zipfile.ZipFile) -> str:
    """The name of the part with the text, which is not fixed; "" if there is none. Raises
    KeyError and ParseError for a file that is not from Office."""
    for part in _parsed(archive, _TYPES):
        if _MAIN in part.get("ContentType", "") and part.get("PartName"):
            return part.get("PartName", "").lstrip("/")
    return ""


def word_parts(data: bytes) -> tuple[bytes, list[str]]:
    """The file with LaTeX in place of its equations; and the text of headers and footers, each
    once. Raises KeyError, BadZipFile and ParseError."""
    beside: dict[str, None] = {}
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(made, "w") as target:
        main = main_part(archive)
        for member in archive.infolist():
            content = archive.read(member)
            stem = posixpath.basename(member.filename).rstrip(".xml0123456789")
            is_text = member.filename == main or stem in _WITH_TEXT
            if is_text and member.filename.endswith(".xml"):
                root = ElementTree.fromstring(content)
                if b"oMath" in content:
                    _with_latex(root)
                    content = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
                if stem in ("header", "footer"):
                    beside.update(dict.fromkeys(_said(root, stem.capitalize())))
            target.writestr(member.filename, content)
    return made.getvalue(), list(beside)


def _with_latex(root: Element) -> None:
    """Replace equations by text; one on its own line gets two dollars."""
    for parent in list(root.iter()):
        for place, child in enumerate(list(parent)):
            if child.tag == f"{M}oMathPara":
                sources = [latex_of(one) for one in child.iter(f"{M}oMath")]
                latex = "$$" + r" \\ ".join(sources) + "$$"
            elif child.tag == f"{M}oMath":
                latex = f"${latex_of(child)}$"
            else:
                continue
            run = Element(f"{W}r")
            text = ElementTree.SubElement(run, f"{W}t", {_SPACE: "preserve"})
            text.text = latex
            run.tail = child.tail
            parent[place] = run


def _said(root: Element, name: str) -> Iterator[str]:
    words = " ".join("".join(one.text or "" for one in root.iter(f"{W}t")).split())
    if words:
        yield f"[{name}: {words}]"


def _parsed(archive: zipfile.ZipFile, name: str) -> Element:
    with archive.open(name) as file:
        return ElementTree.fromstring(file.read(_LARGEST_LIST))
