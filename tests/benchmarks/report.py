"""What all benchmarks share: arguments, medians, pairs, the table and the JSON file."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.quiet import MOST, others


@dataclass(slots=True)
class Report:
    """Figures by name. A wanted bound is shown beside the figure, never enforced."""

    title: str
    stats: dict[str, float] = field(default_factory=dict)
    _notes: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: float, wanted: str = "", spread: str = "") -> None:
        self.stats[name] = round(value, 4)
        self._notes[name] = "   ".join(
            part for part in (f"wanted {wanted}" if wanted else "", spread) if part
        )
        # at once: a run of an hour may be cut short
        print(f"{name}: {value:.4g}   {self._notes[name]}", flush=True)

    def write(self, path: Path | None) -> None:
        print(f"\n{self.title}")
        width = max(map(len, self.stats), default=0)
        for name, value in self.stats.items():
            print(f"  {name:<{width}}  {value:>10.4g}   {self._notes[name]}")
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(self.stats, indent=1) + "\n", encoding="utf-8")
            notes = path.with_suffix(".notes.json")
            notes.write_text(json.dumps(self._notes, indent=1) + "\n", encoding="utf-8")


def json_path(description: str) -> Path | None:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    path: Path | None = parser.parse_args().json
    return path


class Ratios(list[float]):
    """Ratios of pairs, and how many pairs were thrown away because others took the processor."""

    thrown = 0


def spread(values: Sequence[float]) -> str:
    """How far single measurements lie apart: the quartiles."""
    count = values.thrown if isinstance(values, Ratios) else 0
    thrown = f", {count} thrown away" if count else ""
    if len(values) < 4:
        return f"({min(values):.4g} to {max(values):.4g}{thrown})"
    low, _, high = statistics.quantiles(values, n=4)
    return f"(quartiles {low:.4g} to {high:.4g}, n = {len(values)}{thrown})"


def paired_ratios(
    ours: Callable[[], float], theirs: Callable[[], float], pairs: int, most: float = MOST
) -> Ratios:
    """ours/theirs of interleaved pairs, A B B A, so that a drift of the machine cancels out.

    A pair during which other programs took more than `most` of the processor is thrown away and
    measured again, while no more are thrown away than kept.
    """
    ratios, number = Ratios(), 0
    while len(ratios) < pairs:
        if number % 2 == 0:
            one, other = others(ours), others(theirs)
        else:
            other, one = others(theirs), others(ours)
        number += 1
        if max(one[1], other[1]) > most and ratios.thrown < pairs:
            ratios.thrown += 1
            continue
        ratios.append(one[0] / other[0])
    return ratios
