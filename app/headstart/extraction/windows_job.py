"""Windows' limits of a process: a job object around itself, with memory and processor time. None of
its limits forbids writing files."""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_int64, c_size_t, c_uint32, c_uint64

# JOBOBJECT_EXTENDED_LIMIT_INFORMATION, and its flags
_EXTENDED = 9
_PROCESS_TIME, _PROCESS_MEMORY = 0x00000002, 0x00000100
# of 100 nanoseconds
_TICKS = 10_000_000


class Basic(ctypes.Structure):
    _fields_ = [
        ("PerProcessUserTimeLimit", c_int64),
        ("PerJobUserTimeLimit", c_int64),
        ("LimitFlags", c_uint32),
        ("MinimumWorkingSetSize", c_size_t),
        ("MaximumWorkingSetSize", c_size_t),
        ("ActiveProcessLimit", c_uint32),
        ("Affinity", c_size_t),
        ("PriorityClass", c_uint32),
        ("SchedulingClass", c_uint32),
    ]


class Extended(ctypes.Structure):
    _fields_ = [
        ("BasicLimitInformation", Basic),
        ("IoInfo", c_uint64 * 6),
        ("ProcessMemoryLimit", c_size_t),
        ("JobMemoryLimit", c_size_t),
        ("PeakProcessMemoryUsed", c_size_t),
        ("PeakJobMemoryUsed", c_size_t),
    ]


def limits(memory: int, seconds: float) -> Extended:
    """Limits of so many bytes, and seconds of processor time since the process began."""
    basic = Basic(
        PerProcessUserTimeLimit=int(seconds * _TICKS), LimitFlags=_PROCESS_TIME | _PROCESS_MEMORY
    )
    return Extended(BasicLimitInformation=basic, ProcessMemoryLimit=memory)


# the handle of this process's job, once it has one
_job = 0


def limit_this_process(memory: int, seconds: float) -> bool:
    """Set both limits, also again; False elsewhere, and where the system refuses."""
    global _job
    if sys.platform != "win32":
        return False
    kernel = ctypes.windll.kernel32
    handle = ctypes.c_void_p
    make = ctypes.WINFUNCTYPE(handle, handle, handle)(("CreateJobObjectW", kernel))
    this_process = ctypes.WINFUNCTYPE(handle)(("GetCurrentProcess", kernel))
    first = not _job
    if first:
        _job = make(None, None) or 0
    if not _job:
        return False
    wanted = limits(memory, seconds)
    job = ctypes.c_void_p(_job)
    done = kernel.SetInformationJobObject(
        job, _EXTENDED, ctypes.byref(wanted), ctypes.sizeof(wanted)
    )
    if done and first:
        process = ctypes.c_void_p(this_process())
        done = kernel.AssignProcessToJobObject(job, process)
    return bool(done)
