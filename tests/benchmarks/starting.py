"""Looks at the program while it starts: `launch.run` with something to do before a database opens.

Imported before everything else, as the program imports it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from headstart import launch
from headstart.assembly import App, database_opens
from headstart.home import Home


def run_watched(
    home: Path, watch: Callable[[App], None], script: Callable[[App], Awaitable[int]]
) -> int:
    """`watch` gets the program when its window was shown, `script` when it has settled."""

    async def opens(app: App) -> str:
        watch(app)
        return await database_opens(app)

    launch.database_opens = opens  # type: ignore[attr-defined]
    return launch.run(Home(home), launch.Start(script=script))
