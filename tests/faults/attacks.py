"""Known attacks on whatever reads the files of strangers, by kind."""

from __future__ import annotations

import io
import json
import random
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable

from tests.faults.attacks_bytes import answers, ggufs
from tests.support.chatgpt_files import gpt_node
from tests.support.documents import pdf

_DEEP = 20_000


def changed(data: bytes, random_: random.Random) -> bytes:
    """One to eight changes: bytes, pieces cut out, doubled or moved, the end cut off."""
    found = bytearray(data)
    for _ in range(random_.randint(1, 8)):
        if not found:
            return b"?"
        at, length = random_.randrange(len(found)), random_.randint(1, 60)
        match random_.randrange(6):
            case 0:
                found[at] = random_.randrange(256)
            case 1:
                del found[at : at + length]
            case 2:
                found[at:at] = found[at : at + length] * random_.choice((1, 1, 200))
            case 3:
                found[at : at + length] = random_.choice((b"\xff" * 8, b"\0" * 8, b"9" * 40))
            case 4:
                to = random_.randrange(len(found))
                found[to:to] = found[at : at + length]
            case _:
                if random_.random() < 0.3:
                    del found[at:]
    return bytes(found)


def _templates() -> list[bytes]:
    call = "{{ messages[0].content }}"
    return [
        text.encode()
        for text in (
            "{{ ''.__class__.__mro__[1].__subclasses__() }}",
            "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
            "{{ lipsum.__globals__['os'].system('touch /tmp/hostile') }}",
            "{{ ().__class__.__base__.__subclasses__()[100]('id', shell=True) }}",
            "{{ request['application']['__globals__'] }}",
            "{{ messages.__class__ }}" + call,
            "{{ ''|attr('__class__') }}",
            "{{ ''|attr('\\x5f\\x5fclass\\x5f\\x5f') }}",
            "{{ '{0.__class__.__init__.__globals__}'.format(messages) }}",
            "{{ '{0.__class__}'|format(messages) }}",
            "{{ messages|map(attribute='__class__')|list }}" + call,
            "{{ messages.append(1) }}" + call,
            "{% include '/etc/passwd' %}" + call,
            "{% import 'os' as os %}" + call,
            "{% extends '/etc/passwd' %}",
            "{{ range(10**9)|list }}",
            "{{ range(10**12)|sum }}",
            "{{ 'x' * 10**12 }}",
            "{{ 'x'.ljust(10**10) }}",
            "{{ 'x'|center(10**10) }}",
            "{{ '%999999999d'|format(1) }}",
            "{{ '{:>9999999999}'.format(1) }}",
            "{{ 'a'.join('b' * 99999 for _ in range(99999)) }}",
            "{{ 9 ** 9 ** 9 }}",
            "{{ ('a' * 90000).replace('a', 'b' * 90000) }}",
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
            "{% set n = namespace(s='x') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}"
            "{% endfor %}" + call,
            "{% for m in messages recursive %}{{ loop(messages) }}{% endfor %}",
            "{{ ('a' * 30000 ~ '!')|wordwrap(1)|length }}" + call,
            "{{ messages|pprint * 99999 }}",
            "{{ [messages] * 90000 }}" + call,
            "{{ dict(a=messages)|tojson(indent=99999999) }}",
            "{{ strftime_now('%Y' * 99999) }}" + call,
            "{" * _DEEP,
            "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
            "{% if 1 %}" * 3000,
            "{{ " + "-" * 90_000 + "1 }}",
            "{{ a" + ".b" * 45_000 + " }}",
            "\0\ud7ff" + call * 50_000,
        )
    ]


def _markdown() -> list[bytes]:
    return [
        text.encode()
        for text in (
            "![a](https://example.invalid/a.png)",
            "<img src='https://example.invalid/b.png' onerror=alert(1)>",
            "![a](file:///etc/passwd) [b](file:///etc/passwd)",
            "<script>alert(1)</script><iframe src=//example.invalid></iframe>",
            "<link rel=stylesheet href=https://example.invalid/x.css>",
            "<style>@import url(https://example.invalid)</style>",
            "[a](javascript:alert(1)) [b](data:text/html;base64,PHNjcmlwdD4=)",
            "[x]: https://example.invalid\n![x][x]",
            "> " * 3000 + "deep",
            "- " * 3000 + "deep",
            "".join("  " * n + "- a\n" for n in range(600)),
            "[" * 30_000,
            "[a](" * 10_000,
            "*a " * 20_000,
            "_" * 50_000,
            "`" * 50_001,
            "".join("`" * n + " " for n in range(300)),
            "<" * 30_000,
            "<a " * 10_000,
            "<!--" * 10_000,
            "![[]()" * 8_000,
            "**a*" * 12_000,
            "a**b" * 12_000,
            "&" * 30_000,
            "\\" * 60_000,
            "|a" * 2_000 + "\n" + "|-" * 2_000 + "\n" + "|x" * 2_000,
            ("|a|b|\n|-|-|\n" + "|1|2|\n" * 3_000),
            "$" * 20_000,
            "$$\\frac{" * 2_000,
            "$" + "{" * 5_000 + "}" * 5_000 + "$",
            "$\\left(" * 2_000,
            "[^1]: [^1]\n" * 2_000 + "[^1]",
            "x" * 200_000,
            "http://a." * 10_000,
            "a@b." * 10_000,
            "```" + "x" * 100_000,
            "```mermaid\n" + "a-->b\n" * 3_000,
            "\u202e reversed \u2066\u2067\u200f" * 2_000,
            "Z" + "\u0335\u0321" * 5_000,
            "\0\x1b[31m\x07\r\r\n\u2028\u2029" * 2_000,
        )
    ]


