"""Finds the passages for a question of a chat. On the event loop's thread.

What was found becomes parts of the question's message and stays there: the prompt only grows, and
no turn is processed twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from msgspec import Struct

from headstart.chat.knowledge.searching import KnowledgeSearching
from headstart.chat.preferences import Preferences
from headstart.core.chats.attachments import about_tokens
from headstart.core.chats.parts import PassagePart, SearchOutcome, SearchPart
from headstart.core.chats.prompt_words import prompt_text
from headstart.core.chats.values import Chat, Message, Role
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.passages import budget, passages, passages_in
from headstart.core.knowledge.values import KnowledgeHit, source_name
from headstart.core.models.ref import AnyModel
from headstart.core.settings.inheritance import effective

log = logging.getLogger(__name__)

# passages for one question, and characters of the question before that are looked up as well
_MOST, _BEFORE = 8, 500
# passages that only resemble a question, of which the user may choose to have them given
_DOUBTFUL = 3


class DoubtfulPassages(EnvironmentProblem):
    """The passages found for a question only resemble it: the user is asked, before anything is
    stored, what becomes of them in this chat."""

    def __init__(self, chat: Chat, sources: Sequence[str], found: Sequence[PassagePart]) -> None:
        super().__init__("passages-doubtful", count=len(found))
        self.chat = chat
        self.sources = tuple(sources)
        self.found = tuple(found)


class PassageSearch(Struct, frozen=True):
    """The passages for a question, and the line about the search; None where the chat names no
    sources."""

    parts: tuple[PassagePart, ...] = ()
    search: SearchPart | None = None

    @property
    def for_message(self) -> tuple[SearchPart | PassagePart, ...]:
        return (*(() if self.search is None else (self.search,)), *self.parts)


class PassageFinder:
    def __init__(
        self,
        searching: KnowledgeSearching,
        preferences: Preferences,
        context_of: Callable[[AnyModel], int],
    ) -> None:
        """`context_of`: tokens of a model's context, 0 if unknown."""
        self._searching = searching
        self._preferences = preferences
        self._context_of = context_of

    def sources(self, chat: Chat, model_key: str) -> tuple[str, ...]:
        """The folders and files that a chat's questions are answered from."""
        settings = self._preferences.current
        chosen = effective(settings, chat.options, model_key, above=chat.above).files_from
        known = set(settings.knowledge.sources)
        return tuple(one for one in chosen if one in known)

    async def find(
        self, chat: Chat, branch: Sequence[Message], text: str, model: AnyModel
    ) -> PassageSearch:
        """The passages for a question after `branch`. Raises DoubtfulPassages if those that were
        found only resemble it, and the user has not said yet what becomes of them."""
        sources = self.sources(chat, model.key)
        if not sources or not text.strip():
            return PassageSearch()
        names = tuple(map(source_name, sources))
        try:
            found = await self._searching.find(question_of(branch, text), sources, _MOST)
        except EnvironmentProblem as problem:
            log.warning("a question's search failed: %s", problem.for_log)
            failed = SearchPart(names, 0, SearchOutcome.FAILED, problem.told.stored)
            return PassageSearch((), failed)
        sure, doubtful = found.answers, found.doubtful[:_DOUBTFUL]
        if not sure and not doubtful:
            return PassageSearch((), SearchPart(names, 0, SearchOutcome.NOTHING))
        if not sure and chat.options.doubtful == "leave_out":
            return PassageSearch((), SearchPart(names, 0, SearchOutcome.LEFT_OUT))
        parts = self._parts(chat, branch, model, sure or doubtful)
        if not parts:
            return PassageSearch((), SearchPart(names, 0, SearchOutcome.NO_ROOM))
        if not sure and chat.options.doubtful == "ask":
            raise DoubtfulPassages(chat, names, parts)
        outcome = SearchOutcome.GIVEN if sure else SearchOutcome.RESEMBLING
        return PassageSearch(parts, SearchPart(names, len(parts), outcome))

    def _parts(
        self, chat: Chat, branch: Sequence[Message], model: AnyModel, hits: Sequence[KnowledgeHit]
    ) -> tuple[PassagePart, ...]:
        """As many of the hits as the context has room for."""
        settings = self._preferences.current
        chosen = effective(settings, chat.options, model.key, above=chat.above)
        drops = chosen.when_full == "drop_oldest"
        earlier = [one for message in branch for one in passages_in(message.parts)]
        tokens = budget(self._context_of(model), tokens_of(branch), drops)
        return tuple(passages(hits, earlier, tokens, drops))


def tokens_of(branch: Sequence[Message]) -> int:
    """Tokens of the chat so far: counted at its last reply, or estimated."""
    last = next((one.stats for one in reversed(branch) if one.stats is not None), None)
    if last is not None:
        return last.prompt_tokens + last.generated_tokens
    return sum(about_tokens(prompt_text(one.parts)) for one in branch)


def question_of(branch: Sequence[Message], text: str) -> str:
    """The question, behind the one before if it is too short to stand alone: “and in 2024?”"""
    if len(text.split()) > 4 or len(text) > 40:
        return text
    last = next((one.text for one in reversed(branch) if one.role is Role.USER), "")
    return f"{last[:_BEFORE]}\n{text}" if last.strip() else text
