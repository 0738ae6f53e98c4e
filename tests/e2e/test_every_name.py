"""Works for every name: homes, models, folders, files, chats and exports, in scripts of the world,
signs that systems keep for themselves, and lengths that they cut. One table for all systems."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import unicodedata
from pathlib import Path

import pytest

from headstart.core.chats.parts import PassagePart
from headstart.core.errors import EnvironmentProblem
from headstart.exchange.names import file_name
from headstart.home import Home
from headstart.hub.library import open_model, starter_model
from tests.conftest import OpenApp, until
from tests.e2e.test_terminal import headstart
from tests.support import conversation_files as files
from tests.support.driver import ask, branch, use_sampling
from tests.support.knowledge_window import read

# as people call things; those of systems are below
NAMES = {
    "japanese": "日本語の設定 二〇二六",
    "arabic": "محادثاتي الخاصة",
    "hebrew and latin": "שיחות Chats 2",
    "russian": "Мои чаты — черновики",
    "emoji": "🌸 chats 👩‍🔬",
    "decomposed": unicodedata.normalize("NFD", "Café Ångström Việt"),
    "composed": "Café Ångström Việt",
    "wide blank": "設定\u3000二",
    "blanks inside": "two  blanks and   three",
    "signs": "100 % & 'more' (1) #2 [x] {y} $HOME ~ + ,;=@^`",
    "option": "--home",
    "point first": ".hidden chats",
    "hindi": "मेरी बातचीत",
    "beyond the first plane": "𝔉𝔯𝔞𝔨𝔱𝔲𝔯 𠮷野家",
}
# no system has files of these names, but chats, and what is asked to be exported, have them
TITLES = {
    **NAMES,
    "reserved": "CON",
    "reserved with an ending": "aux.markdown",
    "reserved with a raised figure": "com¹",
    "points at the end": "and so on...",
    "blanks at the ends": "  in between  ",
    "separators": 'either/or\\neither:nor|both <a> "b" *?',
    "long": "Ж" * 300,
    "long emoji": "👩‍🔬" * 100,
    "long without a blank": "a" * 300,
    "several lines": "first\nsecond",
    "right to left override": "photo\u202egpj.exe",
    "only points": "...",
}
# the others in `make proof`, and in `make windows-trial`
_SOON = ("japanese", "emoji", "decomposed", "signs")
every_name = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=words, marks=() if words in _SOON else pytest.mark.proof)
        for words, name in NAMES.items()
    ],
)


@every_name
async def test_a_home_a_model_a_folder_and_a_file(
    running: OpenApp, tmp_path: Path, name: str, shallow_starter: None
) -> None:
    starter = starter_model()
    assert starter is not None
    home, folder = Home(tmp_path / name / "home"), tmp_path / name / f"{name} files"
    folder.mkdir(parents=True)
    model = tmp_path / name / f"{name}.gguf"
    shutil.copyfile(starter.path, model)
    # a file whose name begins with a point is hidden, and read by nobody
    file = folder / f"a {name}.md"
    file.write_text("# Ferry\n\nThe ferry to Texel leaves at 7:40.\n", "utf-8")
    async with running(at=home) as app:
        use_sampling(app)
        app.controllers.models.open_file(str(model))
        app.controllers.knowledge.add(str(folder))
        await read(app)
        app.window.inspector.knowledge.switches[str(folder)].click()
        reply = await ask(app, "When does the ferry to Texel leave?")
        assert reply.text
        assert reply.model_key == open_model(model).key
        question = (await branch(app))[-2]
        (passage,) = [one for one in question.parts if isinstance(one, PassagePart)]
        assert "7:40" in passage.text
        assert (passage.name, passage.source) == (file.name, str(folder))
        chat = app.controllers.open.id
    async with running(at=home) as app:
        app.window.open_chat(chat)
        await until(lambda: app.controllers.open.id == chat)
        await app.controllers.settle()
        assert [one.text for one in await branch(app)] == [question.text, reply.text]


def test_chats_and_their_exports(tmp_path: Path) -> None:
    home, source = tmp_path / "home", tmp_path / "conversations.json"
    titled = [
        files.chatgpt() | {"title": title, "id": words, "conversation_id": words}
        for words, title in TITLES.items()
    ]
    source.write_bytes(files.dumps(titled))
    came = headstart("--home", home, "import", source)
    assert came.returncode == 0, came.stderr
    assert f"{len(TITLES)} new chats" in came.stdout
    for form, ending in (("markdown", ".md"), ("headstart", ".headstart.json")):
        out = tmp_path / form
        went = headstart("--home", home, "export", "--format", form, "--out", out)
        assert went.returncode == 0, went.stderr
        written = [one.name for one in out.iterdir()]
        assert len(written) == len(TITLES)
        assert len({one.casefold() for one in written}) == len(TITLES)
        for one in written:
            stem = one.removesuffix(ending)
            # the name that every system can have
            assert stem == file_name(stem), one
            assert len(os.fsencode(one)) < 255
    # a chat that comes back is known by what it is, not by its file's name
    back = headstart("--home", tmp_path / "other", "import", tmp_path / "headstart")
    assert back.returncode == 0, back.stderr
    assert f"{len(TITLES)} new chats" in back.stdout


@every_name
def test_an_export_goes_where_it_is_asked_to(tmp_path: Path, name: str) -> None:
    home, source = tmp_path / "home", tmp_path / f"{name}.json"
    source.write_bytes(files.dumps([files.chatgpt()]))
    assert headstart("--home", home, "import", source).returncode == 0
    target = tmp_path / name / f"{name}.pdf"
    target.parent.mkdir()
    went = headstart("--home", home, "export", "--format", "pdf", f"--out={target}")
    assert went.returncode == 0, went.stderr
    assert target.read_bytes().startswith(b"%PDF")


def test_a_path_of_three_hundred_letters(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["経路 of a name"] * 20)
    assert len(str(folder)) > 300
    came = headstart("--home", folder, "import", "--dry-run", _one_chat(tmp_path))
    if came.returncode and sys.platform == "win32":
        # which allows them where it was told to
        assert came.stderr.startswith("headstart: ")
        assert "Traceback" not in came.stderr
    else:
        assert "1 new chat" in came.stdout, came.stderr


async def test_a_model_and_a_folder_that_may_only_be_read(
    running: OpenApp, tmp_path: Path, shallow_starter: None
) -> None:
    starter = starter_model()
    assert starter is not None
    folder = tmp_path / "読むだけ"
    folder.mkdir()
    model, file = folder / "model.gguf", folder / "ferry.md"
    shutil.copyfile(starter.path, model)
    file.write_text("# Ferry\n\nThe ferry to Texel leaves at 7:40.\n", "utf-8")
    for path in (model, file):
        path.chmod(stat.S_IREAD)
    folder.chmod(stat.S_IREAD | stat.S_IEXEC)
    try:
        async with running() as app:
            use_sampling(app)
            app.controllers.models.open_file(str(model))
            app.controllers.knowledge.add(str(folder))
            await read(app)
            app.window.inspector.knowledge.switches[str(folder)].click()
            reply = await ask(app, "When does the ferry to Texel leave?")
            assert reply.model_key == open_model(model).key
            assert any(isinstance(one, PassagePart) for one in (await branch(app))[-2].parts)
    finally:
        folder.chmod(stat.S_IRWXU)


def test_an_export_over_a_file_that_may_only_be_read(tmp_path: Path) -> None:
    """Its mark gives way where the folder allows it; where it does not, one sentence says so."""
    home, folder = tmp_path / "home", tmp_path / "読むだけ"
    folder.mkdir()
    assert headstart("--home", home, "import", _one_chat(tmp_path)).returncode == 0
    taken = folder / "taken.pdf"
    taken.write_text("somebody's", "utf-8")
    taken.chmod(stat.S_IREAD)
    went = headstart("--home", home, "export", "--format", "pdf", "--out", taken)
    assert went.returncode == 0, went.stderr
    assert taken.read_bytes().startswith(b"%PDF")
    if sys.platform != "win32" and os.geteuid() != 0:
        folder.chmod(stat.S_IREAD | stat.S_IEXEC)
        try:
            went = headstart("--home", home, "export", "--out", folder / "new.md")
        finally:
            folder.chmod(stat.S_IRWXU)
        assert went.returncode == 1
        assert went.stderr.startswith("headstart: ")
        assert "Traceback" not in went.stderr


def test_a_name_that_is_a_device_is_no_model(tmp_path: Path) -> None:
    for name in ("CON", "nul", "COM1"):
        with pytest.raises(EnvironmentProblem):
            open_model(tmp_path / name)


def _one_chat(folder: Path) -> Path:
    source = folder / "one chat.json"
    source.write_bytes(files.dumps([files.chatgpt()]))
    return source
