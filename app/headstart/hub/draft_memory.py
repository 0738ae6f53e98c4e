"""Measured gains of each model's drafts: the speed with the draft relative to plain decoding.
Models and drafts are identified by content. Worker threads."""

from __future__ import annotations

from headstart.core.models.draft_choice import Measured
from headstart.core.models.heads import OWN_LAYERS
from headstart.hub.kept_list import Kept, KeptFacts, KeptList


class DraftMemory:
    def __init__(self, kept: KeptList) -> None:
        self._list = kept

    def gains(self, key: str) -> dict[str, Measured]:
        """Gains of a model's drafts, by their keys."""
        with self._list.lock:
            kept = self._list.load()
            known = _known_of(key, kept)
            if known is None:
                return {}
            contents = {path: seen.content for path, seen in kept.seen.items()}
            found = {path: known.drafts.get(content) for path, content in contents.items()}
            found[OWN_LAYERS] = known.drafts.get(OWN_LAYERS)
            return {one: Measured(*gain) for one, gain in found.items() if gain is not None}

    def note(self, key: str, draft: str, gain: float, tokens: int) -> Measured:
        """Record the gain of a reply of `tokens` tokens with this draft."""
        with self._list.lock:
            kept = self._list.load()
            known, content = _known_of(key, kept), _content_of(draft, kept)
            if known is None or not content:
                return Measured(gain, tokens)
            new = Measured(*known.drafts.get(content, (1.0, 0))).with_reply(gain, tokens)
            known.drafts[content] = (round(new.gain, 3), new.tokens)
            self._list.save()
            return new


def _known_of(key: str, kept: Kept) -> KeptFacts | None:
    seen = kept.seen.get(key)
    return None if seen is None else kept.known.get(seen.content)


def _content_of(draft: str, kept: Kept) -> str:
    if draft == OWN_LAYERS:
        return draft
    seen = kept.seen.get(draft)
    return "" if seen is None else seen.content
