"""Repeats in the text: what is learned of those that were not verified."""

from __future__ import annotations

from headstart.core.chats.parts import Origin
from headstart.core.settings.schema import Sampling, Speculation
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.loop import Speculator
from headstart.engine.speculation.outcome import learn_repeat
from headstart.engine.speculation.profile import TargetProfile
from headstart.engine.speculation.prompt_lookup import Match, PromptLookup
from headstart.engine.speculation.sources import Sources
from tests.support.fake_decoder import Clock, FakeDecoder, table

# greedy text over six tokens runs into a circle after a few of them
LOGITS = table(6, 4)


def _cost(rows: int) -> float:
    """Forwards of one token: two rows cost one and a half."""
    return 1.3 + 0.2 * (rows - 1) if rows > 1 else 1.0


def _after_wrong_repeats() -> TargetProfile:
    """The first repeats of the text were wrong."""
    target = TargetProfile()
    for _ in range(4):
        for size in range(1, 34):
            target.costs.observe(size, 0, _cost(size))
    for length in (2, 3, 2, 4, 2, 3):
        target.lengths.observe(length, False)
    return target


def test_wrong_repeats_at_the_beginning_do_not_keep_a_copy_from_being_used() -> None:
    clock = Clock()
    decoder, text = FakeDecoder(LOGITS, _cost, clock), [1, 2]
    decoder.forward(text, [1])
    sampler = decoder.sampler(Sampling(temperature=0.0), 1)
    target, wanted = _after_wrong_repeats(), Speculation()
    depth = Depth(target, None, wanted)
    # not told of another text, which would forget what the last repeats were like
    lookup = PromptLookup()
    lookup.sync(text)
    speculator = Speculator(decoder, text, sampler, depth, Sources(wanted, lookup, None, print))
    pending, origins = sampler.draw(0, len(text)), []
    for _ in range(120):
        emitted = speculator.step(pending, 32)
        pending = emitted[-1][0]
        origins += [origin for _, origin in emitted]
    assert origins[:10] == [Origin.TARGET] * 10
    assert origins[-60:].count(Origin.LOOKUP) > 40


def test_each_token_up_to_the_first_wrong_one_is_a_test() -> None:
    target = TargetProfile()
    depth = Depth(target, None, Speculation())
    learn_repeat(depth, Match(0, 2), (1, 2, 3, 4), (1, 2, 9, 4))
    assert target.lengths.all_verified_by_bin == 3
    assert target.lengths.chance(2) > target.lengths.chance(4)
