"""Where a packaged program begins."""

from __future__ import annotations

import multiprocessing
import os
import sys


def main() -> int:
    # what this program starts (a browser, a file manager) needs the system's libraries, not ours
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        before = os.environ.pop(f"{name}_ORIG", None)
        if before is not None:
            os.environ[name] = before
        else:
            os.environ.pop(name, None)
    from headstart.__main__ import main as run

    return run()


if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
