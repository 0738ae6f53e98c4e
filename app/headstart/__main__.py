"""The command line: `headstart [--home DIR] [--model FILE] [--new-chat] [FILE...]`, and
`headstart import`, `headstart export` and `headstart serve`, which need no window."""

from headstart import own_path  # noqa: F401

# isort: split
import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from headstart import __version__
from headstart.core import reentry
from headstart.core.files import typed_path
from headstart.core.output import plain_output


def main(arguments: Sequence[str] | None = None) -> int:
    plain_output()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if _command(given):
        if "serve" in given[:3]:
            from headstart.serve import main as serve

            return serve(given)
        from headstart.terminal import main as run_command

        return run_command(given)
    options = _parse(given)
    if options.probe_model is not None:
        from headstart.engine.backends.trial.probe import child_main

        return child_main(Path(options.probe_model[0]), options.probe_model[1])
    if options.read_file:
        from headstart.extraction.child import main as read_file

        return read_file()
    if options.read_files:
        from headstart.extraction.pieces_child import main as read_files

        return read_files()
    if options.tool_host:
        from headstart.tools.host import main as host_tools

        return host_tools()
    demo = options.demo or _no_screen()
    if demo:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from headstart.core.started_with import MOST_FILES, StartedWith
    from headstart.home import Home
    from headstart.launch import Start, run

    if demo:
        from headstart.demo import FOLDER, run_demo

        home = Home(options.home or FOLDER / "home")
        model = _whole(options.model)
        reentry.enter_folder()
        started = StartedWith(new_chat=bool(model))
        script = partial(run_demo, model=model)
        return run(home, Start(started, options.debug, script=script))
    home = Home(options.home) if options.home else Home.default()
    files = tuple(str(path.absolute()) for path in options.files)
    if len(files) > MOST_FILES:
        print(f"headstart: only the first {MOST_FILES:,} files are taken", file=sys.stderr)
    started = StartedWith(files[:MOST_FILES], _whole(options.model), options.new_chat)
    reentry.enter_folder()
    return run(home, Start(started, options.debug, options.safe))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="headstart", description="Chat with language models on your own computer."
    )
    parser.add_argument("--version", action="version", version=f"Headstart {__version__}")
    parser.add_argument(
        "--home",
        type=typed_path,
        metavar="DIR",
        help="keep chats, settings and logs in this folder",
    )
    parser.add_argument(
        "--model", metavar="FILE", help="open this GGUF model and use it for new chats"
    )
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="a model, or conversations to import"
    )
    parser.add_argument("--new-chat", action="store_true", help="begin a new chat")
    parser.add_argument(
        "--safe",
        action="store_true",
        help="open no chat, load no model and begin nothing until you ask for it",
    )
    parser.add_argument("--debug", action="store_true", help="log everything, also to the terminal")
    parser.add_argument(
        "--demo", action="store_true", help="ask one question offscreen, write demo/, and end"
    )
    parser.add_argument("--probe-model", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--read-file", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--read-files", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--tool-host", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _command(arguments: Sequence[str]) -> bool:
    """True for a command without a window; `--home DIR` may precede it."""
    rest = list(arguments)
    while rest and rest[0].startswith("--home"):
        rest = rest[1:] if "=" in rest[0] else rest[2:]
    return bool(rest) and rest[0] in ("import", "export", "serve")


def _whole(text: str | None) -> str:
    return "" if text is None else str(typed_path(text))


def _no_screen() -> bool:
    return (
        sys.platform == "linux"
        and not os.environ.get("DISPLAY")
        and not os.environ.get("WAYLAND_DISPLAY")
        and not os.environ.get("QT_QPA_PLATFORM")
    )


if __name__ == "__main__":
    sys.exit(main())
