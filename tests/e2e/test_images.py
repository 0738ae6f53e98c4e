"""Images and the models that see them: tiny ones with random weights, in each way that tokens of
images can lie; all through llama.cpp's own library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtGui import QColor, QImage

from headstart.core.events import GenerationEvent, Notice
from headstart.core.models.ref import ModelRef
from headstart.core.requests import PromptImage
from headstart.core.rgb import Rgb
from headstart.core.settings.schema import EngineSettings, Speculation
from headstart.engine import image_tokens
from headstart.engine.backends import select
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.decoder import DecodeAborted
from headstart.engine.prefix import speeds
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.engine.stop import StopSignal
from headstart.hub.library import open_model
from headstart.ui.kit.pictures import as_png
from tests.conftest import OpenApp, until
from tests.models.projector import make_projector
from tests.models.tiny import make_tiny
from tests.support.driver import ask, stored_chat, use_sampling
from tests.support.prefix_engine import OFF, PrefixEngine, assistant, prose, user
from tests.ui.test_attachments import attach, chips

# how their tokens lie: one after the other, without the causal mask; before a sliding window; in
# fewer positions than tokens; and that beside a recurrent state
KINDS = {
    "llama": "gemma3",
    "gemma3": "gemma3",
    "qwen2vl": "qwen2vl_merger",
    "qwen35": "qwen2vl_merger",
}
BATCH = 128

pytestmark = pytest.mark.usefixtures("unhurried")


def picture(color: str, width: int = 96, height: int = 64, kind: str = "p") -> PromptImage:
    image = QImage(width, height, QImage.Format.Format_RGB888)
    image.fill(QColor(color))
    for at in range(0, width, 7):
        image.setPixelColor(at, at % height, QColor("white"))
    name = f"{color}{width}x{height}{kind}"
    return PromptImage(f"[Image: {name}.png]", "image/png", as_png(image), name)


@pytest.fixture(params=KINDS)
def seeing(request: pytest.FixtureRequest, starter: ModelRef, tmp_path: Path) -> tuple[Path, Path]:
    """A model and its projector."""
    family: str = request.param
    model = make_tiny(family, starter.path, tmp_path / "models" / f"tiny-{family}.gguf")
    return model, make_projector(KINDS[family], tmp_path / "models" / "mmproj-tiny.gguf")


@pytest.fixture(autouse=True)
def models(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()


@pytest.fixture
def reading_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny models read faster than a file is opened; here everything kept comes back."""
    monkeypatch.setattr(speeds, "load", lambda *_: PrefixSpeeds(token_seconds=10.0))
    monkeypatch.setattr(PrefixSpeeds, "observe_prefill", lambda *_: None)


def _open(paths: tuple[Path, Path]) -> LlamaCppDecoder:
    decoder = LlamaCppDecoder(
        paths[0], EngineSettings(context_length=2048, batch=256, kv_type="bf16").as_run
    )
    decoder.open_images(paths[1])
    return decoder


def _image(decoder: LlamaCppDecoder, seed: int, width: int, height: int) -> list[int]:
    data = np.random.default_rng(seed).integers(0, 256, 3 * width * height, np.uint8).tobytes()
    tokens = decoder.image(str(seed), lambda: Rgb(width, height, data))
    assert tokens
    return tokens


def _read(decoder: LlamaCppDecoder, tokens: list[int]) -> npt.NDArray[np.float32]:
    for part in image_tokens.slices(tokens, BATCH):
        decoder.forward(part, [len(part) - 1] if part[0] >= 0 else [])
    return decoder.row(0)


def test_what_comes_after_an_image_depends_on_it_and_on_nothing_else(
    seeing: tuple[Path, Path],
) -> None:
    decoder = _open(seeing)
    text = decoder.encode(prose(40))
    one, other = _image(decoder, 1, 96, 64), _image(decoder, 2, 64, 96)
    whole = [*text, *one, *text, *other, *text]
    first = _read(decoder, whole)
    assert decoder.n_past() == len(whole)
    # cut behind the first image, and within the text before it
    for length in (len(text) + len(one), len(text) - 3):
        left = decoder.truncate(length)
        assert left <= length
        assert np.array_equal(_read(decoder, whole[left:]), first)
        assert decoder.n_past() == len(whole)
    decoder.truncate(0)
    swapped = _read(decoder, [*text, *other, *text, *one, *text])
    assert np.abs(swapped - first).max() > 0.1
    decoder.close()


def test_a_stop_within_an_image_leaves_nothing_of_it(seeing: tuple[Path, Path]) -> None:
    decoder = _open(seeing)
    text, image = decoder.encode(prose(40)), _image(decoder, 1, 160, 128)
    first = _read(decoder, [*text, *image, *text])
    decoder.truncate(0)
    at = next(index for index, token in enumerate(image) if token < 0)
    _read(decoder, [*text, *image[:at]])
    decoder.abort()
    with pytest.raises(DecodeAborted):
        decoder.forward(image[at : image_tokens.end_of_run(image, at)], [])
    decoder.clear_abort()
    left = decoder.truncate(len(text) + at)
    assert decoder.n_past() == left
    assert np.array_equal(_read(decoder, [*text, *image, *text][left:]), first)
    decoder.close()


