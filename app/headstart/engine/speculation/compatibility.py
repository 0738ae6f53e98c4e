"""Decides whether a model can draft for another, with reasons. Pure, from cards and vocabularies.

Tiers: the same vocabulary; nearly the same (a few tokens differ and are never drafted); mapped
(most text uses tokens that both have); by text (draft tokens are re-tokenized, slower). All are
lossless, because the target verifies every draft token.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from headstart.core.models import fit
from headstart.core.models.described import ModelCard, Vocabulary
from headstart.core.models.draft_choice import Works
from headstart.core.models.fit import Memory
from headstart.core.settings.schema import EngineSettings
from headstart.core.told import Told, told

Tier = Literal["same", "near", "mapped", "text", "none"]

# ids below this are control tokens by convention; drafts rarely agree on them
FIRST_WORD = 5
# at most one in this many ids may differ in a nearly equal vocabulary
NEAR_SHARE = 100
MAPPED_OVERLAP = 0.9
# a draft larger than this share of the target seldom pays
COSTLY_SHARE = 0.5


class VocabularyMatch(Struct, frozen=True):
    """The comparison of two vocabularies. `differing`: number of ids in both with different texts;
    `overlap`: estimated share of text that uses tokens that both have."""

    tier: Tier
    differing: int
    overlap: float


class PairVerdict(Struct, frozen=True):
    """The verdict on a pair; `notes` give the reasons and expectations."""

    works: Works
    notes: tuple[Told, ...]

    @property
    def reason(self) -> str:
        return ", ".join(note.message for note in self.notes)


def compare(target: Vocabulary, draft: Vocabulary) -> VocabularyMatch:
    """The tier that the two vocabularies allow."""
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


def judge(
    target: ModelCard, draft: ModelCard, context: int, engine: EngineSettings, memory: Memory
) -> PairVerdict:
    """The verdict on `draft` as a draft for `target` with this context and memory."""
    if draft.model.path == target.model.path:
        return PairVerdict(Works.NO, (told("draft-same-model"),))
    if draft.model.size >= target.model.size:
        return PairVerdict(Works.NO, (told("draft-too-large", size=draft.model.size),))
    need = fit.need(draft.shape, min(context, draft.context_length or context), engine)
    if fit.judge(need, memory) == "no":
        why = told("draft-needs-memory", need=need.total, free=memory.available)
        return PairVerdict(Works.NO, (why,))
    match = compare(target.vocabulary, draft.vocabulary)
    if match.tier == "none":
        return PairVerdict(Works.NO, (told("draft-shares-nothing"),))
    notes: list[Told] = []
    works = Works.YES
    if match.tier == "same":
        notes.append(told("draft-same-vocabulary", tokens=draft.vocabulary_size))
    elif match.tier == "near":
        notes.append(told("draft-near-vocabulary", tokens=match.differing))
    elif match.tier == "mapped":
        notes.append(told("draft-mapped-vocabulary", overlap=match.overlap))
    else:
        works = Works.BY_TEXT
        notes.append(told("draft-by-text"))
    if draft.context_length < context:
        notes.append(told("draft-sees-less", tokens=draft.context_length))
    if draft.cache in ("recurrent", "hybrid"):
        notes.append(told("draft-cannot-go-back"))
    if draft.model.size > COSTLY_SHARE * target.model.size:
        notes.append(told("draft-costs-much"))
    notes.append(told("draft-fits", need=need.total))
    return PairVerdict(works, tuple(notes))
