"""The sources of drafts in a turn, for its loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct

from headstart.core.settings.schema import Speculation
from headstart.engine.decoder import Constraint, Sampler
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.earlier import EarlierChats
from headstart.engine.speculation.hidden_rows import HiddenRows
from headstart.engine.speculation.prompt_lookup import PromptLookup


class Drawing(NamedTuple):
    """A reply's sampler, with its seed and its rules."""

    sampler: Sampler
    seed: int
    rules: Constraint | None = None


class Sources(Struct, frozen=True):
    """The sources of drafts in a turn. `on_draft_failed` is called once, with the reason."""

    settings: Speculation
    lookup: PromptLookup | None
    draft: DraftModel | None
    on_draft_failed: Callable[[str], None]
    # makes the draft follow a text; None: it already does
    begin_draft: Callable[[Sequence[int]], None] | None = None
    # the target's text in earlier chats
    earlier: EarlierChats | None = None
    # tokens that a grammar leaves no choice about
    forced: Callable[[], Sequence[int]] | None = None

    @property
    def rows(self) -> HiddenRows | None:
        """The target's hidden states, if the draft drafts from them."""
        return None if self.draft is None else self.draft.rows
