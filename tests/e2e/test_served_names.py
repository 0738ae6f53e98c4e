"""The model that answers other programs is the one that was named, or a sentence says why not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import keyring
import pytest
from msgspec.structs import replace

from headstart.assembly import App
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import typed_path
from headstart.core.models.ref import ModelRef
from headstart.core.servers import server_key
from tests.conftest import OpenApp
from tests.e2e.test_serve import serving
from tests.models.embedding import make_embedding
from tests.models.projector import make_projector
from tests.models.split import split
from tests.support.keyrings import MemoryKeyring
from tests.support.patience import PATIENCE
from tests.support.program import Plain, beside, events, opened

HELLO = [{"role": "user", "content": "Hello."}]
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": HELLO, "max_tokens": 2},
    "/v1/responses": {"input": "Hello.", "max_output_tokens": 2},
    "/v1/completions": {"prompt": "Hello", "max_tokens": 2},
    "/v1/messages": {"messages": HELLO, "max_tokens": 2},
}
LISTS = ("/v1/models", "/api/v0/models", "/api/tags")


@pytest.fixture(autouse=True)
def kept_keys(shallow_starter: None) -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def folder(shallow: ModelRef, tmp_path: Path) -> Path:
    """A folder with another chat model than the starter, and one that makes vectors."""
    made = tmp_path / "models"
    made.mkdir()
    _other(shallow.path, made / "river-otter.gguf")
    make_embedding(shallow.path, made / "embed-small.gguf")
    return made


def _other(source: Path, target: Path) -> Path:
    """The same model with other bytes: a last one that nothing reads."""
    shutil.copyfile(source, target)
    with target.open("ab") as file:
        file.write(target.name.encode())
    # the shelf remembers nothing of a file that may still be written
    os.utime(target, (1_700_000_000, 1_700_000_000))
    return target


def _search(app: App, folder: Path) -> None:
    library = app.services.preferences.current.library
    app.services.preferences.update(library=replace(library, folders=(str(folder),)))


def _answers(program: Plain, path: str, name: str) -> set[str]:
    """The models that the whole answer and the stream to a request name."""
    body = BODIES[path] | ({"model": name} if name else {})
    status, whole = program.post(path, body)
    assert status == 200, whole
    found = {whole["model"]}
    _, _, data = program.ask("POST", path, body | {"stream": True})
    for _, value in events(data):
        if isinstance(value, dict):
            for one in (value, value.get("message") or {}, value.get("response") or {}):
                found |= {one["model"]} if "model" in one else set()
    return found


def _listed(program: Plain, path: str) -> list[str]:
    found = json.loads(program.ask("GET", path)[2])
    models = found.get("data") or found["models"]
    return [one.get("id") or one["name"] for one in models]


async def test_a_reply_says_which_model_wrote_it(running: OpenApp, folder: Path) -> None:
    async with running() as app:
        _search(app, folder)
        shutil.copyfile(folder / "river-otter.gguf", folder / "the-same.gguf")
        program = Plain(*await opened(app))

        def ask() -> None:
            for path in LISTS:
                assert _listed(program, path) == ["smollm2-135m", "river-otter", "embed-small"]
            for path in BODIES:
                for name in ("", "claude-opus-5", "gpt-5", "smollm2-135m"):
                    assert _answers(program, path, name) == {"smollm2-135m"}, (path, name)
                for name in (
                    "river-otter",
                    "local/River-Otter.gguf",
                    str(folder / "river-otter.gguf"),
                    "the-same",
                ):
                    assert _answers(program, path, name) == {"river-otter"}, (path, name)
            for name in ("text-embedding-3", "embed-small"):
                status, found = program.post("/v1/embeddings", {"input": "A", "model": name})
                assert (status, found["model"]) == (200, "embed-small")
            # installed, but for something else
            for path, name in (("/v1/embeddings", "river-otter"), ("/v1/messages", "embed-small")):
                body = BODIES.get(path, {"input": "A"}) | {"model": name}
                status, found = program.post(path, body)
                assert status == 400, (path, found)
                assert name.split("-")[0] in found["error"]["message"].casefold()

        await beside(ask)


async def test_without_loading_by_name_one_model_is_listed_and_answers(
    running: OpenApp, folder: Path
) -> None:
    async with running() as app:
        _search(app, folder)
        key = str(folder / "river-otter.gguf")
        program = Plain(*await opened(app, any_model=False, model=key))
        # a second embedding model
        _other(folder / "embed-small.gguf", folder / "embed-zebra.gguf")

        def ask() -> None:
            for path in LISTS:
                assert _listed(program, path) == ["river-otter", "embed-small"]
            for path in BODIES:
                for name in ("", "claude-opus-5", "river-otter"):
                    assert _answers(program, path, name) == {"river-otter"}, (path, name)
                for name in ("smollm2-135m", "embed-zebra"):
                    status, found = program.post(path, BODIES[path] | {"model": name})
                    assert status == 404, (path, name, found)
                    assert "Load models by name" in found["error"]["message"]
            count = {"messages": HELLO, "model": "smollm2-135m"}
            assert program.post("/v1/messages/count_tokens", count)[0] == 404
            assert program.ask("GET", "/v1/models/smollm2-135m")[0] == 404
            assert program.ask("GET", "/v1/models/river-otter")[0] == 200
            for name, status in (("any", 200), ("embed-small", 200), ("embed-zebra", 404)):
                body = {"input": "A", "model": name}
                assert program.post("/v1/embeddings", body)[0] == status, name

        await beside(ask)


def _forms(shallow: Path, place: Path) -> dict[str, str]:
    """Ways to name a model outside the library, each with the short name that it gets."""
    _other(shallow, place / "swift-heron.gguf")
    (place / "link.gguf").symlink_to(place / "swift-heron.gguf")
    spaced = _other(shallow, place / "Grüße an 川 (v2).gguf")
    same = Path(shutil.copyfile(shallow, place / "same-bytes.gguf"))
    parts = split(shallow, place, name="parted")
    (place / "elsewhere").mkdir()
    (place / "elsewhere" / parts[1].name).symlink_to(parts[1])
    (place / "elsewhere" / "loose.gguf").symlink_to(parts[0])
    from tests.models.tiny_mlx import make_tiny_mlx

    make_tiny_mlx("llama", shallow, place / "tiny-folder")
    return {
        str(place / "swift-heron.gguf"): "swift-heron",
        "swift-heron.gguf": "swift-heron",
        "./elsewhere/../swift-heron.gguf": "swift-heron",
        "~/swift-heron.gguf": "swift-heron",
        "link.gguf": "link",
        spaced.name: "gr-sse-an-v2",
        str(same): "same-bytes",
        parts[2].name: "parted",
        f"elsewhere/{parts[1].name}": "parted",
        "elsewhere/loose.gguf": "parted",
        "tiny-folder": "tiny-folder",
        "tiny-folder/model.safetensors": "tiny-folder",
        # installed ones, by name
        "river-otter": "river-otter",
        "River-Otter.gguf": "river-otter",
        "smollm2-135m": "smollm2-135m",
    }


async def test_every_way_to_name_a_model_of_this_computer(
    running: OpenApp,
    folder: Path,
    shallow: ModelRef,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    place = tmp_path / "outside"
    place.mkdir()
    forms = _forms(shallow.path, place)
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", str(place))
    async with running() as app:
        _search(app, folder)
        offered = app.services.serving
        for text, name in forms.items():
            # MLX models answer on other processors only if the user wants it
            backend = "mlx" if name == "tiny-folder" else "auto"
            engine = app.services.preferences.current.engine
            app.services.preferences.update(engine=replace(engine, backend=backend))
            await offered.use_model(text, typed_path(text))
            assert (await offered.look()).problem is None
            (first, *_) = await offered.models()
            assert first.id == name, text


async def test_what_cannot_answer_is_told(
    running: OpenApp,
    folder: Path,
    shallow: ModelRef,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    place = tmp_path / "outside"
    place.mkdir()
    (place / "words.gguf").write_text("words")
    (place / "empty.gguf").write_bytes(b"")
    (place / "cut.gguf").write_bytes(shallow.path.read_bytes()[:-50_000])
    make_projector("mlp", place / "eye.gguf")
    split(shallow.path, place, name="parted")[1].unlink()
    (place / "gone.gguf").symlink_to(place / "nowhere.gguf")
    os.mkfifo(place / "pipe.gguf")
    told = {
        "missing.gguf": "not there",
        # not the installed one of that name
        "./river-otter.gguf": "not there",
        str(place / shallow.path.name): "not there",
        "no-such-model": "not there",
        "words.gguf": "not a model file",
        "empty.gguf": "empty",
        "cut.gguf": "incomplete",
        "eye.gguf": "not a chat model",
        str(folder / "embed-small.gguf"): "embedding model",
        "parted-00001-of-00003.gguf": "missing",
        "gone.gguf": "not there",
        "pipe.gguf": "not a file",
        ".": "a folder with GGUF files",
        "..": "not a model folder",
        server_key("abc", "gpt-5"): "server’s model",
    }
    monkeypatch.chdir(place)
    async with running() as app:
        _search(app, folder)
        for text, words in told.items():
            with pytest.raises(EnvironmentProblem) as caught:
                await app.services.serving.use_model(text, typed_path(text))
            assert words in str(caught.value), (text, str(caught.value))
            assert caught.value.remedy


async def test_a_model_for_programs_that_is_gone_is_told_and_not_replaced(
    running: OpenApp, folder: Path, tmp_path: Path
) -> None:
    async with running() as app:
        services = app.services
        _search(app, folder)
        key = str(folder / "river-otter.gguf")
        program = Plain(*await opened(app, model=key))

        def answers(path: str, name: str = "") -> tuple[int, Any]:
            return program.post(path, BODIES[path] | ({"model": name} if name else {}))

        assert (await beside(partial(answers, "/v1/messages")))[1]["model"] == "river-otter"
        page = app.window.settings.open("server").server
        await app.controllers.settle()
        assert page.model.currentData() == key
        moved = folder / "otter.gguf"
        Path(key).rename(moved)
        await services.installed.look()
        # the same bytes at another place are the same model
        assert services.preferences.current.server.model == str(moved)
        assert (await beside(partial(answers, "/v1/messages")))[1]["model"] == "otter"
        moved.unlink()
        assert await beside(partial(_listed, program, "/v1/models")) == [
            "smollm2-135m",
            "embed-small",
        ]
        for missing in (str(moved), server_key("abc", "gpt-5")):
            services.serving.change(model=missing)
            await app.controllers.settle()
            for path in BODIES:
                for name in ("", "claude-opus-5"):
                    status, found = await beside(partial(answers, path, name))
                    assert status == 503, found
                    assert "Choose" in found["error"]["message"]
                # a program that names one gets that one
                status, found = await beside(partial(answers, path, "smollm2-135m"))
                assert (status, found.get("model")) == (200, "smollm2-135m")
            assert page.model.currentData() == missing
            assert "not available" in page.model.currentText()
            assert "Choose" in page.told.text()
        services.serving.change(model="")
        services.preferences.update(model=server_key("abc", "gpt-5"))
        status, found = await beside(partial(answers, "/v1/messages"))
        assert (status, "server’s model" in found["error"]["message"]) == (503, True)
        services.preferences.update(model="")
        status, found = await beside(partial(answers, "/v1/messages"))
        assert (status, found.get("model")) == (200, "smollm2-135m"), found


@pytest.mark.skipif(sys.platform == "win32", reason="ends with a signal")
def test_the_file_that_serve_is_given_answers_and_is_listed(
    shallow: ModelRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "an outside folder"
    place.mkdir()
    _other(shallow.path, place / "swift heron.gguf")
    monkeypatch.chdir(tmp_path)
    with serving(tmp_path / "home", "--model", "an outside folder/swift heron.gguf") as (
        program,
        _,
    ):
        assert _listed(program, "/v1/models") == ["swift-heron", "smollm2-135m"]
        assert _answers(program, "/v1/chat/completions", "") == {"swift-heron"}


@pytest.mark.parametrize("how", ["option", "settings", "server"])
def test_serve_ends_with_a_sentence_where_its_model_cannot_answer(how: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    missing = str(tmp_path / "missing.gguf")
    key = server_key("abc", "gpt-5") if how == "server" else missing
    if how != "option":
        (home / "settings.json").write_text(json.dumps({"server": {"model": key}}))
    more = ["--model", missing] if how == "option" else []
    done = subprocess.run(
        [sys.executable, "-m", "headstart", "serve", "--home", str(home), *more],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert ("server’s model" if how == "server" else "missing.gguf is not there") in done.stderr
    assert "listening" not in done.stdout
    assert "Traceback" not in done.stderr


def test_the_demo_is_never_answered_by_another_model(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "headstart", "--demo", "--model", str(tmp_path / "missing.gguf")],
        capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert "missing.gguf is not there" in done.stderr
    assert "prime" not in done.stdout


async def test_a_chat_whose_model_is_gone_is_not_answered_by_the_starter(
    running: OpenApp, shallow: ModelRef, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    # another model in a file of the starter's name
    other = _other(shallow.path, folder / shallow.path.name)
    async with running() as app:
        _search(app, folder)
        models = app.services.models
        await app.services.installed.look()
        assert models.find(str(other)).path == other
        other.unlink()
        with pytest.raises(EnvironmentProblem):
            models.find(str(other))
        # an older place of the starter itself
        assert models.find(f"/an/older/{shallow.path.name}").path == shallow.path
