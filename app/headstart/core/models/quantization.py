"""Quantization of a model, from its file's name. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from headstart.core.models.split_files import stem

QUANTIZATION = re.compile(
    r"(?:^|[-._/])(?P<name>(?:UD-)?(?:"
    r"I?Q\d(?:_(?:K|\d|XXS|XS|S|M|L|XL|NL))*(?:_(?:XXS|XS|S|M|L|XL|R\d|\d))*"
    r"|TQ\d_\d|MXFP4(?:_MOE)?|NVFP4|BF16|F16|FP16|F32|FP32))(?=$|[-._/])",
    re.IGNORECASE,
)
# approximate bits of a weight
_WHOLE = {"F32": 32.0, "FP32": 32.0, "BF16": 16.0, "F16": 16.0, "FP16": 16.0}


def quantization(path: str) -> str:
    """Its maker's name in capitals: Q4_K_M, UD-Q4_K_XL, BF16; "" if the path has none."""
    names = [match["name"] for match in QUANTIZATION.finditer(stem(PurePosixPath(path).name))]
    if not names:
        # some makers have a folder for each quantization
        names = [match["name"] for match in QUANTIZATION.finditer(path.rpartition("/")[0])]
    return names[-1].upper() if names else ""


def bits(name: str) -> float:
    """Approximate bits of a weight; 0 if the name does not say."""
    plain = name.removeprefix("UD-")
    if plain in _WHOLE:
        return _WHOLE[plain]
    if "FP4" in plain:
        return 4.25
    found = re.search(r"Q(\d)", plain)
    # blocks also store scales
    return int(found[1]) + 0.5 if found else 0.0


def quality(weight_bits: float) -> int:
    """From 1 (noticeable loss) to 4 (no noticeable loss)."""
    if not weight_bits:
        return 0
    return 1 + sum(weight_bits >= least for least in (3, 4, 6))
