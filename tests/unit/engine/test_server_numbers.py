"""Numbers that servers report of their replies: what no reply has counts as not reported."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from headstart.core.chats.values import SpeculationStats
from headstart.engine.remote.stats import Reported, prefilling_in

ODD: tuple[Any, ...] = (-1, 1 << 31, 1 << 63, 10**400, 1e300, float("nan"), True, "7", None, [])


@pytest.mark.parametrize("odd", ODD)
def test_a_count_that_no_reply_has_is_not_reported(odd: object) -> None:
    reported = Reported()
    details = {"cached_tokens": odd, "reasoning_tokens": odd, "accepted_prediction_tokens": odd}
    usage = {"prompt_tokens": odd, "completion_tokens": odd, "prompt_tokens_details": details}
    reported.take({"usage": {**usage, "completion_tokens_details": details}})
    reported.take({"timings": dict.fromkeys(("cache_n", "prompt_n", "predicted_n"), odd)})
    reported.take({"timings": dict.fromkeys(("draft_n", "draft_n_accepted"), odd)})
    reported.take({"stats": {"total_draft_tokens_count": odd, "accepted_draft_tokens_count": odd}})
    counts = (reported.prompt_tokens, reported.cached_tokens, reported.generated_tokens)
    assert counts == (None, None, None)
    assert reported.speculation is None
    assert prefilling_in({"prompt_progress": {"processed": 1, "total": odd, "cache": 0}}) is None


def test_what_a_reply_can_have_is_taken() -> None:
    reported = Reported()
    reported.take(
        {"timings": {"prompt_n": 7, "predicted_n": 9, "draft_n": 4, "draft_n_accepted": 3}}
    )
    assert (reported.prompt_tokens, reported.generated_tokens) == (7, 9)
    speculation = reported.speculation
    assert speculation is not None
    assert msgspec.convert(msgspec.to_builtins(speculation), SpeculationStats) == speculation
