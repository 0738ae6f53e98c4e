"""Heads: layers that draft from the hidden states of one model. What files say of them, and which
architectures have the states. Pure; asked before anything is loaded.

llama.cpp ends the process where it is asked for what an architecture's graph lacks
(`GGML_ASSERT` in `llama-graph.cpp`), so these lists, read in the source of 0.3.36, decide.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from headstart.core.models.ref import ModelFormat

# the value of `Speculation.draft` where the model drafts with its own layers
OWN_LAYERS = "own-layers"
# and where the installed draft that gains most is taken
AUTOMATIC = "automatic"

# whose graphs keep what goes into each layer (`t_layer_inp`)
LAYER_INPUTS = frozenset(
    (
        "bailingmoe3", "deepseek4", "gemma4", "hunyuan_vl", "lfm2", "lfm2moe", "llama", "mimo2",
        "minimax-01", "minimax-m2", "muse-glimmer", "nanbeige", "nemotron_h", "nemotron_h_moe",
        "gpt-oss", "qwen3", "qwen3moe", "qwen3next", "qwen35", "qwen35moe", "qwen4exp",
    )
)  # fmt: skip
# of these also what comes out of the last layer
LAYER_OUTPUT = frozenset(("deepseek4", "mimo2", "nemotron_h", "nemotron_h_moe"))
# whose graphs keep what layers for drafting are made for (`t_h_nextn`); deepseek4 does, in rows
# that are wider than its states
NEXTN = frozenset(
    (
        "bailingmoe3", "cohere2moe", "deepseek2", "deepseek32", "gemma4", "glm-dsa",
        "glm4moe", "hy_v3", "mimo2", "nemotron_h", "nemotron_h_moe", "gpt-oss", "qwen35",
        "qwen35moe", "qwen3next", "step35",
    )
)  # fmt: skip
# whose graphs have either logits or what the output layer sees
NO_LAST = frozenset(("lfm2", "lfm2moe"))
# that have a graph of their own layers, and those of them that run with more than one such layer
OWN_GRAPHS = frozenset(
    (
        "bailingmoe3", "cohere2moe", "deepseek2", "deepseek32", "glm-dsa", "glm4moe",
        "hy_v3", "mimo2", "nemotron_h_moe", "qwen35", "qwen35moe", "qwen3next", "step35",
    )
)  # fmt: skip
SEVERAL_LAYERS = frozenset(("hy_v3", "mimo2", "step35"))


# whose layers for drafting are run on MLX
MLX_LAYERS = frozenset(("qwen3_5", "qwen3_5_moe"))


class HeadKind(StrEnum):
    # layers in the model's own file
    OWN = "own"
    # a file with such layers and nothing else
    LAYERS = "layers"
    EAGLE3 = "eagle3"
    # Gemma 4's, which look at the target's own keys and values
    ASSISTANT = "assistant"
    MEDUSA = "medusa"
    # a block of tokens in one forward: DFlash and DFlash 2
    DFLASH = "dflash"
    # the same, where each token of the block goes by the one before it
    DSPARK = "dspark"


# that draft several tokens in one forward
BLOCKS = frozenset((HeadKind.DFLASH, HeadKind.DSPARK))


class HeadFacts(Struct, frozen=True):
    """Facts of a head's file about its target; 0 and "" where it says nothing.

    `width` of the target's hidden states; `taps`: the layers of it whose input it wants.
    """

    kind: HeadKind
    width: int
    vocabulary: int = 0
    architecture: str = ""
    taps: tuple[int, ...] = ()
    # how many tokens ahead it was made for; 0: any
    depth: int = 0
    form: ModelFormat = "gguf"
