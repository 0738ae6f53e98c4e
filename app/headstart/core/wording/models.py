"""Problems with models and drafts on this computer: what happened, and what to do."""

from __future__ import annotations

_DOES_NOT_FIT = (
    "{name} does not fit into this computer's memory: it needs {need:size} ({weights:size} of "
    "weights, {kv:size} for a context of {context:,} tokens, and buffers), and {free:size} of "
    "{total:size} is free."
)

# not all models can have a larger context than they have
_LARGER = (
    "{more:select no=Shorten it, or choose a model with a larger context.|other=Shorten it, or "
    "choose a larger context length in the settings.}"
)

PROBLEMS: dict[str, tuple[str, str]] = {
    "chat-too-long": (
        (
            "This chat has become too long for the model's context: {tokens:,} of "
            "{size:,} tokens, and the reply needs room too."
        ),
        (
            "Let the oldest turns be left out (chat settings), "
            "{more:select no=choose a model with a larger context|other=choose a larger context "
            "length}, or start a new chat."
        ),
    ),
    "context-cannot-be-made": (
        "{name} cannot be used with a context of {n_ctx:,} tokens{detail}.",
        (
            "If memory is short, choose a smaller context length in the settings; else "
            "the model is of a kind that this version cannot run."
        ),
    ),
    "format-is-no-json": (
        "The answer format is not valid JSON: {reason}.",
        "Correct it in the chat's settings, or answer in free text.",
    ),
    "format-is-no-schema": (
        "The answer format is no JSON Schema: it has to be an object in braces.",
        'Write, for example, {{"type": "object"}}, or answer in free text.',
    ),
    "format-not-possible": (
        "No answer can be held to this format: {reason}.",
        "Leave out the part of the schema that it names, or answer in free text.",
    ),
    "format-too-large": (
        (
            "The answer format is too large. The most are: levels {levels:,}, values {values:,}, "
            "characters {characters:,}."
        ),
        "Leave out a part of it, or answer in free text.",
    ),
    "no-memory": (
        "There was not enough memory for this.",
        "Close other programs, or choose a smaller model or context length, and try again.",
    ),
    "no-memory-to-open": (
        "There is not enough memory to open {name}.",
        "Close other programs, or choose a smaller model or context length, and try again.",
    ),
    "projector-cannot-open": (
        "The projector {name} cannot be opened: {reason}.",
        "Download it again, or get the one that belongs to the model.",
    ),
    "projector-does-not-fit": (
        "The projector {name} does not go together with the model.",
        "Get the one that belongs to the model, and put it into the same folder.",
    ),
    "projector-gone": (
        "The projector {name} cannot be read ({error}).",
        "Check that it is still there, and that you may read it.",
    ),
    "projector-sees-nothing": (
        "The projector {name} is for sound, not for images.",
        "Get the one for images, and put it into the same folder.",
    ),
    "projector-without-room": (
        "The projector of {model} needs {need:size} of memory, and {free:size} is free.",
        "Close other programs, or unload another model.",
    ),
    "does-not-fit": (
        _DOES_NOT_FIT,
        (
            "Choose a smaller model or a smaller file of this one, or close other programs. "
            "“Check memory” in the settings lets it be tried all the same."
        ),
    ),
    "does-not-fit-context": (
        _DOES_NOT_FIT,
        "A context of {offer_context:,} tokens fits.",
    ),
    "does-not-fit-kv": (
        _DOES_NOT_FIT,
        (
            "With {offer_kv_type} keys and values, which take half the memory, a context of "
            "{offer_context:,} tokens fits."
        ),
    ),
    "draft-without-room": (
        "It needs {need:size} of memory beside the model, and {free:size} is free.",
        "Choose a smaller draft, or a smaller context.",
    ),
    "draft-failed": (
        "It failed while it drafted ({kind}).",
        "",
    ),
    "draft-file-gone": (
        "Its file is not there any more.",
        "",
    ),
    "draft-has-other-tokens": (
        "It has no tokens in common with the model.",
        "",
    ),
    "draft-not-loaded": (
        "The draft is not loaded.",
        "Choose another one.",
    ),
    "draft-not-smaller": (
        "It is not smaller than the model.",
        "Choose a smaller one.",
    ),
    "encoder-model": (
        "{name} is not a chat model (it has an encoder).",
        "Choose a chat model.",
    ),
    "text-too-long": (
        "A text has {tokens:n token|tokens}, and this model takes {size:,}.",
        "Divide it.",
    ),
    "no-embedding-model": (
        "No embedding model is installed.",
        "Get one under Models; their names have “embed”.",
    ),
    "last-message-too-long": (
        "Even alone, the last message is too long for the model's context of {size:,} tokens.",
        _LARGER,
    ),
    "llama-cannot-open": (
        "llama.cpp cannot open {name}: {reason}.",
        "The file may be damaged, or of a kind that this version does not know.",
    ),
    "llama-failed": (
        "llama.cpp failed to compute (code {result}): {reason}.",
        "Try again; if it fails again, close other programs to free memory.",
    ),
    "message-too-long": (
        (
            "This message is too long for the model's context: {tokens:,} of {size:,} "
            "tokens, and the reply needs room too."
        ),
        _LARGER,
    ),
    "system-prompt-too-long": (
        (
            "The system prompt is too long for the model's context: it has {tokens:,} of {size:,} "
            "tokens, and the message and the reply need room too."
        ),
        _LARGER,
    ),
    "mlx-cannot-open": (
        "MLX cannot open {name}: {reason}.",
        "The folder may be damaged, or of a kind that this version does not know.",
    ),
    "mlx-cannot-use": (
        "MLX cannot use {name}: {reason}.",
        "The folder may be damaged, or of a kind that this version does not know.",
    ),
    "mlx-failed": (
        "MLX failed to compute: {reason}.",
        "Try again; if it fails again, close other programs to free memory.",
    ),
    "model-cannot-be-opened": (
        "{name} cannot be used: opening it {how}. {said}",
        "The file may be damaged, or of a kind that this version does not know.",
    ),
    "model-crashes": (
        "{name} cannot be used: what opens it crashed (signal {signal}).{said}",
        "The file may be damaged, or of a kind that this version does not know.",
    ),
    "model-does-not-open": (
        "{name} cannot be used: it cannot be opened.{said}",
        "The file may be damaged, or of a kind that this version does not know.",
    ),
    "fails-at-flash-attention": (
        "{name} runs on this computer, but not with flash attention.",
        "In the settings choose automatic flash attention, without Exact, or 0 layers on the GPU.",
    ),
    "model-gone": (
        "The model {path} does not exist.",
        "Was it moved or deleted? Choose another model.",
    ),
    "weights-lost": (
        "The file of {name} was cut, emptied or became unreachable while it was in use.",
        "The text so far is kept. See that the file is whole, or choose another model.",
    ),
    "no-room-to-calibrate": (
        "This chat fills the model's context: there is no room to measure.",
        "Open a new chat and measure there.",
    ),
    "reply-too-long": (
        (
            "Together with its question, this reply is too long for the model's "
            "context: {tokens:,} of {size:,} tokens, and it needs room to go on."
        ),
        _LARGER,
    ),
    "template-refuses": (
        "The chat template of {name} refuses this chat: {error}.",
        "Try without a system prompt, or with another model.",
    ),
    "tokenizer-mismatch": (
        (
            "The tokenizer of {name} does not match its model: it has {size:,} tokens, "
            "the model {rows:,}."
        ),
        "Files of different models may have been mixed. Download the folder again.",
    ),
    "tokenizer-unreadable": (
        "{name} has no tokenizer.json that can be read.",
        "Download the whole folder again, or choose another model.",
    ),
}
