"""Files that have no text to search, by their names. Pure.

All others are opened: their content tells whether they have text.
"""

from __future__ import annotations

import mimetypes

_MEDIA = ("image/", "audio/", "video/", "font/", "model/")
_BINARY = frozenset(
    (
        *("7z", "a", "apk", "app", "bin", "blend", "br", "bz2", "cab", "cbz", "class", "cur"),
        *("dat", "db", "deb", "dll", "dmg", "dylib", "elc", "eot", "exe", "fig", "flac", "gguf"),
        *("ggml", "glb", "gz", "h5", "ico", "idx", "img", "iso", "jar", "jks", "key", "keystore"),
        *("ko", "lib", "lz4", "lzma", "mdb", "mo", "msi", "msix", "npy", "npz", "o", "obj"),
        *("odex", "onnx", "otf", "p12", "pack", "parquet", "pb", "pdb", "pfx", "pickle", "pkl"),
        *("pt", "pth", "pyc", "pyd", "pyo", "rar", "rpm", "safetensors", "snap", "so", "sqlite"),
        *("sqlite3", "swp", "tar", "tflite", "tgz", "torrent", "ttc", "ttf", "vdi", "vmdk"),
        *("wasm", "webp", "whl", "woff", "woff2", "xz", "z", "zip", "zst"),
    )
)
# folders that programs make, which nobody asks about
_MADE = frozenset(("node_modules", "__pycache__", "__MACOSX", "site-packages", "$RECYCLE.BIN"))
# a file of these names marks a folder as made by a program: a virtual environment, a cache
MADE_BY = frozenset(("pyvenv.cfg", "CACHEDIR.TAG"))


def has_no_text(name: str) -> bool:
    """True for images, sound, archives, programs, models and databases, by the name's ending."""
    lower = name.lower()
    ending = lower.rpartition(".")[2] if "." in lower[1:] else ""
    if ending in _BINARY:
        return True
    media = mimetypes.guess_type(lower, strict=False)[0] or ""
    # TypeScript has the ending of a video format
    return media.startswith(_MEDIA) and ending not in ("ts", "mts", "cts")


def is_made(name: str) -> bool:
    """True for a folder of files that a program made."""
    return name in _MADE
