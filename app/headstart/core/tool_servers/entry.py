"""An entry for a tool server: the command that starts it, or its address. Pure.

Values of secret variables are in the system's keychain, not here. An approval belongs to the
`surroundings` of an entry: another command, address, working folder or variable asks again.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
import shlex
import sys
from collections.abc import Iterable
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from headstart.core.errors import EnvironmentProblem

# characters of a name that stands before the names of its tools
PREFIX = 20
_NAME_OF_VARIABLE = re.compile(r"[^=\x00-\x1f\x7f]{1,200}")
_NAME_OF_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_SECRET = re.compile(
    r"key|token|secret|passw|auth|credential|cookie|private|\bpat\b|_pat$|dsn|connection"
    r"|_ur[il]$|headers?$",
    re.IGNORECASE,
)
# values that are secrets whatever their name is: what services give out, and addresses with a
# password
_SECRET_VALUE = re.compile(
    r"\bBearer\s|://[^/\s:@]*:[^/\s@]+@|api_?key=|token="
    r"|\b(sk|ghp|gho|github_pat|ntn|sbp|glpat|xox[abp]|lin_api|hf|AKIA|AIza)[-_A-Za-z0-9]{8}",
    re.IGNORECASE,
)

Text = Annotated[str, Meta(max_length=20_000)]


class Variable(Struct, frozen=True):
    """A variable of a server's environment, or a header; the value of a secret is "" here.
    `changes`: how often the value of a secret was replaced by another one."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    value: Text = ""
    secret: bool = False
    changes: Annotated[int, Meta(ge=0)] = 0


class ToolServer(Struct, frozen=True):
    """A server that the user added: with `command` a program that is started, with `url` one that
    answers at an address."""

    id: Annotated[str, Meta(max_length=64)]
    name: Annotated[str, Meta(max_length=100)]
    # stands before the names of its tools; stays when the name changes, so that prompts do
    prefix: Annotated[str, Meta(max_length=PREFIX, pattern="^[A-Za-z0-9_-]*$")] = ""
    command: Text = ""
    arguments: tuple[Text, ...] = ()
    # working folder; "" for the user's home
    folder: Text = ""
    environment: tuple[Variable, ...] = ()
    url: Annotated[str, Meta(max_length=2_000)] = ""
    headers: tuple[Variable, ...] = ()
    # tools that no model is offered
    off: tuple[Annotated[str, Meta(max_length=200)], ...] = ()
    # offer three tools that search, describe and call, in place of all tools
    brief: bool = False

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The environment of a command, the headers of an address."""
        return self.headers if self.url else self.environment

    @property
    def binding(self) -> str:
        """A digest of what is started or asked."""
        target = [self.url] if self.url else [self.command, *self.arguments, self.folder]
        data = json.dumps(target).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=16).hexdigest()

    @property
    def surroundings(self) -> str:
        """A digest of what is started or asked, with its variables; the binding where there are
        none."""
        if not self.variables:
            return self.binding
        found = sorted((one.name, one.value, one.secret, one.changes) for one in self.variables)
        data = json.dumps([self.binding, found]).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=16).hexdigest()

    @property
    def as_text(self) -> str:
        """The entry as it is compared: a value a line, of secrets the name."""
        lines = [self.target, *([f"folder: {self.folder}"] if self.folder else [])]
        for one in sorted(self.variables, key=lambda each: each.name):
            hidden = f"••• ({one.changes + 1})" if one.changes else "•••"
            lines.append(f"{one.name}={hidden if one.secret else one.value}")
        return "\n".join(lines)

    @property
    def account(self) -> str:
        """The name of its secrets in the keychain: another command or address gets none."""
        return f"tools {self.id} {self.binding}"

    @property
    def target(self) -> str:
        """The whole command as one would type it, or the address."""
        return self.url or shlex.join([self.command, *self.arguments])

    @property
    def host(self) -> str:
        """The other computer that gets the arguments of calls; "" for this one."""
        if not self.url:
            return ""
        parts = urlsplit(self.url)
        name = parts.hostname or ""
        if name == "localhost":
            return ""
        try:
            if ipaddress.ip_address(name).is_loopback:
                return ""
        except ValueError:
            pass
        return parts.netloc.rpartition("@")[2] or self.url


class ToolApproval(Struct, frozen=True):
    """A tool that may be called without asking, while its server and its definition stay the
    same; `key` is a digest of both."""

    server: Annotated[str, Meta(max_length=64)]
    tool: Annotated[str, Meta(max_length=200)]
    key: Annotated[str, Meta(max_length=64)]


def approval_key(surroundings: str, definition: str) -> str:
    """The key of an approval: digests of what is started or asked with which variables, and of the
    tool's definition."""
    return hashlib.blake2b(f"{surroundings} {definition}".encode(), digest_size=16).hexdigest()


