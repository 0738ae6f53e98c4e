"""Replies as models of each family write them, markup and all."""

from __future__ import annotations

from dataclasses import dataclass

from headstart.core.chats.parts import PartKind
from headstart.engine.markup.formats import format_of
from headstart.engine.markup.text_stream import TextStream
from tests.models.llama_source import templates


@dataclass(frozen=True, slots=True)
class ReplySample:
    """`template` is a file among llama.cpp's own; `prompt` is how a prompt for it ends."""

    template: str
    prompt: str
    raw: str
    reasoning: str
    text: str


_R, _T = "The user asks for two and two.\nThat is 4 < 5.", "Four.\n\n- `a < b`\n- [x]"


def _sample(template: str, prompt: str, raw: str, reasoning: str = _R) -> ReplySample:
    return ReplySample(template, prompt, raw.replace("R!", _R).replace("T!", _T), reasoning, _T)


# templates that llama.cpp has none of: what tells their family
_OWN = {
    "granite-3.2": "Write your thoughts after 'Here is my thought process:' and your response "
    "after 'Here is my response:'. {{ messages }}",
    "hunyuan-a13b": "{% if '<answer>' in m %}{{ m.split('<answer>')[-1].replace('</answer>', '') }}"
    "{% endif %}<think>",
    "k2": "{{ '<think_faster>' if effort == 'low' else '<think_fast>' if medium else '<think>' }}",
}


def template_of(name: str) -> str:
    return _OWN.get(name) or templates()[name]


SAMPLES = (
    _sample("Qwen-Qwen3-0.6B", "<|im_start|>assistant\n", "<think>\nR!</think>\n\nT!"),
    _sample("Qwen3.5-4B", "<|im_start|>assistant\n<think>\n", "R!</think>\n\nT!"),
    _sample(
        "Qwen-Qwen3-0.6B", "<|im_start|>assistant\n<think>\n\n</think>\n\n", "T!", reasoning=""
    ),
    _sample("GLM-4.7-Flash", "<|assistant|></think>", "T!", reasoning=""),
    _sample("GigaChat3-10B-A1.8B", "assistant<|role_sep|>\n", "T!", reasoning=""),
    _sample("mistralai-Ministral-3-14B-Reasoning-2512", "[/INST]", "[THINK]R![/THINK]T!"),
    _sample(
        "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        "<|START_THINKING|>R!<|END_THINKING|><|START_RESPONSE|>T!<|END_RESPONSE|>",
    ),
    _sample(
        "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
        "<|CHATBOT_TOKEN|><|START_THINKING|><|END_THINKING|>",
        "<|START_RESPONSE|>T!<|END_RESPONSE|>",
        reasoning="",
    ),
    _sample(
        "Cohere2MoE",
        "<|CHATBOT_TOKEN|><|START_THINKING|>",
        "R!<|END_THINKING|><|START_TEXT|>T!<|END_TEXT|>",
    ),
    _sample("ByteDance-Seed-OSS", "<seed:bos>assistant\n", "<seed:think>R!</seed:think>T!"),
    _sample("MiniMax-M3", "]~b]ai\n", "<mm:think>R!</mm:think>T!"),
    _sample(
        "tencent-Hy3",
        "<｜hy_Assistant:opensource｜><think:opensource>",
        "R!</think:opensource>T!",
    ),
    _sample("Apertus-8B-Instruct", "<|assistant_start|>", "<|inner_prefix|>R!<|inner_suffix|>T!"),
    _sample("google-gemma-4-31B-it", "<|turn>model\n", "<|channel>thought\nR!<channel|>T!"),
    _sample(
        "google-gemma-4-31B-it",
        "<|turn>model\n<|channel>thought\n<channel|>",
        "T!",
        reasoning="",
    ),
    _sample(
        "openai-gpt-oss-120b",
        "<|start|>assistant",
        "<|channel|>analysis<|message|>R!<|end|><|start|>assistant<|channel|>final<|message|>T!",
    ),
    _sample(
        "openai-gpt-oss-120b",
        "<|start|>assistant",
        "<|channel|>final <|constrain|>markdown<|message|>T!",
        reasoning="",
    ),
    _sample(
        "muse-glimmer",
        "<|start|>assistant",
        " to=self<|message|>R!<|eom|><|start|>assistant to=user<|message|>T!",
    ),
    _sample(
        "upstage-Solar-Open-100B",
        "<|begin|>assistant",
        "<|think|>R!<|end|><|begin|>assistant<|content|>T!",
    ),
    _sample(
        "Kimi-K3",
        '<|open|>message role="assistant"<|sep|><|open|>think<|sep|>',
        "R!<|close|>think<|sep|><|open|>response<|sep|>T!"
        "<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>",
    ),
    _sample(
        "Apriel-1.6-15b-Thinker-fixed",
        "<|begin_assistant|>\nHere are my reasoning steps:\n",
        "R![BEGIN FINAL RESPONSE]\nT![END FINAL RESPONSE]",
    ),
    _sample(
        "unsloth-Apriel-1.5",
        "<|assistant|>\n",
        "Here are my reasoning steps:\nR![BEGIN FINAL RESPONSE]\nT![END FINAL RESPONSE]",
    ),
    _sample(
        "ibm-granite-granite-3.3-2B-Instruct",
        "<|start_of_role|>assistant<|end_of_role|>",
        "<think>R!</think><response>T!</response>",
    ),
    _sample(
        "meetkai-functionary-medium-v3.2",
        "<|start_header_id|>assistant<|end_header_id|>\n\n>>>",
        "all\nT!",
        reasoning="",
    ),
    _sample(
        "meta-llama-Llama-3.1-8B-Instruct",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "T!",
        reasoning="",
    ),
    _sample(
        "granite-3.2",
        "<|start_of_role|>assistant<|end_of_role|>",
        "Here is my thought process:\nR!\n\nHere is my response:\nT!",
    ),
    _sample("hunyuan-a13b", "<|extra_0|>", "<think>\nR!\n</think>\n<answer>\nT!\n</answer>"),
    _sample("hunyuan-a13b", "<|extra_0|>", "<answer>\nT!\n</answer>", reasoning=""),
    _sample("k2", "<|im_start|>assistant\n", "<think_fast>R!</think_fast>T!"),
    _sample("k2", "<|im_start|>assistant\n<think_faster>", "R!</think_faster>\nT!"),
    # a thought without its name
    _sample("google-gemma-4-31B-it", "<|turn>model\n", "<|channel>R!<channel|>T!"),
    # a model made from another one, whose template does not tell
    _sample(
        "meta-llama-Llama-3.1-8B-Instruct",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<think>\nR!</think>\n\nT!",
    ),
)


def read(sample: ReplySample, size: int) -> tuple[str, str]:
    """Reasoning and text of a sample that comes in pieces of `size` bytes."""
    stream = TextStream(form=format_of(template_of(sample.template)))
    stream.follow(sample.prompt)
    data = sample.raw.encode()
    pieces = [
        piece for at in range(0, len(data), size) for piece in stream.push(data[at : at + size])
    ]
    pieces += stream.finish()
    reasoning, text = (
        "".join(piece.text for piece in pieces if piece.kind is kind)
        for kind in (PartKind.REASONING, PartKind.TEXT)
    )
    return reasoning.strip(), text.strip()
