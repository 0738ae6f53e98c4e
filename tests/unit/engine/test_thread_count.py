"""Threads follow what forwards take: fewer while another program has a core, all of them else."""

from __future__ import annotations

import random
from pathlib import Path

from headstart.engine.backends.cores import automatic_threads, cpu_quota, fast_cores
from headstart.engine.backends.thread_count import ThreadCount


class Machine:
    """Two cores; what a forward takes by threads and by how many cores others keep busy."""

    def __init__(self) -> None:
        self.busy = 0.0
        self.random = random.Random(3)
        self.seconds = 0.0

    def others(self) -> float:
        return self.busy

    def forward(self, threads: int, rows: int) -> tuple[float, float]:
        """Wall and processor seconds of a forward."""
        alone = 0.01 * (1 + 0.3 * (rows - 1))
        if threads == 2 and self.busy > 0.1:
            # both wait for the one that has no core: as measured, with its luck
            wall = alone * self.random.choice((1.0, 3.0, 5.0, 8.0))
            return wall, wall
        wall = alone * (1.0 if threads == 2 else 1.5) * self.random.uniform(0.95, 1.05)
        return wall, wall * threads * 0.97

    def run(self, counts: ThreadCount, forwards: int, rows: int = 1) -> float:
        """Seconds for so many forwards."""
        total = 0.0
        for _ in range(forwards):
            wall, used = self.forward(counts.next(rows), rows)
            counts.took(rows, wall, used)
            total += wall
        return total


def test_a_busy_core_is_left_to_others_and_taken_back_when_it_is_free() -> None:
    machine = Machine()
    counts = ThreadCount(2, others=machine.others)
    machine.run(counts, 100)
    assert counts.pace == 2
    machine.busy = 1
    machine.run(counts, 40)
    assert counts.pace == 1
    took = machine.run(counts, 1000)
    assert took <= 1000 * 0.015 / 0.9
    machine.busy = 0
    machine.run(counts, 60)
    assert counts.pace == 2


def test_a_short_burst_of_other_work_costs_no_more_than_it_lasts() -> None:
    machine = Machine()
    counts = ThreadCount(2, others=machine.others)
    for rows in (1, 4):
        machine.busy = 0.0
        machine.run(counts, 30, rows)
        machine.busy = 0.3
        machine.run(counts, 20, rows)
        assert counts.next(rows) == 1
        machine.busy = 0.02
        machine.run(counts, 14, rows)
        assert counts.next(rows) == 2


def test_fewer_threads_that_are_faster_on_a_calm_computer_stay() -> None:
    counts = ThreadCount(2, others=lambda: load)
    tried = 0
    load = 0.5
    for number in range(2000):
        # what takes the second core's time is no program that the system counts
        load = 0.5 if number < 60 else 0.0
        threads = counts.next(1)
        tried += threads == 2 and number >= 100
        counts.took(1, 0.01 if threads == 1 else 0.02, 0.01)
    assert counts.pace == 1
    assert tried < 2000 * 0.05


def test_a_calm_computer_keeps_all_its_threads() -> None:
    machine = Machine()
    counts = ThreadCount(2, others=machine.others)
    assert machine.run(counts, 2000) <= 2000 * 0.01 * 1.02
    assert counts.pace == 2


def test_reading_and_writing_have_counts_of_their_own() -> None:
    machine = Machine()
    counts = ThreadCount(2, others=machine.others)
    machine.run(counts, 30)
    machine.busy = 1
    machine.run(counts, 60)
    assert counts.next(1) == 1
    assert counts.next(256) == 2


def test_a_number_in_the_settings_is_used_as_it_is() -> None:
    machine = Machine()
    machine.busy = 1
    counts = ThreadCount(2, fixed=True, others=machine.others)
    machine.run(counts, 200)
    assert counts.pace == counts.next(8) == 2


def test_a_count_that_only_looked_disturbed_is_not_tried_for_ever() -> None:
    counts = ThreadCount(8, others=lambda: 3.0)
    tried = 0
    for _ in range(3000):
        threads = counts.next(1)
        tried += threads != 8
        # cores of different speed: a third of the time is waited, and fewer threads are slower
        counts.took(1, 0.08 / threads, 0.08 * 0.7)
    assert counts.pace == 8
    assert tried < 3000 * 0.03


# --- what a computer is good for ---------------------------------------------------------


def _cpu(folder: Path, number: int, core: str, clock: int) -> None:
    topology = folder / f"cpu{number}" / "topology"
    topology.mkdir(parents=True)
    (topology / "core_cpus_list").write_text(core)
    clocks = folder / f"cpu{number}" / "cpufreq"
    clocks.mkdir()
    (clocks / "cpuinfo_max_freq").write_text(str(clock))


def test_only_fast_cores_count_each_of_them_once(tmp_path: Path) -> None:
    for number in range(4):
        _cpu(tmp_path, number, f"{number // 2 * 2}-{number // 2 * 2 + 1}", 5_000_000)
    for number in range(4, 8):
        _cpu(tmp_path, number, str(number), 3_800_000)
    assert fast_cores(range(8), tmp_path) == 2
    assert fast_cores([0, 1, 4], tmp_path) == 1
    assert fast_cores([5, 6], tmp_path) == 2
    assert fast_cores([99], tmp_path) == 0


def test_limits_of_control_groups_are_found_above_a_process_too(tmp_path: Path) -> None:
    group = tmp_path / "user.slice" / "app.scope"
    group.mkdir(parents=True)
    (group / "cpu.max").write_text("max 100000\n")
    (group.parent / "cpu.max").write_text("150000 100000\n")
    assert cpu_quota("0::/user.slice/app.scope\n", tmp_path) == 1.5
    assert cpu_quota("0::/\n", tmp_path) is None
    assert automatic_threads() >= 1
