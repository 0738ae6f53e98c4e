"""Files in which other programs on this computer keep their tool servers. Any thread."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from headstart.core.errors import EnvironmentProblem
from headstart.core.tool_servers.imports import FoundServers, read_config

log = logging.getLogger(__name__)

_MOST = 4 << 20


class FoundConfig(Struct, frozen=True):
    """A file of another program with entries for tool servers."""

    program: str
    path: Path
    found: FoundServers


def known_places(
    home: Path, environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> Iterator[tuple[str, Path]]:
    """Programs and the files in which they keep servers."""
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    data = config
    if platform == "darwin":
        data = home / "Library/Application Support"
    elif platform == "win32":
        data = Path(environment.get("APPDATA") or home / "AppData/Roaming")
    yield "Claude Desktop", data / "Claude/claude_desktop_config.json"
    yield "Claude Code", home / ".claude.json"
    yield "Cursor", home / ".cursor/mcp.json"
    yield "LM Studio", home / ".lmstudio/mcp.json"
    yield "LM Studio", home / ".cache/lm-studio/mcp.json"
    yield "VS Code", data / "Code/User/mcp.json"
    yield "VS Code", data / "Code/User/settings.json"
    yield "Zed", (data if platform == "win32" else config) / "zed/settings.json"
    yield "Codex", Path(environment.get("CODEX_HOME") or home / ".codex") / "config.toml"
    yield "OpenCode", config / "opencode/opencode.json"
    yield "OpenCode", config / "opencode/opencode.jsonc"
    yield "Windsurf", home / ".codeium/windsurf/mcp_config.json"
    cline = "globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
    yield "Cline", data / "Code/User" / cline
    yield "Cline", home / ".cline/data/settings/cline_mcp_settings.json"


def found_configs(home: Path | None = None) -> list[FoundConfig]:
    """The files of other programs that have entries; unreadable ones are left out."""
    found = []
    for program, path in known_places(home or Path.home()):
        try:
            if not path.is_file() or path.stat().st_size > _MOST:
                continue
            servers = read_config(path.read_text(encoding="utf-8", errors="replace"))
        except (OSError, EnvironmentProblem):
            continue
        found.append(FoundConfig(program, path, servers))
    return found


def read_file(path: Path) -> FoundConfig:
    """A file that the user chose. Raises EnvironmentProblem."""
    try:
        if path.stat().st_size > _MOST:
            raise EnvironmentProblem("tool-config-unreadable")
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise EnvironmentProblem("tool-config-unreadable") from error
    return FoundConfig(path.name, path, read_config(text))
