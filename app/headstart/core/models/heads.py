"""Heads: layers that draft from the hidden states of one model. Their files' facts, and the
architectures that provide the states. Pure; used before anything is loaded.

llama.cpp ends the process if it is asked for a state that an architecture's graph lacks
(`GGML_ASSERT` in `llama-graph.cpp`), so these lists, taken from the source of 0.3.36, decide.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from headstart.core.models.ref import ModelFormat

# the value of `Speculation.draft` for drafting with the model's own layers
OWN_LAYERS = "own-layers"
# and for drafting with the installed draft that gains most
AUTOMATIC = "automatic"

# architectures whose graphs keep the input of each layer (`t_layer_inp`)
LAYER_INPUTS = frozenset(
    (
        "bailingmoe3", "deepseek4", "gemma4", "hunyuan_vl", "lfm2", "lfm2moe", "llama", "mimo2",
        "minimax-01", "minimax-m2", "muse-glimmer", "nanbeige", "nemotron_h", "nemotron_h_moe",
        "gpt-oss", "qwen3", "qwen3moe", "qwen3next", "qwen35", "qwen35moe", "qwen4exp",
    )
)  # fmt: skip
# those of them that also keep the output of the last layer
LAYER_OUTPUT = frozenset(("deepseek4", "mimo2", "nemotron_h", "nemotron_h_moe"))
# architectures whose graphs keep the states that drafting layers take (`t_h_nextn`); deepseek4
# does, in rows wider than its states
NEXTN = frozenset(
    (
        "bailingmoe3", "cohere2moe", "deepseek2", "deepseek32", "gemma4", "glm-dsa",
        "glm4moe", "hy_v3", "mimo2", "nemotron_h", "nemotron_h_moe", "gpt-oss", "qwen35",
        "qwen35moe", "qwen3next", "step35",
    )
)  # fmt: skip
# architectures whose graphs provide either logits or the output layer's input
NO_LAST = frozenset(("lfm2", "lfm2moe"))
# architectures with a graph for their own drafting layers, and those that run several such layers
OWN_GRAPHS = frozenset(
    (
        "bailingmoe3", "cohere2moe", "deepseek2", "deepseek32", "glm-dsa", "glm4moe",
        "hy_v3", "mimo2", "nemotron_h_moe", "qwen35", "qwen35moe", "qwen3next", "step35",
    )
)  # fmt: skip
SEVERAL_LAYERS = frozenset(("hy_v3", "mimo2", "step35"))


# architectures whose drafting layers run on MLX
MLX_LAYERS = frozenset(("qwen3_5", "qwen3_5_moe"))


class HeadKind(StrEnum):
    # layers in the model's own file
    OWN = "own"
    # a file with such layers only
    LAYERS = "layers"
    EAGLE3 = "eagle3"
    # Gemma 4's, which attend to the target's own keys and values
    ASSISTANT = "assistant"
    MEDUSA = "medusa"
    # a block of tokens in one forward: DFlash and DFlash 2
    DFLASH = "dflash"
    # the same, but each token of the block depends on the previous one
    DSPARK = "dspark"


# kinds that draft several tokens in one forward
BLOCKS = frozenset((HeadKind.DFLASH, HeadKind.DSPARK))


class HeadFacts(Struct, frozen=True):
    """Facts in a head's file about its target; 0 and "" where missing.

    `width` of the target's hidden states; `taps`: the target's layers whose input it takes.
    """

    kind: HeadKind
    width: int
    vocabulary: int = 0
    architecture: str = ""
    taps: tuple[int, ...] = ()
    # number of tokens ahead that it was trained for; 0: any
    depth: int = 0
    form: ModelFormat = "gguf"