def _svg() -> list[bytes]:
    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    lol = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
    inner = (
        '<image href="https://example.invalid/a.png" width="9" height="9"/>',
        '<image xlink:href="file:///etc/passwd" width="9" height="9"/>',
        '<use xlink:href="https://example.invalid/a.svg#x"/>',
        '<script>fetch("https://example.invalid")</script>',
        '<style>@import url("https://example.invalid/a.css");</style>',
        '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml">x</body></foreignObject>',
        '<g id="a"><use xlink:href="#a"/></g>',
        '<g id="a"><use xlink:href="#b"/></g><g id="b"><use xlink:href="#a"/></g>',
        "<g>" * _DEEP,
        '<path d="' + "M0 0L9 9" * 100_000 + '"/>',
        '<path d="M0 0 l1e308 1e308 nan inf"/>',
        '<text font-size="1e9">x</text>',
        '<rect width="1e30" height="1e30" stroke-dasharray="0.0001" stroke="red"/>',
        '<rect width="9" height="9" transform="scale(1e200) rotate(nan)"/>',
        '<linearGradient id="a" xlink:href="#a"/><rect width="9" height="9" fill="url(#a)"/>',
        '<pattern id="p"><rect fill="url(#p)" width="9" height="9"/></pattern>',
        '<image href="data:image/svg+xml;base64,AAAA" width="9" height="9"/>',
        '<animate attributeName="x" dur="0s" repeatCount="indefinite"/>',
        '<filter id="f"><feGaussianBlur stdDeviation="1e6"/></filter><g filter="url(#f)"/>',
    )
    # each `use` holds ten of the one before: 10^9 rectangles
    uses = '<g id="u0"><rect width="1" height="1"/></g>' + "".join(
        f'<g id="u{n + 1}">{f"""<use xlink:href="#u{n}"/>""" * 10}</g>' for n in range(9)
    )
    many = f'<defs>{uses}</defs><use xlink:href="#u9"/>'
    whole = [f'{head} width="90" height="90">{one}</svg>' for one in (*inner, many)]
    whole += [
        f'<!DOCTYPE svg [<!ENTITY l0 "lol">{lol}]>{head}><text>&l9;</text></svg>',
        f'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>{head}><text>&x;</text></svg>',
        f'<!DOCTYPE svg SYSTEM "https://example.invalid/a.dtd">{head}/>',
        f'<?xml-stylesheet href="https://example.invalid/a.css"?>{head}/>',
        f'{head} width="99999999" height="99999999"><rect width="9" height="9"/></svg>',
        f'{head} width="-5" height="0"/>',
        f'{head} width="1e400" height="nan" viewBox="0 0 0 0"/>',
        f"{head}",
        "<svg" * 10_000,
        "",
    ]
    return [text.encode() for text in whole]


def _zip_of(*members: tuple[str, bytes], modes: int = 0) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        # the same name twice is one of the attacks
        warnings.simplefilter("ignore", UserWarning)
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = modes << 16
            file.writestr(info, data)
    return buffer.getvalue()


def _chat(text: str = "Hello", chat_id: str = "c1") -> dict[str, object]:
    nodes = [gpt_node("s", None, "system", ""), gpt_node("u", "s", "user", text)]
    return {
        "id": chat_id,
        "title": "A chat",
        "create_time": 1.6e9,
        "current_node": "u",
        "mapping": {str(node["id"]): node for node in nodes},
    }


def _zips() -> list[bytes]:
    chats = json.dumps([_chat()]).encode()
    sound = ("conversations.json", chats)
    zeros = bytes(200 << 20)
    names = ["../../evil.json", "/etc/evil.json", "a/../../../evil", "C:\\evil.json"]
    names += ["..\\..\\evil", "conversations.json/evil", "\0evil", "a" * 60_000]
    names += ["./conversations.json", "con", ""]
    found = [_zip_of(sound, (name, b"evil")) for name in names]
    found += [
        _zip_of(sound, ("link", b"/etc/passwd"), modes=0o120777),
        _zip_of(("conversations.json", zeros)),
        _zip_of(("conversations.json", b"[" + b" " * len(zeros) + b"]")),
        _zip_of(sound, *((f"file-{n}.png", b"x") for n in range(30_000))),
        _zip_of(sound, sound),
        _zip_of(("inner.zip", _zip_of(sound))),
        _zip_of(("conversations.json", b"\xff\xfe[")),
        _zip_of(sound)[:-30],
        _zip_of(sound)[30:],
        b"PK\x05\x06" + bytes(18),
        b"PK\x03\x04" + bytes(5000),
        b"PK\x05\x06" + b"\xff" * 18,
    ]
    lying = bytearray(_zip_of(sound))
    at = lying.find(b"PK\x01\x02")
    lying[at + 24 : at + 28] = struct.pack("<I", 0xFFFFFFF0)
    found.append(bytes(lying))
    locked = bytearray(_zip_of(sound))
    locked[6] |= 1
    locked[locked.find(b"PK\x01\x02") + 8] |= 1
    found.append(bytes(locked))
    method = bytearray(_zip_of(sound))
    method[method.find(b"PK\x01\x02") + 10] = 99
    found.append(bytes(method))
    return found