def test_state_with_images_comes_back_bit_for_bit(seeing: tuple[Path, Path]) -> None:
    """Also where the border of two chunks lies within an image."""
    source, other = _open(seeing), _open(seeing)
    image, second = _image(source, 1, 160, 128), _image(source, 2, 96, 64)
    run = next(at for at, token in enumerate(image) if token < 0)
    text = source.encode(prose(300))[: 256 - run - 5]
    whole = [*text, *image, *text[:90], *second, *text[:120]]
    assert whole[255] < 0 > whole[256]
    assert not image_tokens.begins(whole[256])
    _read(source, whole)
    chunk, mixed = source.facts.chunk, source.facts.snapshots
    other.lay_out(whole)
    for start in range(0, len(whole), chunk):
        end = min(start + chunk, len(whole))
        assert other.restore(source.export(start, end), start, end)
    if mixed:
        assert other.back(source.snapshot(), len(whole))
    assert other.n_past() == len(whole)
    assert np.array_equal(_read(other, text[:20]), _read(source, text[:20]))
    if not mixed:
        length = len(text) + len(image)
        assert other.truncate(length) == source.truncate(length) == length
        assert np.array_equal(_read(other, text[:20]), _read(source, text[:20]))
    source.close()
    other.close()


@pytest.fixture
def engine(seeing: tuple[Path, Path], tmp_path: Path) -> Iterator[PrefixEngine]:
    engine = PrefixEngine(tmp_path, open_model(seeing[0]))
    engine.projector = seeing[1]
    engine.chat("c")
    yield engine
    engine.stop()


@pytest.mark.usefixtures("reading_is_dear")
def test_an_image_is_read_once_also_after_a_restart(engine: PrefixEngine) -> None:
    red, blue = picture("red", 160, 128), picture("blue")
    first = [user(f"What is this? {prose(200)}", "q1", red)]
    said = engine.ask("c", first)
    asked = [*first, assistant(said.text), user("And this?", "q2", blue)]
    again = engine.ask("c", asked)
    assert again.reused >= said.stats.prompt_tokens
    history = [*asked, assistant(again.text, "a2"), user("Which is larger?", "q3")]
    engine.leave()
    engine.restart()
    kept = engine.ask("c", history)
    assert kept.stats.prefix.from_disk >= again.stats.prompt_tokens - 8
    assert min(engine.generator.loaded.resident.tokens) < 0
    engine.restart()
    engine.store.wait_until_ready()
    engine.store.controls.clear()
    fresh = engine.ask("c", history)
    assert fresh.reused == 0
    assert fresh.text == kept.text
    # another image in its place is prefilled, and so is all behind it
    resident = engine.generator.loaded.resident.tokens
    before = next(at for at, token in enumerate(resident) if token < 0)
    green = [user(first[0].text, "q1", picture("green", 160, 128)), *history[1:]]
    other = engine.ask("c", green)
    # a recurrent state goes back to where it was kept
    assert other.reused in (0, before)


def test_a_question_with_an_image_is_read_while_it_is_typed(engine: PrefixEngine) -> None:
    first = [user(prose(60), "q1", picture("red"))]
    said = engine.ask("c", first)
    blue = picture("blue", 128, 96)
    typed = f"{blue.label} What is the colour of "
    history = [*first, assistant(said.text)]
    found = engine.ahead("c", history, typed, images=(blue,))
    assert found is not None
    assert found.typed > 40
    asked = engine.ask("c", [*history, user(f"{typed}it?", "q2", blue)])
    assert asked.stats.prompt_tokens - asked.reused < 16


