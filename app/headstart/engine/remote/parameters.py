"""A chat's sampling parameters in a server's form, reduced where the server refuses some. Pure."""

from __future__ import annotations

import re
from typing import Any

from headstart.core.requests import RemoteRequest
from headstart.core.servers import parameter_names
from headstart.engine.remote.messages import response_format, tool_parameters
from headstart.engine.remote.prediction import edited_text

# servers' words for an unknown setting
_REFUSED = re.compile(
    r"unsupported|not supported|unknown|unrecognized|unexpected|extra|not permitted|not allowed"
    r"|does not support",
    re.IGNORECASE,
)


class Parameters:
    """A reply's parameters. Raises EnvironmentProblem for an invalid answer format."""

    def __init__(self, request: RemoteRequest) -> None:
        self._request = request
        self._chosen = self._choose()
        # true if the stats are requested at the end of a stream
        self.with_usage = True

    def left(self, tokens: int) -> dict[str, Any]:
        """The parameters for the rest of a reply after `tokens` tokens."""
        limit = self._request.sampling.max_tokens
        more = {
            name: max(1, limit - tokens)
            for name in ("max_tokens", "max_completion_tokens")
            if limit and tokens and name in self._chosen
        }
        return self._chosen | more

    def give_way(self, error: Any) -> list[str] | None:
        """Drop the settings that the server refuses in its answer `error`; returns those to report
        to the user, None if it names none."""
        said, named = f"{error.message} {error.body}", getattr(error, "param", None)
        if self.with_usage and "stream_options" in said:
            self.with_usage = False
            return []
        if "prediction" in self._chosen and "prediction" in f"{said} {named}":
            # some servers take no limits and no penalties with it: it is the least important
            del self._chosen["prediction"]
            return ["prediction"]
        if named is None and not _REFUSED.search(said):
            # the problem is a value, or the length of the chat, not the setting itself
            return None
        if "max_completion_tokens" in said and "max_tokens" in self._chosen:
            self._chosen["max_completion_tokens"] = self._chosen.pop("max_tokens")
            return []
        refused = [
            name
            for name in self._chosen
            if name == named or (named is None and re.search(rf"\b{name}\b", said))
        ]
        for name in refused:
            del self._chosen[name]
        return refused or None

    def _choose(self) -> dict[str, Any]:
        """The chat's sampling under this server's parameter names."""
        sampling, kind = self._request.sampling, self._request.model.connection.kind
        names = parameter_names(kind)
        chosen: dict[str, Any] = {names[name]: getattr(sampling, name) for name in names}
        for name in ("seed", "max_tokens", "stop", "presence_penalty"):
            if not chosen.get(name):
                chosen.pop(name, None)
        if sampling.seed == 0:
            chosen["seed"] = 0
        if chosen.get("top_k") == 0:
            # off is -1 for some servers, and 0 for the others
            chosen["top_k"] = -1 if kind in ("vllm", "sglang") else 0
        if "stop" in chosen:
            chosen["stop"] = list(sampling.stop)
        predicted = ""
        if self._request.model.connection.predictions and not self._request.reply_so_far:
            predicted = edited_text(self._request.messages)
        if predicted:
            chosen["prediction"] = {"type": "content", "content": predicted}
        if sampling.schema:
            chosen["response_format"] = response_format(sampling.schema, kind)
        if self._request.tools.specs:
            chosen |= tool_parameters(self._request.tools)
        return chosen