def _pdf_with(objects: str, page: str = "") -> bytes:
    return (
        "%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R" + objects + ">>endobj\n"
        "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]" + page + ">>endobj\n"
        "trailer<</Root 1 0 R>>\n%%EOF"
    ).encode()


def _pdfs() -> list[bytes]:
    bomb = zlib.compress(zlib.compress(bytes(300 << 20), 9), 9)
    stream = b"4 0 obj<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n" % len(bomb)
    after = b"\nendstream endobj\ntrailer"
    return [
        _pdf_with("/OpenAction<</S/JavaScript/JS(app.alert(1))>>"),
        _pdf_with("/OpenAction<</S/Launch/F(/bin/sh)>>"),
        _pdf_with("/OpenAction<</S/URI/URI(https://example.invalid)>>"),
        _pdf_with("/AA<</O<</S/SubmitForm/F(https://example.invalid)>>>>"),
        _pdf_with("", "/Annots[3 0 R 3 0 R]"),
        _pdf_with("", "/Contents 3 0 R"),
        _pdf_with("", "/Resources<</XObject<</A 3 0 R>>>>"),
        b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 1 0 R/Kids[1 0 R]>>endobj\ntrailer<</Root 1 0 R>>",
        _pdf_with("").replace(b"/Kids[3 0 R]/Count 1", b"/Kids[2 0 R]/Count 999999999"),
        _pdf_with("", "/Contents 4 0 R").replace(b"trailer", stream + bomb + after),
        b"%PDF-1.7\n" + b"[" * 200_000,
        b"%PDF-1.7\n" + b"<<" * 200_000,
        b"%PDF-1.7\nstartxref\n0\n%%EOF",
        b"%PDF-1.7\nxref\n0 99999999999\ntrailer<</Prev 9/Root 1 0 R>>startxref\n9\n%%EOF",
        pdf(["Page"] * 5).replace(b"/Count", b"/Kount"),
        pdf(["a" * 20_000]),
        pdf(["Page"])[:-200],
        pdf(["Page"]).replace(b"endobj", b"endobjx"),
        b"%PDF-",
        b"",
    ]


def _jsons() -> list[bytes]:
    loop = _chat()
    mapping = loop["mapping"]
    assert isinstance(mapping, dict)
    mapping["s"]["parent"] = "u"
    texts: list[str] = [
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 5_000 + "]" * 5_000,
        json.dumps([_chat("x" * 5_000_000)]),
        json.dumps([loop]),
        json.dumps([{**_chat(), "current_node": "nowhere"}]),
        json.dumps([{**_chat(), "mapping": {}}]),
        json.dumps([{**_chat(), "mapping": []}]),
        json.dumps([{**_chat(), "create_time": 1e308}]),
        json.dumps([{**_chat(), "create_time": -1e18}]),
        json.dumps([{**_chat(), "title": "../../../etc/passwd"}]),
        json.dumps([{**_chat(), "title": "\0\u202e" * 99}]),
        json.dumps([_chat(chat_id="../../evil")]),
        json.dumps([_chat(chat_id="same")] * 50),
        json.dumps([_chat("<img src=https://example.invalid/a.png>")]),
        json.dumps([_chat("\ud800 half")]),
        '[{"title": "\\ud83d"}]',
        '[{"a": 1e999999}]',
        "[" + "9" * 100_000 + "]",
        '[{"a": 1, "a": 2, "mapping": 7}]',
        '{"__proto__": {"polluted": 1}}',
        '{"py/object": "os.system", "py/reduce": [1]}',
        "NaN",
        "[NaN, Infinity]",
        "\ufeff[]",
        "null",
        "{}",
        '{"format": "headstart", "version": 999999}',
        '{"headstart": {"version": "../.."}, "messages": [{"parent": "a", "id": "a"}]}',
        "// no JSON",
    ]
    return [text.encode("utf-8", "surrogatepass") for text in texts]


KNOWN: dict[str, Callable[[], list[bytes]]] = {
    "template": _templates,
    "markdown": _markdown,
    "svg": _svg,
    "zip": _zips,
    "pdf": _pdfs,
    "json": _jsons,
    "gguf": ggufs,
    "server": answers,
}
