"""Whether a model can draft for another, and why (not). Pure: works on cards and vocabularies.

Tiers: the same vocabulary; nearly the same (a few tokens differ and are never drafted); mapped
(most text is spelled with tokens that both have); by text (draft tokens are re-tokenized, slower).
All are lossless, because the target verifies every draft token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headstart.core.models import ModelCard, Vocabulary

Tier = Literal["same", "near", "mapped", "text", "none"]

# ids below this are control tokens by convention; drafts rarely agree on them
FIRST_WORD = 5
# one in so many ids may differ for a vocabulary to be nearly the same
NEAR_SHARE = 100
MAPPED_OVERLAP = 0.9
# a draft that takes more of the target's time than this per token seldom pays
COSTLY_SHARE = 0.5
# what a context needs beside weights and KV (compute buffers), as the probes showed
OVERHEAD = 100_000_000


@dataclass(frozen=True, slots=True)
class VocabularyMatch:
    """`differing` counts ids below both sizes with other texts; `overlap` is the estimated share
    of text that is spelled with tokens that both have."""

    tier: Tier
    differing: int
    overlap: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """`works`: "yes", "by text" (slower) or "no"; `reason` is shown to the user as it is."""

    works: Literal["yes", "by text", "no"]
    reason: str


def compare(target: Vocabulary, draft: Vocabulary) -> VocabularyMatch:
    """Which tier the two vocabularies allow."""
    if target.kind == draft.kind:
        shared = range(FIRST_WORD, min(len(target.texts), len(draft.texts)))
        share = len(shared) / max(1, len(target.texts))
        differing = sum(target.texts[index] != draft.texts[index] for index in shared)
        if differing == 0 and share > 0.9:
            return VocabularyMatch("same", 0, 1.0)
        if share > 0.9 and differing * NEAR_SHARE <= len(shared):
            return VocabularyMatch("near", differing, 1 - differing / len(shared))
    known = set(draft.texts)
    common = total = 0.0
    for rank, text in enumerate(target.texts):
        # ids are ordered by how common their text is: Zipf's law gives the weight
        weight = 1 / (rank + 100)
        total += weight
        common += weight * (text in known)
    overlap = common / total if total else 0.0
    different = len(target.texts)
    if overlap >= MAPPED_OVERLAP and target.kind == draft.kind:
        return VocabularyMatch("mapped", different, overlap)
    return VocabularyMatch("text" if overlap > 0.02 else "none", different, overlap)


def judge(target: ModelCard, draft: ModelCard, context: int, free_memory: int) -> Verdict:
    """What `draft` is worth as a draft of `target` with so much context and free memory."""
    if draft.model.path == target.model.path:
        return Verdict("no", "the same model as the target")
    if draft.model.size >= target.model.size:
        return Verdict(
            "no", f"not smaller than the target ({_size(draft.model.size)}): it would not be faster"
        )
    need = memory_needed(draft, context)
    if need > free_memory:
        return Verdict(
            "no", f"needs {_size(need)} of memory with its context, {_size(free_memory)} are free"
        )
    match = compare(target.vocabulary, draft.vocabulary)
    if match.tier == "none":
        return Verdict("no", "no tokens in common with the target")
    notes = []
    works: Literal["yes", "by text"] = "yes"
    if match.tier == "same":
        notes.append(f"same vocabulary ({draft.vocabulary_size:,} tokens)")
    elif match.tier == "near":
        notes.append(f"same vocabulary but for {match.differing:,} tokens")
    elif match.tier == "mapped":
        notes.append(f"another vocabulary, {match.overlap:.0%} of the text in common")
    else:
        works = "by text"
        notes.append("another vocabulary: drafts go by text")
    if draft.context_length < context:
        notes.append(f"sees only the last {draft.context_length:,} tokens")
    if draft.cache in ("recurrent", "hybrid"):
        notes.append("cannot take drafts back: reads some tokens twice")
    if draft.model.size > COSTLY_SHARE * target.model.size:
        notes.append("nearly as large as the target: little to win")
    notes.append(f"fits in memory ({_size(need)})")
    return Verdict(works, ", ".join(notes))


def memory_needed(card: ModelCard, context: int) -> int:
    """Bytes of weights, of f16 keys and values for `context` tokens, and of buffers."""
    kept = min(context, card.context_length) if card.context_length else context
    return card.model.size + card.kv_bytes_per_token * kept + OVERHEAD


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
