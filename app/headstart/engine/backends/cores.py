"""The best number of threads on this computer: its fast cores that this process may use.

Called once per decoder; reads small system files. If the system does not report it, the result is
the number of physical cores.
"""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import psutil

_CPUS = Path("/sys/devices/system/cpu")
_CGROUP = Path("/sys/fs/cgroup")
# cores slower than this share of the fastest are efficiency cores: every forward waits for them
_FAST_SHARE = 0.8


def automatic_threads() -> int:
    """Number of performance cores that the affinity mask and the control group allow this
    process."""
    cores = _linux_cores() if sys.platform == "linux" else _other_cores()
    quota = cpu_quota() if sys.platform == "linux" else None
    if quota is not None:
        cores = min(cores, int(quota + 0.25))
    return max(1, cores)


def fast_cores(cpus: Iterable[int], folder: Path = _CPUS) -> int:
    """Number of physical cores among `cpus` about as fast as the fastest; 0 if unknown."""
    speeds: dict[str, int] = {}
    for cpu in cpus:
        topology = folder / f"cpu{cpu}" / "topology"
        siblings = _read(topology / "core_cpus_list") or _read(topology / "thread_siblings_list")
        if not siblings:
            return 0
        # the core's capacity (ARM), else its highest clock (Intel's hybrid processors)
        speed = _read(folder / f"cpu{cpu}" / "cpu_capacity") or _read(
            folder / f"cpu{cpu}" / "cpufreq" / "cpuinfo_max_freq"
        )
        speeds[siblings] = int(speed) if speed.isdigit() else 0
    fastest = max(speeds.values(), default=0)
    return sum(1 for speed in speeds.values() if speed >= _FAST_SHARE * fastest)


def cpu_quota(groups: str | None = None, folder: Path = _CGROUP) -> float | None:
    """The most processors that this process's control group may use; None without a limit.

    `groups` is the text of /proc/self/cgroup. Version 2 limits apply to all groups below; of
    version 1 only the mounted top is read, which is what a container sees.
    """
    if groups is None:
        groups = _read(Path("/proc/self/cgroup"))
    limits = []
    for line in groups.splitlines():
        if not line.startswith("0::"):
            continue
        group = folder / line[3:].strip().lstrip("/")
        while True:
            quota, _, period = _read(group / "cpu.max").partition(" ")
            if quota.isdigit() and period.isdigit() and int(period) > 0:
                limits.append(int(quota) / int(period))
            if group == folder or folder not in group.parents:
                break
            group = group.parent
    quota = _read(folder / "cpu" / "cpu.cfs_quota_us")
    period = _read(folder / "cpu" / "cpu.cfs_period_us")
    if quota.isdigit() and period.isdigit() and int(period) > 0:
        limits.append(int(quota) / int(period))
    return min(limits, default=None)


def _linux_cores() -> int:
    allowed = os.sched_getaffinity(0)
    return fast_cores(allowed) or min(len(allowed), psutil.cpu_count(logical=False) or 1)


def _other_cores() -> int:
    if sys.platform == "darwin":
        # Apple Silicon: level 0 is the performance cores
        command = ["sysctl", "-n", "hw.perflevel0.physicalcpu"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=2, check=False)
        except (OSError, subprocess.TimeoutExpired):
            answer = None
        if answer is not None and answer.stdout.strip().isdigit():
            return int(answer.stdout)
    if sys.platform == "win32":
        fast = efficient(_processor_cores())
        if fast:
            return fast
    return psutil.cpu_count(logical=False) or 1


def efficient(entries: bytes) -> int:
    """The number of cores of the highest class, of Windows' list of cores
    (SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX); 0 if it cannot be read."""
    classes: list[int] = []
    at = 0
    while at + 10 <= len(entries):
        relation, size = struct.unpack_from("<II", entries, at)
        if size < 10 or at + size > len(entries):
            return 0
        if relation == 0:
            # the flags, then the class: higher is faster
            classes.append(entries[at + 9])
        at += size
    return classes.count(max(classes)) if classes else 0


def _processor_cores() -> bytes:
    """Windows' list of cores; b"" elsewhere and where it is refused."""
    if sys.platform != "win32":
        return b""
    ask = ctypes.windll.kernel32.GetLogicalProcessorInformationEx
    size = ctypes.c_ulong(0)
    ask(0, None, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    return buffer.raw[: size.value] if ask(0, buffer, ctypes.byref(size)) else b""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
