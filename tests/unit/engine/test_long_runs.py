"""Texts that overflow llama.cpp's recursive splitting, and contexts that it cannot hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, Settings, SettingsError, validated
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.backends.llama_cpp.vocabulary import LONGEST_RUN, short_runs
from headstart.storage.adapters.settings_file import SettingsFile
from tests.models.drafts import Field, read_gguf, write_gguf
from tests.models.tiny import make_tiny
from tests.support.sampled import sampled

LETTERS = 60_000


def test_only_runs_without_a_break_are_cut_and_nothing_is_lost() -> None:
    words = "a river runs to the sea " * 2000
    assert list(short_runs(words)) == [words]
    for text in ("x" * LETTERS, " " * LETTERS, f"{words}{'é' * 5000} end", "x" * LONGEST_RUN):
        pieces = list(short_runs(text))
        assert "".join(pieces) == text
        assert all(len(run) <= LONGEST_RUN for piece in pieces for run in piece.split())


def test_where_a_run_is_cut_does_not_depend_on_what_follows() -> None:
    short, long = list(short_runs("y" * 5000)), list(short_runs("y" * 9000 + " and more"))
    assert long[: len(short) - 1] == short[:-1]


_ENCODE = """
import sys, threading
from pathlib import Path
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.runner import _start

def work():
    decoder = LlamaCppDecoder(Path(sys.argv[1]), EngineSettings())
    for text in ("a" * 60000, "." * 60000, " " * 60000, "1" * 60000, "\\n" * 60000, "漢" * 60000):
        tokens = decoder.encode(text)
        assert b"".join(map(decoder.piece, tokens)).decode() == text
    print("done")

thread = _start(work)
thread.join()
"""


KINDS = ["deepseek-llm", "tekken", "gpt-4o", "llama-bpe", "qwen2"]


@pytest.mark.parametrize("kind", sampled(KINDS, "tekken", "qwen2"))
def test_long_runs_do_not_end_the_process(starter: ModelRef, tmp_path: Path, kind: str) -> None:
    """Vocabularies whose splitting is std::regex, one call for each character."""
    plain = make_tiny("llama", starter.path, tmp_path / "plain.gguf")
    found = read_gguf(plain)
    old = found.fields["tokenizer.ggml.pre"]
    fields = {**found.fields, "tokenizer.ggml.pre": Field(kind, old.kind)}
    model = write_gguf(tmp_path / "model.gguf", "llama", fields, found.tensors)
    done = subprocess.run(
        [sys.executable, "-c", _ENCODE, str(model)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "done", done.stderr[-500:]


@pytest.mark.parametrize("length", sampled([1, 2, 10, 50, 63, 300], 1, 63))
def test_small_contexts_are_rounded_up_and_take_what_they_promise(
    starter: ModelRef, length: int
) -> None:
    decoder = LlamaCppDecoder(starter.path, EngineSettings(context_length=length))
    assert decoder.facts.context_length % 256 == 0
    assert decoder.facts.batch <= decoder.facts.context_length
    decoder.forward([5] * decoder.facts.batch, range(decoder.facts.batch))
    decoder.close()


def test_a_context_is_automatic_or_holds_a_conversation(tmp_path: Path) -> None:
    for length in (1, 63, 511):
        with pytest.raises(SettingsError, match="at least 512"):
            validated(EngineSettings, EngineSettings(context_length=length))
    for length in (0, 512, 4096):
        assert validated(EngineSettings, {"context_length": length}).context_length == length
    path = tmp_path / "settings.json"
    path.write_text('{"engine": {"context_length": 10, "threads": 3}, "theme": "dark"}')
    settings, notice = SettingsFile(path).load()
    assert settings == Settings(theme="dark", engine=EngineSettings(threads=3))
    assert notice is not None
    assert "engine.context_length" in notice.text
