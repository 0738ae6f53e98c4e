"""Makes a draft from an open decoder: of a smaller model, or of a head. Engine thread."""

from __future__ import annotations

from collections.abc import Callable

from headstart.core.errors import EnvironmentProblem
from headstart.core.models.ref import ModelRef
from headstart.engine.decoder import BlockDecoder, Decoder
from headstart.engine.prefix.kept_decoder import KeptDecoder
from headstart.engine.prefix.prefix_cache import PrefixCache
from headstart.engine.speculation.block_draft import BlockDraft
from headstart.engine.speculation.compatibility import VocabularyMatch
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.hidden_draft import HiddenStateDraft
from headstart.engine.speculation.hidden_rows import HeadState
from headstart.engine.speculation.token_mapping import make_mapping

MakePrefixCache = Callable[[ModelRef, KeptDecoder], PrefixCache | None]


def make_draft(
    target: Decoder,
    target_name: str,
    wanted: ModelRef,
    decoder: Decoder,
    make_cache: MakePrefixCache | None,
) -> tuple[DraftModel, VocabularyMatch]:
    """Make a draft for `target` from the file `wanted`; `target_name` differs for different target
    weights. Raises EnvironmentProblem if the two have nothing in common."""
    # drafts see no images
    blank = (target.encode("\n") or [0])[-1]
    if decoder.facts.wants:
        target.states.keep(decoder.facts.wants)

        def cache_of(state: HeadState) -> PrefixCache | None:
            # a head that attends to the target's own keys and values has no state to save
            kept = make_cache is not None and not decoder.facts.follows
            return make_cache(wanted, state) if kept and make_cache is not None else None

        # a head uses the target's ids
        same = VocabularyMatch("same", 0, 1.0)
        if isinstance(decoder, BlockDecoder):
            return BlockDraft(decoder, target, target_name, cache_of, blank), same
        return HiddenStateDraft(decoder, target, target_name, cache_of, blank), same
    mapping, match = make_mapping(target, decoder)
    if mapping is None:
        raise EnvironmentProblem("draft-has-other-tokens")
    prefix_cache = None if make_cache is None else make_cache(wanted, decoder)
    return DraftModel(decoder, mapping, prefix_cache, blank), match
