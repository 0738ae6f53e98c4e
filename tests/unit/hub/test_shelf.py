"""What lies on this computer is found wherever it is, known by its content, and used in place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from headstart.core.errors import ModelProblem
from headstart.core.models.installed import InstalledModel
from headstart.hub import removal
from headstart.hub.content import content_of
from headstart.hub.shelf import Shelf
from headstart.hub.sources import ModelFolder, ModelSource, default_places, walk
from tests.support.gguf_files import make_gguf

LONG_AGO = 1_000_000_000


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def in_cache(cache: Path, repo: str, commit: str, path: str, data: bytes, etag: str) -> Path:
    folder = cache / f"models--{repo.replace('/', '--')}"
    blob = write(folder / "blobs" / etag, data)
    link = folder / "snapshots" / commit / path
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(blob, link.parent))
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs/main").write_text(commit)
    return link


def shelf_of(tmp_path: Path, *places: ModelFolder) -> Shelf:
    return Shelf(tmp_path / "known.json", lambda: places)


def models(shelf: Shelf, *opened: str) -> list[InstalledModel]:
    """Without the starter model, which is always there."""
    return [model for model in shelf.look(opened) if model.source != ModelSource.STARTER]


def test_the_starter_model_is_there_without_any_place(tmp_path: Path) -> None:
    (starter,) = shelf_of(tmp_path).look()
    assert (starter.source, starter.about.architecture) == ("starter", "llama")
    assert starter.about.parameters == "135M"


def test_models_of_other_programs_are_found_where_these_keep_them(tmp_path: Path) -> None:
    one, two, three, four = (make_gguf(seed=number) for number in range(4))
    cache = tmp_path / "hf"
    in_cache(cache, "maker/Model-GGUF", "c1", "Model-Q4_K_M.gguf", one, "e1")
    write(tmp_path / "lms/maker/Other-GGUF/Other-Q8_0.gguf", two)
    write(tmp_path / "gpt4all/Third.gguf", three)
    ollama = tmp_path / "ollama"
    write(ollama / "blobs/sha256-abc", four)
    layers = [
        {"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:def"},
        {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:abc"},
    ]
    manifest = ollama / "manifests/registry.ollama.ai/library/tiny/3b"
    write(manifest, json.dumps({"layers": layers}).encode())
    found = models(
        shelf_of(
            tmp_path,
            ModelFolder(ModelSource.HUGGING_FACE, cache),
            ModelFolder(ModelSource.LM_STUDIO, tmp_path / "lms"),
            ModelFolder(ModelSource.GPT4ALL, tmp_path / "gpt4all"),
            ModelFolder(ModelSource.OLLAMA, ollama),
        )
    )
    assert [(model.source, model.ref.name) for model in found] == [
        ("hugging-face", "Model"),
        ("lm-studio", "Other"),
        ("gpt4all", "Third"),
        ("ollama", "Tiny 3B"),
    ]
    assert found[1].about.quantization == "Q8_0"


def test_a_folder_of_the_cache_is_called_by_its_repository(tmp_path: Path) -> None:
    cache = tmp_path / "hf"
    in_cache(cache, "maker/Fine-4bit", "c1", "config.json", b'{"model_type": "llama"}', "e1")
    in_cache(cache, "maker/Fine-4bit", "c1", "model.safetensors", b"x" * 500, "e2")
    (found,) = walk(ModelFolder(ModelSource.HUGGING_FACE, cache))
    assert (found.name, found.format) == ("Fine-4bit", "mlx")
    (model,) = models(shelf_of(tmp_path, ModelFolder(ModelSource.HUGGING_FACE, cache)))
    assert model.ref.name == "Fine"
    assert model.ref.size == 500


def test_the_same_bytes_of_two_commits_are_one_model(tmp_path: Path) -> None:
    cache, data = tmp_path / "hf", make_gguf()
    in_cache(cache, "a/b", "c1", "m-Q4_K_M.gguf", data, "e1")
    in_cache(cache, "a/b", "c2", "m-Q4_K_M.gguf", data, "e1")
    (model,) = models(shelf_of(tmp_path, ModelFolder(ModelSource.HUGGING_FACE, cache)))
    assert "c2" in model.ref.key
    assert model.copies == ()


def test_the_same_bytes_at_two_places_are_one_model_with_a_copy(tmp_path: Path) -> None:
    folder, data = tmp_path / "mine", make_gguf()
    write(folder / "a.gguf", data)
    second = write(folder / "b.gguf", data)
    write(folder / "c.gguf", make_gguf(seed=5))
    first, other = models(shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder)))
    assert first.copies == (str(second),)
    assert other.copies == ()


def test_what_is_not_whole_or_not_a_model_is_no_model(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write(folder / "a.gguf.part", make_gguf())
    write(folder / ".hidden.gguf", make_gguf())
    write(folder / "m-00002-of-00002.gguf", make_gguf())
    write(folder / "page.gguf", b"<html>not found</html>")
    write(folder / "head.gguf", make_gguf({"general.type": "mmproj"}))
    found = models(shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder)))
    why = {model.ref.name: model.why_not.code for model in found if model.why_not is not None}
    assert why == {"head": "no-chat-model", "page": "file-is-page"}
    texts = [model.why_not.text for model in found if model.why_not is not None]
    assert any("web page" in text for text in texts)
    assert len(found) == 2


def test_a_model_that_moved_keeps_what_is_known_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    before = write(folder / "old.gguf", make_gguf())
    shelf = shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder))
    (model,) = models(shelf)
    shelf.rename(model.content, "My own")
    shelf.set_notes(model.content, "good at rhymes")
    now = folder / "deep/new name.gguf"
    now.parent.mkdir()
    before.rename(now)
    # another start of the program
    shelf = shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder))
    (moved,) = models(shelf)
    assert (moved.ref.path, moved.ref.name, moved.notes) == (now, "My own", "good at rhymes")
    assert moved.ref.signature == model.ref.signature
    assert [(move.before, move.now) for move in shelf.moved()] == [(str(before), str(now))]
    assert shelf.moved() == []
    # what still names the old place finds it
    assert shelf.find(str(before)).path == now


def test_a_name_that_was_used_again_is_another_model(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    first = write(folder / "q.gguf", make_gguf(seed=1))
    shelf = shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder))
    models(shelf)
    first.rename(folder / "p.gguf")
    models(shelf)
    shelf.moved()
    write(first, make_gguf({"general.name": "Quite another"}, seed=2))
    models(shelf)
    (folder / "p.gguf").unlink()
    models(shelf)
    assert shelf.moved() == []
    with pytest.raises(ModelProblem):
        shelf.find(str(folder / "p.gguf"))


def test_links_that_lead_back_or_nowhere_hide_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write(folder / "a.gguf", make_gguf(seed=1))
    write(folder / "z/c.gguf", make_gguf(seed=2))
    (folder / "b-loop").symlink_to(folder / "b-loop")
    (folder / "back").symlink_to(folder)
    (folder / "gone").symlink_to(folder / "nowhere")
    found = models(shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder)))
    assert [model.ref.name for model in found] == ["a", "c"]
    assert all(model.copies == () for model in found)


def test_a_model_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    path = write(folder / "a.gguf", make_gguf())
    shelf = shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder))
    assert len(models(shelf)) == 1
    path.unlink()
    assert models(shelf) == []
    with pytest.raises(ModelProblem) as problem:
        shelf.find(str(path))
    assert problem.value.told.code == "model-missing"


def test_a_look_reads_only_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mine"
    write(folder / "a.gguf", make_gguf(seed=1))
    write(folder / "b.gguf", make_gguf(seed=2))
    shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder)).look()
    read: list[str] = []

    def noted(path: Path, beginning: bytes = b"") -> str:
        read.append(path.name)
        return content_of(path, beginning)

    monkeypatch.setattr("headstart.hub.shelf.content_of", noted)
    write(folder / "b.gguf", make_gguf({"general.name": "Another one"}, seed=3))
    shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder)).look()
    assert read == ["b.gguf"]


@pytest.mark.logs("the list of models cannot be read")
def test_a_list_that_is_damaged_costs_names_only(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write(folder / "a.gguf", make_gguf())
    (tmp_path / "known.json").write_text('{"seen": 3}')
    assert len(models(shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder)))) == 1
    # what it was is kept for who can read it
    assert (tmp_path / "known.json.damaged").read_text() == '{"seen": 3}'


def test_folders_of_other_programs_follow_the_environment(tmp_path: Path) -> None:
    places = default_places(tmp_path / "hf", {"OLLAMA_MODELS": str(tmp_path / "o")})
    assert ModelFolder(ModelSource.OLLAMA, tmp_path / "o") in places
    assert ModelFolder(ModelSource.HUGGING_FACE, tmp_path / "hf") in places


# --- removing ----------------------------------------------------------------------------


def test_removing_takes_blobs_with_their_last_pointer_and_leaves_the_rest(tmp_path: Path) -> None:
    cache = tmp_path / "hf"
    data, other = make_gguf(seed=1), make_gguf(seed=2)
    in_cache(cache, "a/b", "c1", "m-Q4_K_M.gguf", data, "e1")
    in_cache(cache, "a/b", "c2", "m-Q4_K_M.gguf", data, "e1")
    kept = in_cache(cache, "a/b", "c2", "m-Q8_0.gguf", other, "e2")
    shelf = shelf_of(tmp_path, ModelFolder(ModelSource.HUGGING_FACE, cache))
    model = next(model for model in models(shelf) if "Q4" in model.ref.name)
    plan = removal.plan(model)
    assert plan.size == len(data)
    removal.remove(plan)
    assert kept.read_bytes() == other
    assert not (cache / "models--a--b/blobs/e1").exists()
    assert not (cache / "models--a--b/snapshots/c1").exists()
    (left,) = models(shelf)
    removal.remove(removal.plan(left))
    assert not (cache / "models--a--b").exists()


def test_all_parts_of_a_model_go(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    for number in (1, 2):
        write(folder / f"m-0000{number}-of-00002.gguf", make_gguf(seed=number))
    write(folder / "other.gguf", make_gguf(seed=9))
    shelf = shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder))
    model = next(model for model in models(shelf) if model.ref.name == "m")
    removal.remove(removal.plan(model))
    assert [path.name for path in folder.iterdir()] == ["other.gguf"]


def test_removing_a_folder_takes_what_makes_it_a_model_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write(folder / "config.json", b'{"model_type": "llama"}')
    write(folder / "model.safetensors", b"x" * 500)
    others = [
        write(folder / "thesis.docx", b"years"),
        write(folder / "m-Q4_K_M.gguf", make_gguf()),
        write(folder / "deep/big.gguf", make_gguf(seed=2)),
        write(folder / "tokenizer.py", b"class Tokenizer: ..."),
        write(folder / "chat_template_experiments.ipynb", b"{}"),
        write(folder / "my_thesis.index.json", b"{}"),
        write(folder / "my_lora.safetensors", b"trained"),
        write(folder / "planes.model", b"3d"),
    ]
    shelf = shelf_of(tmp_path, ModelFolder(ModelSource.FOLDER, folder))
    model = next(model for model in models(shelf) if model.ref.format == "mlx")
    removal.remove(removal.plan(model))
    assert all(path.exists() for path in others)
    assert not (folder / "model.safetensors").exists()
    assert len(models(shelf)) == 2


def test_bytes_that_another_model_points_to_stay(tmp_path: Path) -> None:
    cache = tmp_path / "hf"
    for folder, etag in (("4bit", "e4"), ("8bit", "e8")):
        config = f'{{"model_type": "llama", "x": "{folder}"}}'.encode()
        in_cache(cache, "a/b", "c1", f"{folder}/config.json", config, f"c{etag}")
        in_cache(cache, "a/b", "c1", f"{folder}/model.safetensors", etag.encode() * 300, etag)
        link = cache / "models--a--b/snapshots/c1" / folder / "tokenizer.json"
        write(cache / "models--a--b/blobs/tok", b"{}")
        link.symlink_to(os.path.relpath(cache / "models--a--b/blobs/tok", link.parent))
    shelf = shelf_of(tmp_path, ModelFolder(ModelSource.HUGGING_FACE, cache))
    model = next(model for model in models(shelf) if model.ref.name == "4bit")
    removal.remove(removal.plan(model))
    kept = cache / "models--a--b/snapshots/c1/8bit"
    assert (kept / "tokenizer.json").read_bytes() == b"{}"
    assert (kept / "model.safetensors").stat().st_size == 600
    assert not (cache / "models--a--b/blobs/e4").exists()


def test_without_links_the_bytes_go_with_their_last_name(tmp_path: Path) -> None:
    cache, data = tmp_path / "hf", make_gguf()
    link = in_cache(cache, "a/b", "c1", "m-Q4_K_M.gguf", data, "e1")
    link.unlink()
    os.link(cache / "models--a--b/blobs/e1", link)
    shelf = shelf_of(tmp_path, ModelFolder(ModelSource.HUGGING_FACE, cache))
    plan = removal.plan(models(shelf)[0])
    assert plan.size == len(data)
    removal.remove(plan)
    assert not (cache / "models--a--b").exists()


@pytest.mark.parametrize("source", [ModelSource.STARTER, ModelSource.OLLAMA])
def test_what_is_not_ours_to_remove_stays(tmp_path: Path, source: ModelSource) -> None:
    (starter,) = shelf_of(tmp_path).look()
    from msgspec.structs import replace

    with pytest.raises(ModelProblem):
        removal.plan(replace(starter, source=source))
