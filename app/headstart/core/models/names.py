"""Display names of models, from the names of files: “Qwen3.5 9B”. Pure."""

from __future__ import annotations

import functools
import re

from headstart.core.models.quantization import QUANTIZATION

# a number of parameters: a name without one was made up by its owner
_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)([bBmM])(?![A-Za-z])")
# common in file names, never used in speech
_ENDING = re.compile(
    r"(?:instruct|it|chat|hf|gguf|mlx|imatrix|imat|i1|qat|\d{1,2}bit|dwq|dynamic)?", re.IGNORECASE
)
_SEPARATOR = re.compile(r"([-._ ])")
_BREAKS = re.compile(r"[-_:]+|(?<=[A-Za-z])\.(?=[A-Za-z])")
_PARTS_OF_MIX = re.compile(r"(?<![A-Za-z0-9])[aA](\d+(?:\.\d+)?)[bB](?![A-Za-z])")


@functools.lru_cache(4096)
def people_name(name: str) -> str:
    """The name of a file or folder without suffixes that only files have; unchanged if it does not
    look like a model's."""
    pieces = _SEPARATOR.split(QUANTIZATION.sub("", name))
    while len(pieces) > 1 and _ENDING.fullmatch(pieces[-1]):
        del pieces[-2:]
    bare = "".join(pieces)
    found = _SIZE.search(bare)
    if found is None or not bare[: found.start()].strip("-._ "):
        return bare or name
    bare = _SIZE.sub(lambda match: match[1] + match[2].upper(), bare)
    bare = _PARTS_OF_MIX.sub(lambda match: f"A{match[1]}B", bare)
    words = [word for word in _BREAKS.split(bare) if word]
    if words[0].isascii() and words[0].islower():
        words[0] = words[0].capitalize()
    return " ".join(words)
