"""A request that this server cannot answer. Pure."""

from __future__ import annotations


class Declined(Exception):
    """`status` is HTTP's; `kind` and `code` are words that programs compare, `param` the field.

    The kinds are those of Anthropic's dialect; OpenAI's has names of its own for two of them.
    """

    def __init__(
        self, message: str, *, status: int = 400, kind: str = "", code: str = "", param: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind or _KINDS.get(status, "api_error")
        self.code = code
        self.param = param


_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}
# the words by which programs know that the talk is too long, and shorten it
TOO_LONG = "context_length_exceeded"


def too_long(tokens: int, most: int, size: int) -> Declined:
    """A prompt that leaves no room: with the words that each program looks for."""
    message = (
        f"prompt is too long: {tokens} tokens > {most} maximum. This model's maximum context "
        f"length is {size} tokens, and the reply needs a part of it."
    )
    return Declined(message, code=TOO_LONG, param="messages")
