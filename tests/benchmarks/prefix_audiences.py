"""Texts of the window's chats that a program with the server's key tries to find: none, and the
time to its first token is that of any other text.

Half of the chats are private, half are kept; each text is sent while its chat is open, beside one
of the same length that nobody has sent. The two take turns in coming first.
"""

from __future__ import annotations

import http.client
import json
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter

import keyring

from headstart.assembly import App
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.schema import SamplingChoice, Speculation
from headstart.core.started_with import StartedWith
from headstart.home import Home
from headstart.launch import Start, run
from tests.benchmarks.answering import check_name, served_name, starter_key, stats_of
from tests.benchmarks.peers import bench_cache
from tests.benchmarks.report import Report, spread
from tests.support.driver import ask
from tests.support.keyrings import MemoryKeyring
from tests.support.prefix_engine import prose
from tests.support.program import beside, opened


@contextmanager
def own_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    try:
        yield
    finally:
        keyring.set_keyring(before)


def probe(port: int, key: str, text: str) -> tuple[int, float]:
    """Tokens that were computed before, and seconds to the first word; of the starter model."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    body = {
        "messages": [{"role": "user", "content": text}],
        "max_tokens": 1, "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip
    began = perf_counter()
    connection.request(
        "POST", "/v1/chat/completions", json.dumps(body), {"authorization": f"Bearer {key}"}
    )
    answer, first, cached = connection.getresponse(), 0.0, -1
    while line := answer.readline():
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        if event["choices"] and event["choices"][0]["delta"].get("content") and not first:
            first = perf_counter() - began
        if event.get("usage"):
            cached = event["usage"]["prompt_tokens_details"]["cached_tokens"]
            check_name(served_name(Path(starter_key())), event["model"])
    connection.close()
    return cached, first or perf_counter() - began


def _common(one: str, other: str) -> int:
    """Characters that two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


async def _measure(app: App, texts: int, found: list[int], late: list[float]) -> int:
    app.services.preferences.update(
        sampling=SamplingChoice(temperature=0.0, max_tokens=1),
        speculation=Speculation(enabled=False),
        prefix=PrefixSettings(prefill_ahead=False),
    )
    port, key = await opened(app)
    # tokens of the template before a text, and the texts that the program itself has sent
    template, sent = 0, list[str]()
    for number in range(texts):
        app.window.new_chat(private=number % 2 == 0)
        await app.controllers.settle()
        right, other = (f"{first + number}. {prose(40, number)}" for first in (1_000, 5_000))
        stats_of(await ask(app, right), starter_key())
        seen, own, times = {}, {}, {}
        for text in (right, other) if number % 4 < 2 else (other, right):
            seen[text], times[text] = await beside(partial(probe, port, key, text))
            # as many tokens as the program could have of its own: at most one for each character
            own[text] = max((_common(text, one) for one in sent), default=0)
            sent.append(text)
        if not number:
            # they have nothing else in common
            template = seen[other]
        found.append(max(0, seen[right] - template - own[right]))
        late.append(1000 * (times[right] - times[other]))
    return 0


def audience_figures(report: Report, model: Path, texts: int = 1_000) -> None:
    found: list[int] = []
    late: list[float] = []
    with own_keyring(), tempfile.TemporaryDirectory(dir=bench_cache()) as folder:
        code = run(
            Home(Path(folder)),
            Start(
                StartedWith(model=str(model)),
                script=lambda app: _measure(app, texts, found, late),
            ),
        )
    if code:
        raise SystemExit(code)
    report.add("private_tokens_found", sum(found), "0", f"(of {len(found)} texts)")
    report.add("private_ttft_difference_ms", statistics.median(late), "noise", spread(late))
