"""Parses servers' stats of a reply: tokens, cached prefixes, drafts. Pure; trusts no value.

The usual fields are those of the OpenAI API (`usage`); llama.cpp's server adds `timings`, LM
Studio `stats`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from headstart.core.chats.bounds import MOST
from headstart.core.chats.values import SpeculationStats
from headstart.core.events import Prefilling


class Reported(Struct):
    """The latest value of each stat; None if the server did not report it."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    generated_tokens: int | None = None
    prefill_seconds: float | None = None
    generate_seconds: float | None = None
    drafted: int | None = None
    accepted: int | None = None
    # generated tokens of reasoning that was not sent
    hidden_tokens: int | None = None

    def take(self, chunk: Mapping[str, Any]) -> None:
        """Take the stats in one event of a stream."""
        usage = _mapping(chunk.get("usage"))
        self.prompt_tokens = _count(usage, "prompt_tokens", self.prompt_tokens)
        self.generated_tokens = _count(usage, "completion_tokens", self.generated_tokens)
        details = _mapping(usage.get("prompt_tokens_details"))
        self.cached_tokens = _count(details, "cached_tokens", self.cached_tokens)
        details = _mapping(usage.get("completion_tokens_details"))
        self.hidden_tokens = _count(details, "reasoning_tokens", self.hidden_tokens)
        right = _count(details, "accepted_prediction_tokens", None)
        wrong = _count(details, "rejected_prediction_tokens", None)
        if right is not None and wrong is not None and right + wrong:
            self.accepted, self.drafted = right, right + wrong
        self._take_timings(_mapping(chunk.get("timings")))
        stats = _mapping(chunk.get("stats"))
        self.drafted = _count(stats, "total_draft_tokens_count", self.drafted)
        self.accepted = _count(stats, "accepted_draft_tokens_count", self.accepted)

    def _take_timings(self, timings: Mapping[str, Any]) -> None:
        if not timings:
            return
        self.cached_tokens = _count(timings, "cache_n", self.cached_tokens)
        read = _count(timings, "prompt_n", None)
        if read is not None and self.prompt_tokens is None:
            self.prompt_tokens = read + (self.cached_tokens or 0)
        self.generated_tokens = _count(timings, "predicted_n", self.generated_tokens)
        self.prefill_seconds = _seconds(timings, "prompt_ms", self.prefill_seconds)
        self.generate_seconds = _seconds(timings, "predicted_ms", self.generate_seconds)
        self.drafted = _count(timings, "draft_n", self.drafted)
        self.accepted = _count(timings, "draft_n_accepted", self.accepted)

    @property
    def speculation(self) -> SpeculationStats | None:
        if not self.drafted:
            return None
        return SpeculationStats(
            draft_verified=self.drafted, draft_accepted=min(self.accepted or 0, self.drafted)
        )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(source: Mapping[str, Any], name: str, before: int | None) -> int | None:
    value = source.get(name)
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST
    return value if fits else before


def _seconds(source: Mapping[str, Any], name: str, before: float | None) -> float | None:
    value = source.get(name)
    return value / 1000 if isinstance(value, int | float) and 0 <= value < 1e12 else before


def prefilling_in(event: Mapping[str, Any]) -> Prefilling | None:
    """The progress of a prompt, from servers that report it."""
    progress = event.get("prompt_progress")
    if not isinstance(progress, dict):
        return None
    names = ("processed", "total", "cache")
    done, total, cached = (_count(progress, name, 0) or 0 for name in names)
    return Prefilling(min(done, total), total, min(cached, total)) if total > 0 else None
