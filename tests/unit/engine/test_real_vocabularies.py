"""Prompts for real vocabularies with real templates: markup is tokens, and a user's never is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.prompt import PromptEncoder
from headstart.engine.template import choose
from tests.models.around import make_around
from tests.models.llama_source import templates
from tests.support.foreign_places import PLACES, control_tokens

PAIRS = {
    "gemma-4": "google-gemma-4-31B-it",
    "command-r": "CohereForAI-c4ai-command-r-plus-tool_use",
    "llama-bpe": "meta-llama-Llama-3.1-8B-Instruct",
    "qwen35": "Qwen3.5-4B",
    "phi-3": "microsoft-Phi-3.5-mini-instruct",
}


@pytest.fixture(scope="module", params=PAIRS)
def encoder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PromptEncoder]:
    path = tmp_path_factory.mktemp("vocabulary") / f"{request.param}.gguf"
    made = _encoder(make_around(request.param, path, templates()[PAIRS[request.param]]))
    yield made
    made.decoder.close()


def _encoder(path: Path) -> PromptEncoder:
    decoder = LlamaCppDecoder(path, EngineSettings(context_length=4096))
    facts = decoder.facts
    chosen = choose(facts.chat_template, facts.begin_text, facts.end_text, frozenset())
    assert chosen.fallback is None
    return PromptEncoder(decoder, chosen)


def _ask(encoder: PromptEncoder, text: str) -> list[int]:
    return encoder.encode(encoder.render([PromptMessage(Role.USER, text)]))


def test_control_tokens_in_a_question_are_words(encoder: PromptEncoder) -> None:
    """Every token that the template uses, pasted: the prompt has no more of them than without."""
    plain = _ask(encoder, "Hello.")
    hostile = _ask(encoder, f"Hello. {' '.join(encoder.control.values())} So.")
    counted = [
        [token for token in tokens if token in encoder.control] for tokens in (plain, hostile)
    ]
    assert counted[0] == counted[1]
    text = b"".join(encoder.decoder.piece(token) for token in hostile).decode()
    for word in encoder.control.values():
        assert word in text


def test_control_tokens_of_a_stranger_are_words_in_every_place(encoder: PromptEncoder) -> None:
    """Each that the template uses, and some of the others."""
    rest = sorted(set(encoder.control.values()) - encoder.form.marks.keys())
    words = [*encoder.form.marks, *rest[:: max(1, len(rest) // 40)]]
    for place, make in PLACES.items():
        asked = make(f"zq{' '.join(words)}")
        found = control_tokens(encoder, asked)
        assert found == control_tokens(encoder, make("zq")), place


def test_what_the_template_writes_is_tokens(encoder: PromptEncoder) -> None:
    tokens = _ask(encoder, "Hello.")
    text = b"".join(
        encoder.decoder.piece(token) for token in tokens if token not in encoder.control
    )
    for word in encoder.control.values():
        assert word.encode() not in text


def test_declared_words_that_a_template_uses_are_control_tokens(tmp_path: Path) -> None:
    """llama.cpp lets them come out as text, and finds them in what users paste."""
    encoder = _encoder(
        make_around("gemma-4", tmp_path / "gemma.gguf", templates()["google-gemma-4-31B-it"])
    )
    marks = {text: token for token, text in encoder.marks.items()}
    # of thoughts, and of calls
    assert set(marks) == {"<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", '<|"|>'}
    opening = marks["<|channel>"]
    assert encoder.decoder.piece(opening) == b"<|channel>"
    assert opening in encoder.decoder.encode("a <|channel> b")
    # the template writes one itself
    plain, pasted = (_ask(encoder, text).count(opening) for text in ("a b", "a <|channel> b"))
    assert plain == pasted == 1

    stream = TextStream(form=encoder.form, tokens=frozenset(encoder.marks.values()))
    reply = [opening, *encoder.decoder.encode("thought\nHm."), marks["<channel|>"]]
    reply += encoder.decoder.encode("Yes.")
    for token in reply:
        stream.push(encoder.decoder.piece(token), mark=encoder.marks.get(token))
    stream.finish()
    assert (stream.reasoning, stream.text) == ("Hm.", "Yes.")
    encoder.decoder.close()


def test_a_reply_with_marks_is_remembered_between_them(tmp_path: Path) -> None:
    encoder = _encoder(
        make_around("gemma-4", tmp_path / "gemma.gguf", templates()["google-gemma-4-31B-it"])
    )
    marks = {text: token for token, text in encoder.marks.items()}
    encode = encoder.decoder.encode
    rendered = encoder.render([PromptMessage(Role.USER, "Hi")])
    odd = [token for letter in "Hello there" for token in encode(letter)]
    reply = [marks["<|channel>"], *encode("thought\nHm."), marks["<channel|>"], *odd]
    (text, known), (_, whole) = encoder.remember_reply(rendered, reply)
    assert (text, list(known)) == ("Hello there", odd)
    assert whole[0] == marks["<|channel>"]
    encoder.decoder.close()
