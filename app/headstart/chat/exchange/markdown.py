"""A chat as Markdown: front matter, then every message of the active branch, words untouched.

Only the message headings are ours; code, HTML-like text and LaTeX stay as they were written.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path

from headstart.core.errors import EnvironmentProblem
from headstart.core.files import write_whole
from headstart.core.parts import ReasoningPart, WrittenPart, label
from headstart.core.values import Chat, Message, MessageStatus, Role

_HEADINGS = {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.SYSTEM: "System"}
_ENDINGS = {
    MessageStatus.INTERRUPTED: "interrupted",
    MessageStatus.STOPPED: "stopped",
    MessageStatus.FAILED: "failed",
    MessageStatus.OPEN: "being written",
}


def to_markdown(chat: Chat, branch: Sequence[Message], system_prompt: str = "") -> str:
    """The whole document, ending in one line break."""
    models = sorted({message.author for message in branch if message.model})
    front = [
        "---",
        f"title: {json.dumps(chat.title, ensure_ascii=False)}",
        f"date: {_iso(chat.created_at)}",
    ]
    if models:
        front.append(f"model: {json.dumps(', '.join(models), ensure_ascii=False)}")
    blocks = ["\n".join([*front, "---"])]
    if system_prompt.strip():
        blocks.append(f"## System\n\n{system_prompt.strip()}")
    blocks.extend(_message(message) for message in branch)
    return "\n\n".join(blocks) + "\n"


def _message(message: Message) -> str:
    heading = f"## {_HEADINGS[message.role]}"
    ending = _ENDINGS.get(message.status) if message.role is Role.ASSISTANT else None
    if ending:
        heading += f" ({ending})"
    pieces = [heading]
    for part in message.parts:
        text = part.text.strip("\n")
        if isinstance(part, ReasoningPart):
            text = f"<details>\n<summary>Reasoning</summary>\n\n{text}\n\n</details>"
        elif not isinstance(part, WrittenPart):
            text = f"> **{label(part)}**" + (f"\n\n{_fenced(text)}" if text else "")
        pieces.append(text)
    return "\n\n".join(piece for piece in pieces if piece)


def _fenced(text: str) -> str:
    """Text as a block that none of its own lines can end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _iso(milliseconds: int) -> str:
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC).astimezone()
    return moment.isoformat(timespec="seconds")


def write_file(path: Path, text: str) -> None:
    """Write `text` to `path`: complete, or not there. Raises EnvironmentProblem."""
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise EnvironmentProblem(
            "file-not-written", path=path, reason=error.strerror or error, quotes=True
        ) from error
