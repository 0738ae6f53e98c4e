"""What is chosen of what was measured on a graphics card."""

from __future__ import annotations

import pytest

from headstart.core.models.tuning import Timing, Tuning, choose
from headstart.core.settings.schema import EngineSettings

SLOW, FAST = 1000.0, 1500.0


def test_without_measurements_nothing_is_chosen() -> None:
    assert choose([]) is None


@pytest.mark.parametrize(
    ("timings", "tuning"),
    [
        ([Timing(256, True, SLOW, 50)], Tuning(256, True)),
        # a little is not worth another kind of attention, or a larger buffer
        ([Timing(256, True, SLOW, 50), Timing(256, False, 1.05 * SLOW, 50)], Tuning(256, True)),
        ([Timing(256, True, SLOW, 50), Timing(512, True, 1.05 * SLOW, 50)], Tuning(256, True)),
        ([Timing(256, True, SLOW, 50), Timing(256, False, FAST, 80)], Tuning(256, False)),
        # slower replies speak against what reads faster
        ([Timing(256, True, SLOW, 50), Timing(256, False, FAST, 30)], Tuning(256, True)),
        (
            [
                Timing(256, True, SLOW, 50),
                Timing(512, True, FAST, 50),
                Timing(1024, True, 1.05 * FAST, 50),
            ],
            Tuning(512, True),
        ),
        # what failed with one kind of attention was measured with the other only
        ([Timing(256, False, SLOW, 50), Timing(512, False, FAST, 50)], Tuning(512, False)),
    ],
)
def test_what_is_clearly_faster_is_chosen(timings: list[Timing], tuning: Tuning) -> None:
    assert choose(timings) == tuning


def test_what_the_user_chose_stays() -> None:
    tuning = Tuning(512, False)
    assert tuning.applied(EngineSettings()).batch == 512
    assert not tuning.applied(EngineSettings()).flash
    chosen = EngineSettings(batch=128, flash_attention="on")
    assert tuning.applied(chosen) == chosen
    # exactness has kernels of its own
    assert tuning.applied(EngineSettings(exact=True)).as_run.flash
