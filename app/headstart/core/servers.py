"""Servers that answer instead of this computer, as values: connections, their models, and the
parameters of each kind of server. Pure.

Text leaves the computer this way; `Connection.allowed` is the user's consent.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Literal
from urllib.parse import SplitResult, urlsplit, urlunsplit

from msgspec import Meta, Struct

from headstart.core.errors import EnvironmentProblem

ServerKind = Literal["", "llama.cpp", "llama-cpp-python", "vllm", "sglang", "lmstudio", "ollama"]

# servers that report how likely a given text is, and so can verify drafts: in a chat whose last
# reply has begun, or in a prompt as text
CHECKS_CHATS: frozenset[ServerKind] = frozenset(("vllm",))
CHECKS_TEXT: frozenset[ServerKind] = frozenset(("sglang", "llama-cpp-python"))

_PREFIX = "server:"
_HOST_NAME = re.compile(r"[A-Za-z0-9_.-]{1,253}")
_NUMBERS = re.compile(r"[0-9.]+")
# parameters that every server with this API accepts
STANDARD = frozenset(("temperature", "top_p", "max_tokens", "seed", "stop", "presence_penalty"))
# further settings by kind, and the server's names for them
_FURTHER: dict[ServerKind, dict[str, str]] = {
    "llama.cpp": {"top_k": "top_k", "min_p": "min_p", "repeat_penalty": "repeat_penalty"},
    "llama-cpp-python": {"top_k": "top_k", "min_p": "min_p", "repeat_penalty": "repeat_penalty"},
    "vllm": {"top_k": "top_k", "min_p": "min_p", "repeat_penalty": "repetition_penalty"},
    "sglang": {"top_k": "top_k", "min_p": "min_p", "repeat_penalty": "repetition_penalty"},
    "lmstudio": {"top_k": "top_k", "repeat_penalty": "repeat_penalty"},
}


class Connection(Struct, frozen=True):
    """A server that the user added. Its key is in the system's keychain, not here."""

    id: Annotated[str, Meta(max_length=64)]
    name: Annotated[str, Meta(max_length=100)]
    url: Annotated[str, Meta(min_length=1, max_length=2000)]
    # a file with the certificate that signed the server's; empty: the system's trust
    certificate: Annotated[str, Meta(max_length=4000)] = ""
    # seconds of silence before giving up; ten times as many before the first output, because long
    # prompts are prefilled silently
    timeout: Annotated[int, Meta(ge=1, le=3600)] = 60
    # the user agreed to send text there
    allowed: bool = False
    # facts from its list of models
    kind: ServerKind = ""
    # whether the keychain has a key for this address
    has_key: bool = False
    # it accepts the text being edited as a prediction of the reply
    predictions: bool = False

    @property
    def account(self) -> str:
        """The key's name in the keychain: with the address, so that no other server gets it."""
        parts = urlsplit(self.url)
        return f"{self.id} {parts.scheme}://{parts.netloc}"

    @property
    def host(self) -> str:
        """Host that receives the text, for display: a name or address, with the port if there is
        one."""
        return urlsplit(self.url).netloc.rpartition("@")[2] or self.url

    @property
    def is_here(self) -> bool:
        """True if another program on this computer answers."""
        name = urlsplit(self.url).hostname or ""
        if name in ("localhost", "localhost.localdomain") or name.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False


# programs that serve models on this computer: their name and port
LOCAL_PROGRAMS: tuple[tuple[str, int], ...] = (
    ("Ollama", 11434),
    ("LM Studio", 1234),
    ("llama.cpp", 8080),
    # for later versions
    ("llama.cpp", 9931),
    ("vLLM", 8000),
    ("Jan", 1337),
    ("KoboldCpp", 5001),
)
# display name of a program that answers at an unusual port
PROGRAM_NAMES: dict[ServerKind, str] = {
    "llama.cpp": "llama.cpp",
    "llama-cpp-python": "llama-cpp-python",
    "vllm": "vLLM",
    "sglang": "SGLang",
    "lmstudio": "LM Studio",
    "ollama": "Ollama",
}


class Nearby(Struct, frozen=True):
    """A program found on this computer that could be added; the number of its models."""

    connection: Connection
    models: int


class ServerModel(Struct, frozen=True):
    """A model that a server offers. `id` is the server's name for it."""

    connection: Connection
    id: str
    # tokens; 0 if the server does not say
    context_length: int = 0

    @property
    def key(self) -> str:
        return server_key(self.connection.id, self.id)

    @property
    def name(self) -> str:
        return self.id.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".gguf")

    @property
    def host(self) -> str:
        return self.connection.host

    @property
    def is_here(self) -> bool:
        return self.connection.is_here

    @property
    def checks_drafts(self) -> bool:
        """True if its server reports how likely given text is."""
        return self.connection.kind in CHECKS_CHATS or self.checks_text

    @property
    def checks_text(self) -> bool:
        """True if that requires the chat as text, with its template."""
        return self.connection.kind in CHECKS_TEXT

    @property
    def settings_taken(self) -> frozenset[str] | None:
        """The sampling settings that it accepts, by name."""
        return frozenset((*parameter_names(self.connection.kind), "schema"))


def server_key(connection_id: str, model_id: str) -> str:
    """Key of a server's model in chats and settings; file paths are absolute and differ."""
    return f"{_PREFIX}{connection_id}:{model_id}"


def split_key(key: str) -> tuple[str, str] | None:
    """The ids of the connection and the model; None if the key is not a server's."""
    if not key.startswith(_PREFIX):
        return None
    connection, _, model = key.removeprefix(_PREFIX).partition(":")
    return connection, model


def parameter_names(kind: ServerKind) -> dict[str, str]:
    """Sampling settings that such a server accepts, and its names for them."""
    return {**{name: name for name in STANDARD}, **_FURTHER.get(kind, {})}


def normal_url(text: str) -> str:
    """A typed address as a base URL for requests; raises EnvironmentProblem.

    Without a scheme it is http for addresses and names in the local network, https otherwise;
    without a path it gets /v1, where nearly all servers answer.
    """
    typed = text.strip().rstrip("/")
    if "://" not in typed:
        typed = f"{'http' if _is_near(typed) else 'https'}://{typed}"
    try:
        parts = urlsplit(typed)
        host, _port = parts.hostname, parts.port
    except ValueError:
        host, parts = None, SplitResult("", "", "", "", "")
    if not host or parts.scheme not in ("http", "https") or not _is_host(host):
        raise EnvironmentProblem("not-an-address", text=text.strip())
    if parts.username or parts.password:
        raise EnvironmentProblem("address-with-password")
    path = parts.path.removesuffix("/chat/completions").rstrip("/") or "/v1"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _is_host(host: str) -> bool:
    """True for a valid name or address; dotted numbers must be a valid address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        try:
            name = host.encode("idna").decode("ascii")
        except UnicodeError:
            return False
        return bool(_HOST_NAME.fullmatch(name)) and not _NUMBERS.fullmatch(name)
    return True


def _is_near(address: str) -> bool:
    host = address.partition("/")[0].rpartition("@")[2].partition(":")[0]
    return "." not in host or host.replace(".", "").isdigit() or host.endswith((".local", ".lan"))
