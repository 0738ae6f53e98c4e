"""What every test shares: one Qt application, one event loop, real weights, a fresh home.

Coroutine tests run on qasync's loop, the one that the program uses.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import os
import tempfile

# asyncio exports it, for those who run a loop themselves
from asyncio.events import _set_running_loop
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# whatever the language of the computer
os.environ.setdefault("HEADSTART_LANGUAGE", "en")
# what lies on the computer that tests run on is none of their business
os.environ["HF_HUB_CACHE"] = f"{tempfile.gettempdir()}/headstart-tests-no-hub"

import hypothesis
import pytest
import qasync
from PySide6.QtWidgets import QApplication

from headstart.assembly import App, close_app, open_app
from headstart.chat import awake
from headstart.core import collecting
from headstart.core.models.ref import ModelRef
from headstart.home import Home
from headstart.hub import checked, library
from headstart.hub.library import open_model, starter_model
from headstart.hub.sources import ModelFolder, ModelSource
from headstart.launch import make_application, start_logging
from headstart.ui.kit import languages
from tests.models.drafts import drop_layers
from tests.support.collecting import no_clients, nothing_starts
from tests.support.disk import free_disk
from tests.support.links import skip_without_links
from tests.support.patience import PATIENCE, PatientBot, unhurried
from tests.support.patience import until as until

# of a whole test, were none of its waits to end
TEST_SECONDS = 600
PROOF_SECONDS = 3600

# how long an example takes is no property of the code
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Workers side by side share out the processors: engines that all use all of them mostly wait
    for each other."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if worker and count > 1 and hasattr(os, "sched_setaffinity"):
        ours = sorted(os.sched_getaffinity(0))
        mine = ours[int(worker[2:]) % len(ours) :: count]
        os.sched_setaffinity(0, mine)
    config.pluginmanager.register(_BeforeFixturesEnd())
    skip_without_links()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing is fetched or built before the first test."""
    with nothing_starts():
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Modules and tests stay until the end: a collection need not look at them each time, which
    took a quarter of the processor's time."""
    gc.collect()
    collecting.freeze()


_steps = collecting.Steps()


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    """As in the program, on the main thread only: a widget of an earlier test that is collected on
    an engine's thread ends the process."""
    _steps.step()


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@pytest.fixture(scope="session")
def qapp() -> QApplication:
    application = make_application()
    if os.environ[languages.VARIABLE] != "en":
        # also for tests that open no program
        languages.use_language(application, "")
    return application


@pytest.fixture(scope="session")
def loop(qapp: QApplication) -> Iterator[asyncio.AbstractEventLoop]:
    loop = qasync.QEventLoop(qapp, already_running=False)
    asyncio.set_event_loop(loop)
    _loops.append(loop)
    yield loop
    _loops.clear()
    loop.close()
    asyncio.set_event_loop(None)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    loop = pyfuncitem.funcargs["loop"]
    assert isinstance(loop, asyncio.AbstractEventLoop)
    names = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    work: Coroutine[Any, Any, None] = pyfuncitem.obj(**arguments)
    proof = pyfuncitem.get_closest_marker("proof") is not None
    limit = PROOF_SECONDS if proof else TEST_SECONDS
    loop.run_until_complete(asyncio.wait_for(work, limit))
    return True


# pytest-qt handles Qt's events before fixtures end and after: they go on with tasks that are left,
# which need a running loop

_loops: list[asyncio.AbstractEventLoop] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None, None, None]:
    for loop in _loops:
        _set_running_loop(loop)
    try:
        return (yield)
    finally:
        _set_running_loop(None)


class _BeforeFixturesEnd:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        # they run the loop themselves
        _set_running_loop(None)


