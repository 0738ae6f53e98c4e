"""Forwards of one context, with the presently fastest number of threads. Engine thread."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

import llama_cpp as lib

from headstart.core.errors import EnvironmentProblem
from headstart.engine.backends.llama_cpp.context import LlamaContext
from headstart.engine.backends.llama_cpp.library import recent_errors
from headstart.engine.backends.thread_count import ThreadCount
from headstart.engine.decoder import ContextFull, DecodeAborted


class Forwards:
    def __init__(self, llama: LlamaContext, fixed: bool) -> None:
        """`fixed`: the user chose the number of threads, so it stays."""
        self._llama = llama
        self._threads = ThreadCount(llama.threads, fixed=fixed)
        self._used = llama.threads

    @property
    def pace(self) -> int:
        """See `engine.decoder.Decoder.pace`."""
        return self._threads.pace

    def run(self, batch: Any, count: int) -> int:
        """llama.cpp's status for a batch of `count` tokens: 0, or an error for `failed`. Raises
        WeightsLost."""
        threads = self._threads.next(count)
        if threads != self._used:
            lib.llama_set_n_threads(self._llama.context, threads, threads)
            self._used = threads
        began, used = perf_counter(), process_time()
        result = self._llama.decode(batch, count)
        if result == 0:
            self._threads.took(count, perf_counter() - began, process_time() - used)
        return result


def failed(result: int) -> Exception:
    """The exception for a forward's status other than 0."""
    if result == 1:
        return ContextFull()
    if result == 2:
        return DecodeAborted()
    reason = recent_errors() or "no reason given"
    return EnvironmentProblem("llama-failed", result=result, reason=reason)
