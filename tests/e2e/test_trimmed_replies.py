"""A template that trims replies, as Gemma's: the reply before is not processed again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import keyring
import pytest

from headstart.assembly import App
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import SamplingChoice
from tests.conftest import OpenApp, until
from tests.models.tiny import make_tiny
from tests.support.driver import ask, use_sampling
from tests.support.keyrings import MemoryKeyring
from tests.support.prefix_engine import prose
from tests.support.program import Plain, beside, opened

TRIMS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# of a reply; the marks and words of a question are fewer than NEW
WRITTEN, NEW = 60, 30


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def trimming(starter: ModelRef, tmp_path: Path) -> Path:
    return make_tiny("gemma3", starter.path, tmp_path / "trims.gguf", template=TRIMS)


async def _choose(app: App, model: Path) -> None:
    app.controllers.models.open_file(str(model))
    await app.controllers.settle()


def _spaced(text: str) -> bool:
    """True if a template would trim the beginning."""
    return text != text.lstrip() and bool(text.strip())


@pytest.mark.parametrize("send", [str, str.strip])
async def test_a_program_pays_for_new_words_only_also_after_a_restart(
    running: OpenApp, trimming: Path, send: Any
) -> None:
    talk: list[Any] = [{"role": "user", "content": "Tell me of rivers."}]

    def body(seed: int) -> Any:
        return {"messages": talk, "max_tokens": WRITTEN, "temperature": 1.0, "seed": seed}

    async with running() as app:
        await _choose(app, trimming)
        program = Plain(*await opened(app))
        for seed in range(40):
            asked = partial(program.post, "/v1/chat/completions", body(seed))
            status, found = await beside(asked)
            assert status == 200
            said = found["choices"][0]["message"]["content"]
            if _spaced(said) and found["usage"]["completion_tokens"] == WRITTEN:
                break
        assert _spaced(said)
        talk += [
            {"role": "assistant", "content": send(said)},
            {"role": "user", "content": "And now?"},
        ]
        asked = partial(program.post, "/v1/chat/completions", body(1))
        usage = (await beside(asked))[1]["usage"]
        assert usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"] < NEW
        # so long a question that the state with the reply is kept on disk
        talk[-1] = {"role": "user", "content": prose(400)}
        _, found = await beside(partial(program.post, "/v1/chat/completions", body(1)))
        said = found["choices"][0]["message"]["content"]
        talk += [
            {"role": "assistant", "content": send(said)},
            {"role": "user", "content": "And then?"},
        ]
        await until(lambda: not app.services.serving.log.under_way)
    async with running() as app:
        program = Plain(*await opened(app))
        status, found = await beside(partial(program.post, "/v1/chat/completions", body(2)))
        assert status == 200
        (line,) = app.services.serving.log.lines
        assert line.from_disk >= 256


async def test_a_chat_of_the_window_pays_for_new_words_only(
    running: OpenApp, trimming: Path
) -> None:
    async with running() as app:
        await _choose(app, trimming)
        for seed in range(40):
            app.window.new_chat()
            use_sampling(app, SamplingChoice(temperature=1.0, max_tokens=WRITTEN, seed=seed))
            reply = await ask(app, "Tell me of rivers.")
            if _spaced(reply.text):
                break
        assert _spaced(reply.text)
        assert reply.stats is not None
        answer = await ask(app, "And now?")
        assert answer.stats is not None
        before = reply.stats.prompt_tokens + reply.stats.generated_tokens
        assert answer.stats.prompt_tokens - answer.stats.reused_tokens < NEW
        assert answer.stats.prompt_tokens > before