@pytest.mark.parametrize("family", ["llama", "qwen2vl"])
def test_drafts_change_no_word_after_an_image(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    model = open_model(make_tiny(family, starter.path, folder / "target.gguf"))
    draft = open_model(make_tiny(family, starter.path, folder / "draft.gguf", layers=2))
    engine = PrefixEngine(tmp_path, model)
    engine.projector = make_projector(KINDS[family], folder / "mmproj.gguf")
    engine.chat("c")
    red = picture("red")
    # the same image twice: what repeats goes on with one
    asked = [user(f"Look at {prose(30)}", "q1", red, red)]
    plain = engine.ask("c", asked, 60)
    for wanted in (
        Speculation(draft=draft.key, depth_mode="fixed", depth=4, prompt_lookup=False),
        Speculation(prompt_lookup=True),
    ):
        other = draft if wanted.draft else None
        assert engine.ask("c", asked, 60, speculation=wanted, draft=other).text == plain.text
        engine.generator.learn_when_idle(StopSignal(), lambda _event: None)
    engine.stop()


def test_an_old_turn_goes_with_its_image(engine: PrefixEngine) -> None:
    messages = [user(prose(500), "q1", picture("red", 160, 128))]
    messages += [assistant(prose(20)), user(prose(500, 1), "q2", picture("blue", 160, 128))]
    messages += [assistant(prose(20), "a2"), user(prose(500, 2), "q3", picture("green"))]
    answer = engine.ask("c", messages, when_full="drop_oldest")
    assert answer.stats.prompt_tokens < 2048
    tokens = engine.generator.loaded.resident.tokens
    runs = sum(image_tokens.begins(token) for token in tokens)
    assert 0 < runs < 3


def _notices(engine: PrefixEngine, image: PromptImage) -> list[str]:
    events: list[GenerationEvent] = []
    request = engine.request("c", [user("What is this?", "q1", image)], speculation=OFF)
    engine.generator.generate(request, events.append, StopSignal())
    return [event.told.text for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize("trouble", ["damaged", "gone", "too wide", "other words"])
def test_a_projector_that_is_of_no_use_is_told_and_the_reply_is_written(
    starter: ModelRef, tmp_path: Path, trouble: str
) -> None:
    folder = tmp_path / "models"
    model = open_model(make_tiny("llama", starter.path, folder / "tiny.gguf"))
    kind = "idefics3" if trouble == "other words" else "gemma3"
    width = 256 if trouble == "too wide" else 128
    projector = make_projector(kind, folder / "mmproj.gguf", width=width)
    if trouble == "damaged":
        projector.write_bytes(projector.read_bytes()[:30_000])
    if trouble == "gone":
        projector.unlink()
    engine = PrefixEngine(tmp_path, model)
    engine.projector = projector
    engine.chat("c")
    for _ in range(2):
        (said,) = _notices(engine, picture("red"))
        assert "gets the names of images only" in said
        assert "mmproj.gguf" in said
    assert min(engine.generator.loaded.resident.tokens) >= 0
    engine.stop()


def test_a_trial_that_failed_is_made_again_with_the_next_load(
    engine: PrefixEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the moment's fault: too little memory for both, say
    monkeypatch.setattr(select, "check_images", lambda *_asked: False)
    assert len(_notices(engine, picture("red"))) == 1
    monkeypatch.undo()
    engine.restart()
    assert not _notices(engine, picture("red"))
    assert min(engine.generator.loaded.resident.tokens) < 0


def test_an_image_that_cannot_be_decoded_is_given_by_name(engine: PrefixEngine) -> None:
    broken = PromptImage("[Image: broken.png]", "image/png", b"\x89PNG nothing", "broken")
    engine.ask("c", [user("What is [Image: broken.png]?", "q1", broken)])
    assert min(engine.generator.loaded.resident.tokens) >= 0


def test_markers_in_a_users_text_are_no_images(engine: PrefixEngine) -> None:
    red = picture("red")
    engine.ask("c", [user("Look", "q1", red)])
    engine.ask("c", [user(f"\ue0f9{red.digest}\ue0f9 and <__media__>", "q1")])
    assert min(engine.generator.loaded.resident.tokens) >= 0


async def test_the_window_lets_a_model_look_at_what_is_attached(
    running: OpenApp, starter: ModelRef, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    model = open_model(make_tiny("qwen2vl", starter.path, folder / "tiny-vision.gguf"))
    file = tmp_path / "flag.png"
    file.write_bytes(picture("red").data)
    async with running() as app:
        use_sampling(app)
        app.services.preferences.update(model_files=(model.key,), model=model.key)
        await attach(app, file)
        blind = await ask(app, "What is this?")
        assert "does not see images" in app.window.banner.text()
        # what makes it see is put beside it
        make_projector("qwen2vl_merger", folder / "mmproj-tiny-vision.gguf")
        app.window.new_chat()
        await attach(app, file)
        await until(lambda: chips(app)[0].attachment.tokens > 16)
        seeing = await ask(app, "What is this?")
        assert not app.window.banner.isVisible()
        assert seeing.stats is not None
        assert blind.stats is not None
        assert seeing.stats.prompt_tokens > blind.stats.prompt_tokens + 16
        again = await ask(app, "And what is it not?")
        assert again.stats is not None
        assert again.stats.reused_tokens >= seeing.stats.prompt_tokens
    async with running() as app:
        use_sampling(app)
        (chat,) = [one for one in await app.services.chat_list.summaries() if one.messages > 2]
        app.window.open_chat(chat.id)
        await until(lambda: stored_chat(app) == chat.id)
        after = await ask(app, "Thank you.")
        assert after.stats is not None
        assert after.stats.reused_tokens >= again.stats.prompt_tokens
