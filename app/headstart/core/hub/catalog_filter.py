"""Filtering and sorting of the hub's results, and names. Pure."""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec.structs import replace

from headstart.core.hub.catalog import (
    Companion,
    CompanionKind,
    Fit,
    Repository,
    Search,
    SortBy,
    Variant,
)
from headstart.core.models.fit import ModelShape
from headstart.core.models.quantization import quantization
from headstart.core.models.split_files import stem

# a model's least memory relative to its weights
_BESIDE = 1.15
# largest share of memory for a model
_MOST_SHARE = 0.9
_SIZE = re.compile(r"(?:^|[-_.])[AE]?\d+(?:\.\d+)?[BM](?=$|[-_.])", re.IGNORECASE)
_GENERATION = re.compile(r"[A-Za-z]+[-_ ]?\d+(?:\.\d+)?")
# popular quantizations, the best first; in small models every bit matters
_BALANCED = (
    "UD-Q4_K_XL", "Q4_K_M", "MXFP4", "MXFP4_MOE", "UD-Q4_K_M", "Q5_K_M", "IQ4_XS", "Q4_K_S",
    "IQ4_NL", "Q4_0", "4-bit",
)  # fmt: skip
_FINE = ("Q8_0", "UD-Q8_K_XL", "Q6_K", "8-bit")
_SMALL = 2_500_000_000

_KEYS: Mapping[SortBy, Callable[[Repository], float]] = {
    "likes": lambda one: one.likes,
    "downloads": lambda one: one.downloads,
    "updated": lambda one: one.updated,
}


def merged(pages: Sequence[Sequence[Repository]], sort: SortBy) -> list[Repository]:
    """The results for several formats as one list; a repository with both comes once."""
    key = _KEYS.get(sort)
    mixed = [
        one for row in itertools.zip_longest(*pages) for one in row if isinstance(one, Repository)
    ]
    if key is not None:
        mixed.sort(key=key, reverse=True)
    first: dict[str, Repository] = {}
    for one in mixed:
        first.setdefault(one.id, one)
    return list(first.values())


def matches(one: Repository, search: Search) -> bool:
    """True if a result fits the search; facts missing from the hub never exclude it."""
    if not set(one.formats) & set(search.formats):
        return False
    if search.fits and one.smallest * _BESIDE > _MOST_SHARE * search.fits:
        return False
    if search.largest and one.parameters > search.largest * 1e9:
        return False
    if search.licences and one.licence and one.licence not in search.licences:
        return False
    if search.open_only and one.gated:
        return False
    if search.can_draft and not 0 < one.parameters <= _SMALL:
        return False
    if search.has_vision and not one.has_vision:
        return False
    return one.has_own_draft or not search.has_own_draft


def family(name: str) -> str:
    """The name shared by a family of models: `Qwen3` for `Qwen3-4B-Instruct-2507-GGUF`."""
    size = _SIZE.search(name)
    head = name[: size.start()] if size else ""
    found = _GENERATION.match(head or name)
    return (found[0] if found else head).strip("-_. ")


def likely_drafts(page: Sequence[Repository], target: Repository) -> list[Repository]:
    """Models of the same family, judged by name, with at most a quarter of the target's size."""
    own = family(target.name).casefold()
    return [
        one
        for one in page
        if one.id != target.id
        and family(one.name).casefold() == own
        and 0 < one.parameters <= target.parameters / 4
        and not one.gated
    ]


# suffixes of heads' repositories, after the model's name
_HEADS = ("DFlash", "DSpark", "EAGLE3")


def head_searches(name: str) -> list[str]:
    """Search terms for heads of the model with this name; none if the name does not tell the
    model's size."""
    own = _base(name)
    return [f"{own} {kind}" for kind in _HEADS] if own else []