@pytest.fixture(autouse=True)
def no_tasks_left() -> Iterator[None]:
    """Cancel the tasks that are left, after all other fixtures, as `asyncio.run` does."""
    before = {loop: asyncio.all_tasks(loop) for loop in _loops}
    yield
    for loop in _loops:
        left = asyncio.all_tasks(loop) - before.get(loop, set())
        for one in left:
            one.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=PATIENCE))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not isinstance(item, pytest.Function) or "loop" in item.fixturenames:
            continue
        if inspect.iscoroutinefunction(item.obj):
            item.fixturenames.append("loop")


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> PatientBot:
    """pytest-qt's, with our patience."""
    return PatientBot(request)


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program does does not depend on what else the computer does."""
    unhurried(monkeypatch)


@pytest.fixture(autouse=True)
def plenty_of_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine for tests may have a small disk; what happens then has its own tests."""
    free_disk(monkeypatch, 1 << 40)


class _NoLock:
    def take(self) -> None:
        pass

    drop = take


@pytest.fixture(autouse=True)
def may_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test keeps this computer awake, or starts a program for it at each reply."""
    monkeypatch.setattr(awake, "make_wake_lock", lambda _why: _NoLock())


@pytest.fixture(autouse=True)
def only_our_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other programs have none here, whatever this computer has."""
    monkeypatch.setattr(
        "headstart.chat.services.default_places",
        lambda cache: [ModelFolder(ModelSource.HUGGING_FACE, cache)],
    )


@pytest.fixture(autouse=True, scope="session")
def nothing_is_fetched() -> Iterator[None]:
    """Tests run on what the set-up installed."""
    with no_clients():
        yield


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture(scope="session")
def starter() -> ModelRef:
    model = starter_model()
    assert model is not None, "the set-up installs the starter model"
    return model


@pytest.fixture(scope="session")
def shallow(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> ModelRef:
    """The starter model without most of its layers: for what does not depend on its words."""
    path = tmp_path_factory.mktemp("shallow") / starter.path.name
    return open_model(drop_layers(starter.path, path, range(4, 26)))


@pytest.fixture
def shallow_starter(
    request: pytest.FixtureRequest, shallow: ModelRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program has the shallow model as its starter model, which reads and writes in less time;
    tests that need its words say so."""
    if request.node.get_closest_marker("words") is not None:
        return
    for module in (library, checked):
        monkeypatch.setattr(module, "starter_model", lambda: shallow)


@pytest.fixture
def logged(home: Home) -> Iterator[None]:
    """The program's own log, as `run` begins it, and taken away again."""
    root = logging.getLogger("headstart")
    before = list(root.handlers)
    start_logging(home, debug=True)
    yield
    for handler in [one for one in root.handlers if one not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(logging.NOTSET)


OpenApp = Callable[..., Any]


class _Records(logging.Handler):
    """What the program logs as a warning or worse, from whatever thread."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append(record)


@pytest.fixture(autouse=True)
def no_unexpected_logs(request: pytest.FixtureRequest) -> Iterator[None]:
    """A warning in the log that no test expects is a failure. `logs(TEXT, ...)` marks those that
    are expected: each begins with one of the texts."""
    marker = request.node.get_closest_marker("logs")
    expected = () if marker is None else tuple(str(text) for text in marker.args)
    records, root = _Records(), logging.getLogger("headstart")
    root.addHandler(records)
    try:
        yield
    finally:
        root.removeHandler(records)
    unexpected = [
        f"{record.levelname} {record.name}: {record.getMessage()}"
        for record in records.seen
        if not record.getMessage().startswith(expected or ("\0",))
    ]
    assert not unexpected, unexpected


@pytest.fixture
def running(loop: asyncio.AbstractEventLoop, home: Home) -> OpenApp:
    """`async with running() as app`: the whole program, window shown, closed at the end; `safe` as
    with `--safe`."""

    @asynccontextmanager
    async def start(at: Home = home, safe: bool = False) -> AsyncIterator[App]:
        app = await open_app(at, safe=safe, asked=safe)
        app.window.show()
        await app.storage.ready()
        await app.controllers.settle()
        try:
            yield app
        finally:
            await close_app(app)
            app.window.deleteLater()

    return start
