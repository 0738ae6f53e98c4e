"""Faults of heads: layers that draft from a model's hidden states."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "no-own-layers": (
        "This file of the model has no MTP layers to draft with.",
        "Choose a smaller model as its draft, or a file of the model that has them.",
    ),
    "head-for-another-model": (
        "{name} is a head for another model.",
        "Choose the head that was made for this one.",
    ),
    "head-does-not-work": (
        "{name} did not work with the model when it was tried.",
        "Choose another draft.",
    ),
    "head-output-too-large": (
        (
            "{name} is too large ({size:size}) to draft beside a model of llama.cpp, where all of "
            "it is read for each token."
        ),
        "Choose a smaller head, or another draft.",
    ),
    "head-incomplete": (
        "{name} lacks {missing}.",
        "Get it again, with all its files.",
    ),
    "heads-not-in-library": (
        "This build of llama.cpp cannot draft from hidden states (it lacks {function}).",
        "Choose a smaller model as the draft.",
    ),
    "heads-not-for-architecture": (
        "llama.cpp does not give the hidden states of models like this one ({name}).",
        "Choose a smaller model as the draft.",
    ),
    "heads-not-for-backend": (
        "Heads need a model that runs on the same engine as they do.",
        "Choose a smaller model as the draft.",
    ),
    "heads-got-nothing": (
        "The model gave no hidden states.",
        "",
    ),
}
