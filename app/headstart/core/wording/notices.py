"""News for the user, other than errors."""

from __future__ import annotations

NOTICES: dict[str, str] = {
    "template-fallback": "{name}: {problem:message}; {form:message}.",
    "model-file-changed": "The file of {name} has changed since it was loaded. Loading it again.",
    "model-file-written-over": (
        "The file of {name} was written over during this reply: its end may be nonsense."
    ),
    "model-lacks-cutting": (
        "{name} cannot take tokens back here: nothing is drafted, and an edited chat is processed "
        "from its beginning."
    ),
    "model-lacks-prefixes": (
        "The state of {name} cannot be kept here: its chats are processed again after a switch or "
        "a restart."
    ),
    "model-lacks-trees": "{name} drafts without branches here.",
    "not-exact": (
        "{name} is not exact on this computer: numbers differ by up to {gap:.2g} when several are "
        "computed at once. Nothing is drafted for it while “Exact” is on."
    ),
    "gpu-fewer-layers": (
        "There was less room on the graphics card than it said: {layers:n layer|layers} of {name} "
        "are there, the processor computes the others."
    ),
    "memory-tight": (
        "{name} needs {need:size} of memory, and {free:size} is free: other programs may become "
        "slow while it is loaded."
    ),
    "context-nearly-full-stop": (
        "This chat uses {used:,} of the model's {size:,} tokens. When it is full, replies stop."
    ),
    "context-nearly-full-drop": (
        "This chat uses {used:,} of the model's {size:,} tokens. When it is full, the oldest turns "
        "are left out."
    ),
    # shown by the system to who asks what keeps the computer awake
    "awake": "Headstart is writing a reply or downloading a model",
    "context-dropped": (
        "The context is full: the {dropped:n oldest turn is|oldest turns are} left out of what the "
        "model reads. The system prompt stays, and nothing is deleted here."
    ),
    "tool-time": (
        "The model and its tools have worked for {minutes:n minute|minutes} on this reply. "
        "Continue lets them go on."
    ),
    "tool-steps": "The model called tools {steps} times in this reply. Continue lets it go on.",
    "server-retry": "{problem:message} Trying again in {seconds:n second|seconds}.",
    "server-takes-less": "{host} does not take {settings}.",
    "server-left-out": "{host} left out a part of the reply.",
    "server-stopped-checking": (
        "{host} no longer checks drafts. Replies go on without them, as fast as it writes."
    ),
    "server-draft-failed": (
        "The draft for the server's model cannot write: {problem} Replies go on without it."
    ),
    "draft-unusable": (
        "The draft {draft} cannot be used with {model}: {problem:text} Replies are written without "
        "it."
    ),
    "draft-let-go": (
        "The draft {draft} does not make {model} faster here, and memory is short: it was "
        "unloaded. “Calibrate” under “Drafting: details” tries it again."
    ),
    "died-loading": (
        "Headstart ended unexpectedly while loading {model}. Nothing is loaded or prefilled until "
        "you send a message."
    ),
    "died-prefilling": (
        "Headstart ended unexpectedly while {model} was processing a chat. Nothing is loaded or "
        "prefilled until you send a message."
    ),
    "died-writing": (
        "Headstart ended unexpectedly while {model} was writing a reply. Nothing is loaded or "
        "prefilled until you send a message."
    ),
    "died": "Headstart ended unexpectedly the last time. Your chats are as they were.",
    "newer-version": "Headstart {version} is out.",
    "no-newer-version": "This is the newest version.",
    "updated": "Headstart is now version {version}.",
    "safe-asked": (
        "Started with --safe: no chat was opened, and nothing is loaded or prefilled until you "
        "send a message. Folders, the mirror, servers and downloads wait until you begin them."
    ),
    "safe-mode": (
        "Headstart failed to start twice, so it started in safe mode: no chat was "
        "opened, and nothing is loaded or prefilled until you send a message. Folders, the mirror, "
        "servers and downloads wait until you begin them."
    ),
    "held-folder": (
        "The folder “{name}” is not looked at: Headstart was reading it when it ended last time."
    ),
    "held-folder-at": (
        "The folder “{name}” is not looked at: Headstart was reading {file} in it when it ended "
        "last time."
    ),
    "held-mirror": (
        "The mirror in “{name}” is not written: Headstart was writing it when it ended last time."
    ),
    "held-server": (
        "The server for other programs is not opened: Headstart was opening it when it ended last "
        "time."
    ),
    "held-tool-server": (
        "The tool server “{name}” is not started: Headstart was starting it when it ended last "
        "time."
    ),
    "held-download": (
        "The download of “{name}” is not resumed: Headstart was resuming it when it ended last "
        "time."
    ),
    "held-safe": "In safe mode this begins only when you ask for it.",
    "engine-restarted": (
        "The engine did not answer any more and was started again. The text so far is kept; the "
        "model is loaded again with the next message."
    ),
    "database-salvaged": (
        "The chat database could not be used as it was: {problem:message}. "
        "{messages:n message|messages} in {chats:n chat|chats} could be read."
    ),
    "salvage-finished": (
        "The chat database was damaged, and the program ended while it was saved. Everything "
        "that could be read is here; the damaged file is beside it."
    ),
    "salvaged-from-copies": "{count:n message|messages} came from a copy in backups.",
    "salvaged-with-damage": (
        "{count:n text lost something and is|texts lost something and are} marked."
    ),
    "salvaged-loose-text": "Loose text was put into the chat “{title}”.",
    "salvage-missing": "{count:n message|messages} could not be found.",
    "damaged-file-kept": "The damaged file was kept as {name}.",
    "damaged-file-left": "The damaged file was left as it is.",
    "replies-interrupted": (
        "{count:n reply was|replies were} interrupted when the program ended; what was written is "
        "kept, and can be continued."
    ),
    "gain": "{times:.1f}× faster",
    "own-layers": "Own layers",
    "time-seconds": "{seconds} s",
    "time-minutes": "{minutes} min",
    "time-hours": "{hours} h {minutes}",
    "time-days": "{days:n day|days}",
    "age-today": "today",
    "age-days": "{count:n day|days} ago",
    "age-weeks": "{count:n week|weeks} ago",
    "age-months": "{count:n month|months} ago",
    "age-years": "{count:n year|years} ago",
}
