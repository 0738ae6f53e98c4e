"""Wine says that it made a symbolic link and makes none: refuse, as Windows does to most users."""

import os


def _refused(*_args: object, **_named: object) -> None:
    raise OSError(22, "A required privilege is not held by the client", None, 1314)


os.symlink = _refused
