"""Problems with model files and folders: what happened, and what to do."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "file-big-endian": (
        "{name} is a GGUF file for computers with another order of bytes (big-endian).",
        "Choose the same model without “be” in the name of its file.",
    ),
    "file-newer-version": (
        "{name} is a GGUF file of version {version}, which this Headstart does not know.",
        "Look for a newer version of Headstart, or choose another file of the model.",
    ),
    "file-older-version": (
        "{name} is a GGUF file of version {version}, which nothing reads any more.",
        "Choose a newer file of the model.",
    ),
    "file-empty": (
        "{name} is empty.",
        "Choose a GGUF model file.",
    ),
    "file-incomplete": (
        "{name} is incomplete: {size:size} of {other_size:size} are there.",
        "Download it again, or choose another model file.",
    ),
    "file-not-gguf": (
        "{name} is not a model file (it does not begin with GGUF).",
        "Choose a GGUF model file.",
    ),
    "file-is-picture": (
        "{name} is a picture, not a model.",
        "Choose a GGUF model file.",
    ),
    "file-is-archive": (
        "{name} is a zip archive, not a model.",
        "Choose a GGUF model file.",
    ),
    "file-is-document": (
        "{name} is a PDF document, not a model.",
        "Choose a GGUF model file.",
    ),
    "file-is-pointer": (
        "{name} is a Git LFS pointer, not the model's file itself.",
        "Choose a GGUF model file.",
    ),
    "file-is-page": (
        "{name} is a web page, not a model.",
        "Choose a GGUF model file.",
    ),
    "file-is-old-model": (
        "{name} is a model in an old format from before GGUF.",
        "Choose a GGUF model file.",
    ),
    "folder-of-pytorch": (
        "{name} has weights in PyTorch's format only.",
        "Choose a model in the format of MLX.",
    ),
    "folder-without-weights": (
        "{name} has no weights (no .safetensors file).",
        "Choose a model in the format of MLX.",
    ),
    # for stored lists of models from before each kind had its own code
    "file-of-another-kind": (
        "{name} is {what}, not a model.",
        "Choose a GGUF model file.",
    ),
    "folder-of-another-format": (
        "{name} has {what}.",
        "Choose a model in the format of MLX.",
    ),
    "folder-of-gguf-files": (
        "{name} is a folder with GGUF files.",
        "Choose one of the files in it.",
    ),
    "folder-unreadable": (
        "The folder {path} cannot be read ({reason}).",
        "Check its permissions and the disk.",
    ),
    "header-damaged": (
        (
            "{name} is damaged or incomplete: its header ends in the middle or makes no"
            " sense ({size:size} are there)."
        ),
        "Download it again, or choose another model file.",
    ),
    "config-damaged": (
        "{name} is damaged or incomplete: nothing can be read from its file {file}.",
        "Download it again, or choose another model.",
    ),
    "is-a-folder": (
        "{name} is a folder, not a model file.",
        "Choose a file that ends in .gguf.",
    ),
    "json-damaged": (
        "{name} in {parent_name} is damaged.",
        "Download the folder again, or choose another model.",
    ),
    "json-senseless": (
        "{name} in {parent_name} makes no sense.",
        "Download the folder again, or choose another model.",
    ),
    "json-too-large": (
        "{name} in {parent_name} is far too large.",
        "Download the folder again, or choose another model.",
    ),
    "path-is-no-text": (
        "The path of {name} is not in UTF-8, and no model can be opened by it.",
        "Rename the file or its folder, and choose it again.",
    ),
    "model-file-gone": (
        "The model file {path} is not there.",
        "Was it moved or deleted? Choose another model.",
    ),
    "model-file-unreadable": (
        "The model file {path} cannot be read ({reason}).",
        "Check its permissions and the disk.",
    ),
    "model-missing": (
        "The model {path} is not there.",
        "Was it moved or deleted? Choose another model.",
    ),
    "model-type-missing": (
        "{name} does not name its kind of model.",
        "Download the folder again, or choose another model.",
    ),
    "no-tokenizer": (
        "{name} has no tokenizer.json.",
        "Download the folder again, or choose another model.",
    ),
    "no-weights": (
        "{name} holds no model weights.",
        "Choose a GGUF model file.",
    ),
    "no-chat-model": (
        "{name} is {what:message}, not a chat model.",
        "{what:remedy}",
    ),
    "not-a-file": (
        "{name} is not a file.",
        "Choose a file that ends in .gguf.",
    ),
    "not-a-model-folder": (
        "{name} is not a model folder (it has no config.json).",
        "Choose a GGUF file, or the folder of an MLX model.",
    ),
    "part-of-another-model": (
        "{name} does not belong to {model}: parts of different models have been mixed.",
        "Download all parts of one model into one folder.",
    ),
    "part-renamed": (
        "{name} is one of {wanted} parts of a model, and its name does not say which.",
        "Give all parts their original names (-00001-of-... at the end), in one folder.",
    ),
    "parts-missing": (
        "{name} is incomplete: {missing} of {wanted} parts are missing ({shown}).",
        "Download the missing parts into the same folder.",
    ),
    "program-code": (
        "{name} contains program code ({file}), which is never run.",
        "Choose another model.",
    ),
    "quantization-unknown": (
        "{name} is quantized in a way that MLX does not know ({what}).",
        "Choose a version of the model in 4 or 8 bits.",
    ),
    "safetensors-alone": (
        "{name} looks like safetensors weights: a part of a model folder, if it is one.",
        "Choose a GGUF model file.",
    ),
    "tokenizer-empty": (
        "The tokenizer of {name} has no tokens.",
        "Download the folder again, or choose another model.",
    ),
    "tokenizer-of-another-form": (
        "{name} has no tokenizer.json.",
        "Its tokenizer has another form, which is not read here. Choose another version.",
    ),
    "weight-file-damaged": (
        "{name} is damaged or incomplete: {size:size} of {file_name} are there.",
        "Download the folder again, or choose another model.",
    ),
    "weight-file-cut": (
        "{name} is incomplete: {size:size} of {file_name} are there, of {needed:size}.",
        "Download the folder again, or choose another model.",
    ),
    "weight-files-missing": (
        "{name} is incomplete: {missing} of {wanted} weight files are missing ({shown}).",
        "Download the folder again, or choose another model.",
    ),
}