def likely_heads(page: Sequence[Repository], name: str) -> list[Repository]:
    """Repositories of heads for the model with this name, judged by their names; the closest names
    come first."""
    own, words = _base(name).casefold(), _words(name)
    kinds = tuple(kind.casefold() for kind in _HEADS)
    found = [
        one
        for one in page
        if _base(one.name).casefold() == own
        and any(kind in one.name.casefold().replace("eagle-3", "eagle3") for kind in kinds)
        and not one.gated
    ]
    return sorted(found, key=lambda one: len(words ^ _words(one.name)))


def _words(name: str) -> set[str]:
    """Words of a name that describe the model, not the file."""
    name = name.casefold().replace("eagle-3", "eagle3")
    weights = quantization(name).casefold()
    others = {"gguf", "b16", "b8", *(kind.casefold() for kind in _HEADS)}
    return set(re.findall(r"[a-z0-9]+(?:\.[0-9]+)?", name.replace(weights, ""))) - others


def _base(name: str) -> str:
    """A model's name up to its size, which its heads' names share."""
    size = _SIZE.search(name)
    # mixtures of experts have a second number
    more = _SIZE.match(name, size.end()) if size else None
    found = more or size
    return name[: found.end()].strip("-_. ") if found else ""


def draft_variant(variants: Sequence[Variant]) -> Variant | None:
    """A variant to draft with: small, with the least loss of acceptance and little time per
    token."""
    own = [variant for variant in variants if variant.format == "gguf"]
    for title in ("Q8_0", *_BALANCED):
        for variant in own:
            if variant.title == title:
                return variant
    return own[0] if own else None


def best(kind: CompanionKind, found: Sequence[Companion]) -> Companion | None:
    """The companion that most people want: half precision, else the smallest."""
    own = [companion for companion in found if companion.kind is kind]
    half = [one for one in own if quantization(one.file.path) in ("F16", "FP16", "BF16", "Q8_0")]
    return min(half or own, key=lambda one: one.file.size, default=None)


def matching(variants: Sequence[Variant], patterns: Sequence[str]) -> Variant | None:
    """The first variant whose file matches the first pattern that matches any."""
    for pattern in patterns:
        for variant in variants:
            paths = [variant.main, PurePosixPath(variant.main).name]
            if variant.main and any(fnmatch.fnmatch(path, pattern) for path in paths):
                return variant
            if not variant.main and pattern == variant.format:
                return variant
    return None


def named(variants: Sequence[Variant], name: str) -> Variant | None:
    """The variant named by a link's file or by a quantization."""
    wanted = name.casefold()
    for variant in variants:
        files = {file.path.casefold() for file in variant.files}
        if wanted in files or wanted in (variant.title.casefold(), variant.main.casefold()):
            return variant
    return None


def without_quantization(variant: Variant) -> str:
    """The name shared by a model's quantizations: the file's name without the quantization."""
    name = stem(PurePosixPath(variant.main).name).casefold()
    return name.replace(variant.title.casefold(), "").strip("-_.")


def resized(shape: ModelShape, size: int) -> ModelShape:
    """The same model with `size` bytes of weights."""
    layers = int(shape.layer_weights * size / max(1, shape.weights))
    return replace(shape, weights=size, layer_weights=layers)


def recommended(
    variants: Sequence[Variant], fits: Mapping[str, Fit], parameters: int
) -> tuple[Variant, str] | None:
    """The variant to start with, and the code of the reason; `fits` by title, where known.

    A balance of size and quality where it fits, finer for small models; else the largest that fits.
    """
    fitting = [one for one in variants if one.title not in fits or fits[one.title].verdict != "no"]
    if not fitting:
        return None
    if 0 < parameters <= _SMALL:
        fine = _first(fitting, _FINE)
        if fine is not None:
            return fine, "recommended-small"
    balanced = _first(fitting, _BALANCED)
    if balanced is not None:
        return balanced, "recommended-balance"
    smaller = [one for one in fitting if one.bits < 8] or fitting
    return max(smaller, key=lambda one: one.size), "recommended-largest"


def _first(variants: Sequence[Variant], titles: Sequence[str]) -> Variant | None:
    by_title = {variant.title: variant for variant in variants}
    return next((by_title[title] for title in titles if title in by_title), None)
