"""Replies with white space around them come back trimmed, and cost no token again: over all
templates, however programs send them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.core.settings.schema import Thinking
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.prompt import PromptEncoder, common_prefix
from headstart.engine.template import PLAIN, PLAIN_STOP
from tests.models.llama_source import templates
from tests.support.byte_decoder import byte_encoder, reply_tokens
from tests.support.reply_samples import SAMPLES, ReplySample

ASKED = (
    PromptMessage(Role.SYSTEM, "Be brief.", "s"),
    PromptMessage(Role.USER, "Hi", "q"),
)
REPLIES = (
    " Sure.", "Sure.\n", "\n\n Sure, 1.\n  x\n\n", "```py\nx = 1\n```\n", " 🙂 yes 🙂 ", "\tA\t",
    "\u00a0Sure.\u3000\n", "a < b [\n", " <|im_end|> ", "\r\nSure.\r\n",
)  # fmt: skip
# templates that write something else around a reply that is over than before one that begins
OTHERS = {
    "Apriel-1.6-15b-Thinker-fixed", "CohereForAI-c4ai-command-r-plus-tool_use",
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use", "GLM-4.6", "GLM-4.7-Flash",
    "Kimi-K2-Thinking", "MiniMax-M2", "MiniMax-M3", "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "NVIDIA-Nemotron-Nano-v2", "Qwen-QwQ-32B", "Qwen3.5-4B", "StepFun3.5-Flash",
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
    "deepseek-ai-DeepSeek-V3.2", "google-gemma-4-31B-it-interleaved", "google-gemma-4-31B-it",
    "llama-cpp-deepseek-r1", "mistralai-Mistral-Nemo-Instruct-2407",
}  # fmt: skip
# headers that the model writes
HEADERS = {
    "meetkai-functionary-medium-v3.2": "all\n", "muse-glimmer": " to=user<|message|>",
    "openai-gpt-oss-120b": "<|channel|>final<|message|>", "upstage-Solar-Open-100B": "<|content|>",
}  # fmt: skip
SENT: dict[str, Callable[[str], str]] = {
    "as it was": lambda text: text,
    "stripped": str.strip,
    "without the end": str.rstrip,
    "with a line more": lambda text: f"{text}\n",
}


class Talk:
    """Turns of a model, encoder only; `disk` is what the database has of replies."""

    def __init__(self, template: str) -> None:
        self._template = template
        self.encoder: PromptEncoder = byte_encoder(template)
        self.messages = list(ASKED)
        self.disk: dict[bytes, tuple[int, ...]] = {}
        self.resident: list[int] = []
        self.thinking: Thinking = "auto"

    def restart(self) -> None:
        self.encoder = byte_encoder(self._template)
        self.encoder.texts.own.spelled = dict(self.disk)

    def prompt(self) -> tuple[str, list[int]]:
        rendered = self.encoder.render(self.messages, self.thinking)
        return rendered, self.encoder.encode(rendered)

    def turn(
        self, raw: str, send: Callable[[str], str], question: str = "And?", stop: str = ""
    ) -> None:
        """The model writes `raw`, a program sends it back and asks on."""
        encoder = self.encoder
        rendered, prompt = self.prompt()
        stream = TextStream((stop,), encoder.form, frozenset(encoder.marks.values()))
        stream.follow(encoder.end_of(rendered, self.messages))
        tokens = reply_tokens(encoder, ("Hm.\n</think>\n\n" if stream.reasons else "") + raw)
        for token in tokens:
            stream.push(encoder.decoder.piece(token), mark=encoder.marks.get(token))
        stream.finish()
        for text, known in encoder.remember_reply(rendered, tokens, stream.stopped_by):
            self.disk[encoder.digest(text)] = known
        self.resident = [*prompt, *tokens]
        said = PromptMessage(Role.ASSISTANT, send(stream.text), "a", stream.reasoning)
        self.messages += [said, PromptMessage(Role.USER, question, "q2")]

    @property
    def lost(self) -> int:
        """Tokens that the next prompt does not share."""
        return len(self.resident) - common_prefix(self.resident, self.prompt()[1])


def _after(template: str, raw: str, send: Callable[[str], str], restart: bool = False) -> Talk:
    talk = Talk(template)
    # a token is not written as its letters are
    talk.turn(raw.replace("<|im_end|>", "<|im_\u200bend|>"), send)
    if restart:
        talk.restart()
    return talk


@pytest.mark.parametrize("name", templates())
def test_white_space_around_a_reply_costs_no_token(name: str) -> None:
    source = templates()[name]
    header = HEADERS.get(name, "")
    plain = _after(source, f"{header}Sure.", str)
    shared = len(plain.resident) - plain.lost
    assert (plain.lost > 0) == (name in OTHERS)
    for raw in REPLIES:
        for way, send in SENT.items():
            for restart in (False, True):
                talk = _after(source, header + raw, send, restart)
                if name not in OTHERS:
                    assert talk.lost == 0, (raw, way, restart)
                else:
                    assert len(talk.resident) - talk.lost >= shared, (raw, way, restart)


@pytest.mark.parametrize(
    "sample",
    [one for one in SAMPLES if one.template in templates()],
    ids=lambda one: f"{one.template}: {one.prompt[-20:]!r}",
)
def test_white_space_in_replies_as_families_write_them(sample: ReplySample) -> None:
    """Marks, headers and reasoning: white space costs nothing more."""
    source = templates()[sample.template]
    plain = _after(source, sample.raw, str)
    spaced = _after(source, sample.raw.replace("Four.", "\n Four.") + " \n", str.strip)
    assert len(spaced.resident) - spaced.lost >= len(plain.resident) - plain.lost


@pytest.mark.parametrize("name", ["google-gemma-2-2b-it", "meta-llama-Llama-3.1-8B-Instruct"])
def test_a_long_talk_stays_as_it_was_written(name: str) -> None:
    talk = Talk(templates()[name])
    for number, raw in enumerate(REPLIES[:8]):
        talk.turn(raw, str.strip, f"And {number}?")
        if number % 3 == 2:
            talk.restart()
        assert talk.lost == 0
        # all of it, from the first reply on
        assert common_prefix(talk.prompt()[1], talk.resident) == len(talk.resident)


def test_each_version_of_a_reply_has_its_own_white_space() -> None:
    source = templates()["google-gemma-2-2b-it"]
    talks = [Talk(source) for _ in range(3)]
    talks[1].encoder = talks[2].encoder = talks[0].encoder
    talks[1].disk = talks[2].disk = talks[0].disk
    for talk, raw in zip(talks, (" Sure.\n", "\nNo. ", " Sure. \n"), strict=True):
        talk.turn(raw, str.strip)
    assert [talk.lost for talk in talks[:2]] == [0, 0]
    for talk in talks[:2]:
        talk.restart()
        assert talk.lost == 0
    # of two that read alike the first one counts
    assert talks[2].lost <= 3


def test_the_same_words_of_a_user_stay_as_they_are() -> None:
    source = templates()["meta-llama-Llama-3.1-8B-Instruct"]
    talk = Talk(source)
    talk.turn(" Yes\n", str.strip, question="Yes")
    talk.restart()
    rendered, _ = talk.prompt()
    assert "user<|end_header_id|>\n\nYes<|eot_id|>" in rendered
    assert "assistant<|end_header_id|>\n\n Yes\n<|eot_id|>" in rendered


def test_an_edited_reply_is_what_it_was_edited_to() -> None:
    talk = Talk(templates()["google-gemma-2-2b-it"])
    talk.turn(" Sure.\n", lambda _text: "Sure. And more")
    rendered, _ = talk.prompt()
    assert "model\nSure. And more<end_of_turn>" in rendered
    talk = Talk(templates()["google-gemma-2-2b-it"])
    talk.turn(" a  b\n", lambda _text: "a b")
    assert "model\na b<end_of_turn>" in talk.prompt()[0]


def test_another_level_of_thinking_loses_no_reply() -> None:
    talk = Talk(templates()["Qwen-Qwen3-0.6B"])
    talk.turn("\n Sure.\n", str.strip)
    talk.thinking = "off"
    assert talk.lost == 0
    talk.restart()
    assert talk.lost == 0


def test_replies_that_every_template_shows_as_they_are_take_no_room() -> None:
    talk = Talk(templates()["Qwen-Qwen3-0.6B"])
    talk.turn("Sure.", str)
    assert not talk.disk
    talk.turn(" Sure.", str)
    assert len(talk.disk) == 1


def test_a_reply_that_goes_on_is_one_reply() -> None:
    source = templates()["google-gemma-2-2b-it"]
    talk = Talk(source)
    encoder = talk.encoder
    rendered, prompt = talk.prompt()
    begun = reply_tokens(encoder, "\n Sure, ")
    known = encoder.remember_reply(rendered, begun)
    more = reply_tokens(encoder, "why not?\n\n")
    known += encoder.remember_reply(rendered + encoder.guard("\n Sure, "), more)
    talk.disk |= {encoder.digest(text): tokens for text, tokens in known}
    talk.resident = [*prompt, *begun, *more]
    talk.messages += [
        PromptMessage(Role.ASSISTANT, "Sure, why not?", "a"),
        PromptMessage(Role.USER, "And?", "q2"),
    ]
    assert talk.lost == 0
    talk.restart()
    assert talk.lost == 0


def test_a_text_without_a_template_is_no_reply() -> None:
    talk = Talk(templates()["google-gemma-2-2b-it"])
    assert talk.encoder.remember_reply("Once upon", reply_tokens(talk.encoder, " a time\n")) == []


@pytest.mark.parametrize("raw", [" Hi.\n\nUser:", "Hi\n\nUser:", "\n Hi. \nUser:", " Hi.", "Hi.\n"])
@pytest.mark.parametrize("way", SENT)
def test_a_plain_form_goes_on_from_what_the_model_wrote(raw: str, way: str) -> None:
    """Models without a template write the user's next line, too, until the stop string."""
    talk = Talk(PLAIN)
    for number in range(4):
        talk.turn(raw, SENT[way], f"And {number}?", PLAIN_STOP)
        assert talk.lost == 0
        if number == 1:
            talk.restart()


def test_a_stop_string_costs_no_more_than_itself() -> None:
    talk = Talk(templates()["google-gemma-2-2b-it"])
    talk.turn(" One. Two. STOP", str.strip, stop="STOP")
    assert talk.lost == len("STOP")
    talk.restart()
    assert talk.lost == len("STOP")
