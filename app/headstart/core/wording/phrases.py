"""Endings that other sentences refer to by code, each with its remedy."""

from __future__ import annotations

# why the database cannot be used
DATABASE: dict[str, tuple[str, str]] = {
    "disk-full": (
        "the disk is full",
        "Free some space on the disk.",
    ),
    "disk-failed": (
        "the disk reported an error",
        "Check the disk and its connection.",
    ),
    "file-not-writable": (
        "it cannot be written to",
        ("Check that the folder may be written to, or choose another one with --home."),
    ),
    "file-unreachable": (
        "its folder or file cannot be opened",
        "Check the folder's permissions, or choose another one with --home.",
    ),
    "file-in-use": (
        "another program is using it",
        "Close the other program and try again.",
    ),
    "database-damaged": (
        "it is damaged",
        (
            "Start Headstart again: it will save everything that can still be read into a new "
            "database."
        ),
    ),
    "owner-gone": (
        "the chat or message that this belongs to is not there any more",
        "Open the chat again; if it is gone, write in a new one.",
    ),
    "sqlite-refused": (
        "SQLite refused to use it",
        "Start with --debug and report the log.",
    ),
}

# reasons for starting with a new database
SALVAGED: dict[str, tuple[str, str]] = {
    "was-damaged": ("it was damaged", ""),
    "was-empty": ("it was empty", ""),
    "was-gone": ("it was gone", ""),
    "was-shorter": ("it was shorter than when it was last used", ""),
    "log-was-damaged": ("its write-ahead log was damaged", ""),
    "tables-were-gone": ("its tables were gone", ""),
    "text-was-missing": ("text was missing from it", ""),
    "held-fewer-messages": (
        "it held {held:n message|messages}, and {before:,} when it was last used",
        "",
    ),
}

# why a model cannot run on this computer
MODELS: dict[str, tuple[str, str]] = {
    "mlx-not-installed": (
        "MLX is not installed",
        "Run the set-up again, or choose a GGUF file.",
    ),
    "mlx-needs-a-mac": (
        "it is an MLX folder, and MLX is for Macs with Apple Silicon",
        "Choose the same model as a GGUF file.",
    ),
    "mlx-not-allowed": (
        "it is an MLX folder, and the settings allow llama.cpp only",
        "Change “Backend” under Settings, Expert, or choose a GGUF file.",
    ),
    "mlx-is-slow-here": (
        (
            "it is an MLX folder, and without Apple's chips MLX is many times slower than "
            "llama.cpp, so it is not used automatically"
        ),
        "Choose a GGUF file, or “MLX too” as the backend under Settings, Expert.",
    ),
}

# why a model's own chat template is not used
TEMPLATES: dict[str, tuple[str, str]] = {
    "template-missing": ("the model brings no chat template", ""),
    "template-broken": ("the model's chat template does not work ({error})", ""),
    "template-leaves-out": ("the model's chat template leaves text out", ""),
    "form-chatml": ("the ChatML form is used instead", ""),
    "form-plain": ("a plain User/Assistant form is used instead", ""),
}

# verdicts on a model as a draft of another
DRAFTS: dict[str, tuple[str, str]] = {
    "draft-same-model": ("the same model as the target", ""),
    "draft-too-large": (
        "not smaller than the target ({size:size}): it would not be faster",
        "",
    ),
    "draft-needs-memory": (
        "needs {need:size} of memory with its context, {free:size} is free",
        "",
    ),
    "draft-shares-nothing": ("no tokens in common with the target", ""),
    "draft-unreadable": ("its file cannot be read ({problem:message})", ""),
    "draft-same-vocabulary": ("same vocabulary ({tokens:,} tokens)", ""),
    "draft-near-vocabulary": ("same vocabulary but for {tokens:n token|tokens}", ""),
    "draft-mapped-vocabulary": (
        "another vocabulary, {overlap:.0%} of the text in common",
        "",
    ),
    "draft-by-text": ("another vocabulary: drafts go by text", ""),
    "draft-sees-less": ("sees only the last {tokens:n token|tokens}", ""),
    "draft-cannot-go-back": ("cannot take drafts back: reads some tokens twice", ""),
    "draft-costs-much": ("nearly as large as the target: little to win", ""),
    "draft-for-server": ("drafts here by text, {host} checks them", ""),
    "draft-fits": ("fits in memory ({need:size})", ""),
    "head-own-layers": ("layers in the model's own file that were made for drafting", ""),
    "head-for-this-model": ("a head that was made for models like this one", ""),
    "head-not-run-here": ("heads of this kind are not run here", ""),
    "head-other-architecture": ("a head for another kind of model ({made}, not {this})", ""),
    "head-other-width": (
        "a head for another model (hidden states of {made:,} numbers, not {this:,})",
        "",
    ),
    "head-other-vocabulary": (
        "a head for another model ({made:,} tokens in its vocabulary, not {this:,})",
        "",
    ),
    "head-other-layers": (
        "a head for a larger model (it looks at layer {made}; this one has {this})",
        "",
    ),
    "head-without-states": ("llama.cpp does not give hidden states of {name} models", ""),
    "own-layers-missing": (
        "the file announces {layers:n layer|layers} for drafting, but does not have them",
        "",
    ),
    "own-layers-not-run": (
        "the file has {layers:n layer|layers} for drafting, which llama.cpp cannot run",
        "",
    ),
}

# the fate of an unusable settings file
ASIDE: dict[str, tuple[str, str]] = {
    "kept-aside": ("It was kept as {kept}.", ""),
    "not-kept-aside": ("It could not be kept aside ({reason}).", ""),
}

# kinds of GGUF files that are not chat models
FILES: dict[str, tuple[str, str]] = {
    "file-is-adapter": (
        "a LoRA adapter",
        "Adapters are not used here. Choose a model that the adapter was merged into.",
    ),
    "file-is-projector": (
        "a vision or audio projector",
        "It belongs to a model of the same name: open that one.",
    ),
    "file-is-imatrix": (
        "an importance matrix, which helps to quantize a model",
        "Choose the quantized model itself.",
    ),
    "file-is-vocabulary": (
        "a vocabulary without weights",
        "Choose the model itself.",
    ),
    "file-is-head": (
        "a head that drafts for one certain model",
        "Open the model that it was made for.",
    ),
    "file-is-reranker": (
        "a reranker: it compares texts and writes none",
        "Choose a chat model.",
    ),
    "file-is-embedding": (
        "an embedding model: it turns text into numbers and writes none",
        "Choose a chat model.",
    ),
    "file-is-diffusion": (
        "a text diffusion model, which this version cannot run",
        "Choose a chat model.",
    ),
    "file-is-picture-model": (
        "a model that makes pictures or video",
        "Choose a chat model.",
    ),
}

PHRASES = {**ASIDE, **DATABASE, **SALVAGED, **MODELS, **TEMPLATES, **DRAFTS, **FILES}
