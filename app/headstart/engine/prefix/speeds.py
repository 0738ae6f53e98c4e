"""This computer's speeds of prefilling and of restoring tokens; kept between runs of the app.
Engine thread."""

from __future__ import annotations

import msgspec

from headstart.core.models.profiles import ProfileKey, ProfileKind, Profiles, recall, remember

# weight of a new measurement
_WEIGHT = 0.3


class PrefixSpeeds(msgspec.Struct):
    """Measured speeds; the defaults assume a slow disk and a fast processor."""

    token_seconds: float = 0.0005
    memory_rate: float = 2e9  # bytes per second, from memory into a context
    disk_rate: float = 2e8
    measured: bool = False

    def observe_prefill(self, tokens: int, seconds: float) -> None:
        """Add a measurement; callers omit small slices, which say little about long ones."""
        fresh = seconds / tokens
        if not self.measured:
            self.token_seconds, self.measured = fresh, True
        self.token_seconds += _WEIGHT * (fresh - self.token_seconds)

    def see_restoring(self, on_disk: bool, size: int, seconds: float) -> None:
        if seconds <= 0:
            return
        name = "disk_rate" if on_disk else "memory_rate"
        known = getattr(self, name)
        # rates are averaged as times, so that a slow disk access counts with its full cost
        setattr(self, name, 1 / ((1 - _WEIGHT) / known + _WEIGHT * seconds / size))

    def seconds(self, on_disk: bool, size: int) -> float:
        return size / (self.disk_rate if on_disk else self.memory_rate)


def load(profiles: Profiles | None, target: str, device: str) -> PrefixSpeeds:
    return (
        recall(profiles, ProfileKey(target, "", device, ProfileKind.PREFIX), PrefixSpeeds)
        or PrefixSpeeds()
    )


def save(profiles: Profiles | None, target: str, device: str, speeds: PrefixSpeeds) -> None:
    remember(profiles, ProfileKey(target, "", device, ProfileKind.PREFIX), speeds)