def looks_secret(name: str, value: str = "") -> bool:
    """True for names of variables that mostly hold secrets, and for values that look like one."""
    return bool(_SECRET.search(name) or _SECRET_VALUE.search(value))


def check_entry(server: ToolServer) -> None:
    """Raise EnvironmentProblem for an entry that cannot be started or asked."""
    if bool(server.command.strip()) == bool(server.url.strip()):
        raise EnvironmentProblem("tool-server-empty")
    if server.url:
        try:
            parts = urlsplit(server.url)
            valid = parts.scheme in ("http", "https") and bool(parts.hostname)
            _port = parts.port
        except ValueError:
            valid = False
        if not valid:
            raise EnvironmentProblem("not-an-address", text=server.url)
        if parts.username or parts.password:
            raise EnvironmentProblem("address-with-password")
    for text in (server.command, *server.arguments, server.folder):
        if "\x00" in text:
            raise EnvironmentProblem("tool-server-empty")
    try:
        msgspec.convert(msgspec.to_builtins(server), ToolServer)
    except msgspec.ValidationError:
        raise EnvironmentProblem("tool-server-too-long") from None
    pattern = _NAME_OF_HEADER if server.url else _NAME_OF_VARIABLE
    for one in server.variables:
        if not pattern.fullmatch(one.name) or "\x00" in one.value:
            raise EnvironmentProblem("tool-server-variable", name=one.name)


def prefix_for(name: str, taken: Iterable[str]) -> str:
    """A prefix made of a server's name that no other server has."""
    known = set(taken)
    base = re.sub(r"[^A-Za-z0-9-]+", "_", name).strip("_-")[:PREFIX] or "tools"
    number, found = 1, base
    while found in known:
        number += 1
        end = f"_{number}"
        found = f"{base[: PREFIX - len(end)]}{end}"
    return found


def split_command(text: str) -> tuple[str, tuple[str, ...]]:
    """A typed command line as a program and its arguments, by the rules of the system; raises
    EnvironmentProblem."""
    try:
        words = windows_words(text) if sys.platform == "win32" else shlex.split(text)
    except ValueError:
        raise EnvironmentProblem("tool-command-quotes") from None
    if not words:
        raise EnvironmentProblem("tool-server-empty")
    return words[0], tuple(words[1:])


def windows_words(text: str) -> list[str]:
    """The words of a command line as Microsoft's C library takes them: a backslash is part of a
    path unless it stands before a quotation mark, and marks may begin in the middle of a word.
    Raises ValueError for a mark without an end."""
    words: list[str] = []
    word, begun, quoted, at = "", False, False, 0
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            count = len(text[at:]) - len(text[at:].lstrip("\\"))
            at += count
            begun = True
            if text[at : at + 1] != '"':
                word += "\\" * count
                continue
            word += "\\" * (count // 2)
            if count % 2:
                word, at = word + '"', at + 1
            continue
        if sign == '"':
            begun = True
            if quoted and text[at + 1 : at + 2] == '"':
                word, at = word + '"', at + 1
            else:
                quoted = not quoted
        elif sign in " \t\n" and not quoted:
            if begun:
                words.append(word)
            word, begun = "", False
        else:
            word, begun = word + sign, True
        at += 1
    if quoted:
        raise ValueError("a quotation mark without an end")
    return [*words, word] if begun else words
