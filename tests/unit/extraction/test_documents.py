"""Words that lie beside the text of documents: fields, notes, equations, headers; turned pages."""

from __future__ import annotations

import io
import json
import zipfile
from xml.etree import ElementTree

import pytest

from headstart.extraction.equations import M, latex_of
from headstart.extraction.reading import read
from tests.support.documents import docx
from tests.support.plain_pdf import plain_pdf, words

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def text_of(data: bytes, name: str) -> str:
    return read(data, name, lambda *_: None).text


def test_values_of_fields_and_notes_are_in_the_text() -> None:
    look = "/Rect[150 145 350 165]/P 3 0 R/F 4/AP<</N %d 0 R>>>>"
    data = plain_pdf(
        "BT /F1 12 Tf 20 150 Td (Boat:) Tj ET",
        (
            "<</Type/Annot/Subtype/Widget/FT/Tx/T(boat)/V(Albatros)" + look % 9,
            "<</Type/Annot/Subtype/FreeText/Contents(Added)" + look.replace("145", "45") % 10,
            "<</Type/Annot/Subtype/Stamp" + look.replace("145", "95") % 11,
        ),
        (words("Albatros"), words("Added"), words("APPROVED")),
    )
    found = text_of(data, "form.pdf")
    assert all(one in found for one in ("Boat:", "Albatros", "Added", "APPROVED")), found


@pytest.mark.parametrize(
    "turn", ["0 1 -1 0 300 20", "0 -1 1 0 100 180", "1 0 0 1 0 0", "-1 0 0 -1 300 180"]
)
@pytest.mark.parametrize("rotated", [0, 90, 180, 270])
def test_turned_text_keeps_its_lines(turn: str, rotated: int) -> None:
    rows = " Tj T* ".join(f"({row})" for row in ("name    amount", "salt    10", "flour   500"))
    content = f"q {turn} cm BT /F1 12 Tf 14 TL 20 150 Td {rows} Tj ET Q"
    data = plain_pdf(content).replace(b"/MediaBox", f"/Rotate {rotated}/MediaBox".encode())
    found = text_of(data, "turned.pdf")
    assert [" ".join(line.split()) for line in found.split("\n")] == [
        "name amount", "salt 10", "flour 500",
    ]  # fmt: skip


def math(inside: str) -> str:
    element = ElementTree.fromstring(
        f'<m:oMath xmlns:m="{M[1:-1]}" xmlns:w="{W}">{inside}</m:oMath>'
    )
    return latex_of(element)


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def part(name: str, text: str) -> str:
    return f"<m:{name}>{run(text)}</m:{name}>"


@pytest.mark.parametrize(
    ("inside", "latex"),
    [
        (run("a·b"), r"a\cdot b"),
        (f"<m:f>{part('num', 'a')}{part('den', 'b')}</m:f>", r"\frac{a}{b}"),
        (f"<m:sSup>{part('e', 'x')}{part('sup', '2')}</m:sSup>", "x^{2}"),
        (f"<m:sSubSup>{part('e', 'ab')}{part('sub', 'i')}{part('sup', 'n')}</m:sSubSup>",
         "{ab}_{i}^{n}"),
        (f"<m:rad>{part('deg', '3')}{part('e', 'x')}</m:rad>", r"\sqrt[3]{x}"),
        ((f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{part("sub", "i=1")}{part("sup", "n")}'
         f"{part('e', 'i')}</m:nary>"), r"\sum_{i=1}^{n} i"),
        (f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>{part("e", "x")}</m:d>',
         r"\left[ x \right]"),
        (f"<m:d>{part('e', 'x')}</m:d>", "(x)"),
        (f"<m:func>{part('fName', 'sin')}{part('e', 'x')}</m:func>", r"\sin x"),
        ((f"<m:m><m:mr>{part('e', 'a')}{part('e', 'b')}</m:mr><m:mr>{part('e', 'c')}"
         f"{part('e', 'd')}</m:mr></m:m>"), r"\begin{matrix} a & b \\ c & d \end{matrix}"),
        (f'<m:acc><m:accPr><m:chr m:val="⃗"/></m:accPr>{part("e", "v")}</m:acc>', r"\vec{v}"),
        ("<m:r><m:rPr><m:nor/></m:rPr><m:t>if so</m:t></m:r>", r"\text{if so}"),
        (f"<m:unknown>{part('e', 'kept')}</m:unknown>", "kept"),
    ],
)  # fmt: skip
def test_equations_are_latex(inside: str, latex: str) -> None:
    assert math(inside) == latex


def changed(data: bytes, **changes: bytes) -> bytes:
    """A Word file with parts replaced or added; names have `_` for what a name cannot have."""
    made = io.BytesIO()
    names = {"document": "word/document.xml", "header": "word/header1.xml",
             "types": "[Content_Types].xml", "relations": "_rels/.rels",
             "renamed": "word/document2.xml"}  # fmt: skip
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(made, "w") as target:
        parts = {name: archive.read(name) for name in archive.namelist()}
        parts |= {names[key]: value for key, value in changes.items()}
        for name, content in parts.items():
            if content:
                target.writestr(name, content)
    return made.getvalue()


def test_a_word_file_has_its_equations_and_headers() -> None:
    body = (
        f'<w:document xmlns:w="{W}" xmlns:m="{M[1:-1]}"><w:body><w:p><w:r><w:t xml:space='
        f'"preserve">Area: </w:t></w:r><m:oMath>{run("a·b")}</m:oMath></w:p>'
        f"<w:p><m:oMathPara><m:oMath>{run('c=d')}</m:oMath></m:oMathPara></w:p></w:body></w:document>"
    )
    header = f'<w:hdr xmlns:w="{W}"><w:p><w:r><w:t>Draft 3</w:t></w:r></w:p></w:hdr>'
    data = changed(docx(["x"]), document=body.encode(), header=header.encode())
    assert text_of(data, "a.docx") == "Area: $a\\cdot b$\n\n$$c=d$$\n\n[Header: Draft 3]"


def test_the_main_part_of_a_word_file_has_any_name() -> None:
    data = docx(["Words of the file."])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        document = archive.read("word/document.xml")
        types = archive.read("[Content_Types].xml").replace(b"document.xml", b"document2.xml")
        relations = archive.read("_rels/.rels").replace(b"document.xml", b"document2.xml")
    renamed = changed(data, document=b"", renamed=document, types=types, relations=relations)
    assert text_of(renamed, "a.docx") == "Words of the file."


def test_a_notebook_is_its_cells() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {"cell_type": "code", "source": "print(1)", "outputs": [
            {"output_type": "stream", "text": ["1\n"]},
            {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": "<Fig>"}},
            {"output_type": "error", "ename": "ValueError", "evalue": "no"}]},
    ]  # fmt: skip
    data = json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}).encode()
    assert text_of(data, "a.ipynb") == (
        "# Title\nwords\n\n```python\nprint(1)\n```\n\n```\n1\n```\n\n```\n<Fig>\n```\n\n"
        "[a picture: png]\n\n```\nValueError: no\n```"
    )
    # anything else stays as it is
    assert text_of(b'{"a": 1}', "a.ipynb") == '{"a": 1}'
