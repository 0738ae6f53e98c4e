"""OpenAI's completions: a text that goes on, without a chat template. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from headstart.core.events import TextPiece
from headstart.core.serving.request import ServedRequest
from headstart.server.dialects import fields
from headstart.server.dialects.declined import Declined
from headstart.server.dialects.reply import Answered, Ended, ReplyItems
from headstart.server.dialects.wire import DONE, comment, event, openai_error

_KNOWN = fields.names(
    "model prompt suffix stream stream_options temperature top_p top_k min_p presence_penalty "
    "repeat_penalty seed stop max_tokens n_predict echo n best_of logprobs frequency_penalty "
    "logit_bias user"
)
# the number of tokens where a program names none: this dialect's own
_TOKENS = 16


def read(body: fields.Body, session: str = "") -> ServedRequest:
    """The request in a body; raises Declined."""
    fields.refuse_several(body)
    if body.get("best_of") not in (None, 1):
        raise Declined("This server writes one text: 'best_of' must be 1.", param="best_of")
    if body.get("echo"):
        raise Declined("This server does not repeat the prompt: leave 'echo' out.", param="echo")
    if fields.text_field(body, "suffix"):
        raise Declined("This server writes at the end of a text only.", param="suffix")
    prompt = body.get("prompt")
    texts = prompt if isinstance(prompt, list) else [prompt]
    if len(texts) != 1 or not isinstance(texts[0], str):
        raise Declined("'prompt' is one text.", param="prompt")
    options = body.get("stream_options")
    given = {"max_tokens": _TOKENS, **{key: one for key, one in body.items() if one is not None}}
    return ServedRequest(
        model=fields.text_field(body, "model"),
        sampling=fields.sampling(given, ["n_predict", "max_tokens"], ["stop"]),
        streams=body.get("stream") is True,
        session=session,
        plain=fields.text_field({"prompt": texts[0]}, "prompt"),
        with_usage=isinstance(options, Mapping) and bool(options.get("include_usage")),
        ignored=fields.unknown(body, _KNOWN),
    )


class CompletionsWriter:
    """Writes one answer; reasoning is text here."""

    def __init__(self, answered: Answered) -> None:
        self._of = answered
        self._reply = ReplyItems(answered.id)

    def begin(self, prompt_tokens: int, reused: int) -> bytes:  # noqa: ARG002
        return b""

    def alive(self, done: int, total: int) -> bytes:
        return comment(f"{done} of {total} tokens" if total else "waiting")

    def take(self, pieces: Iterable[TextPiece]) -> bytes:
        return b"".join(self._chunk(piece.text) for piece in self._reply.take(pieces))

    def end(self, ended: Ended) -> bytes:
        found = self._chunk("", "length" if ended.cut else "stop")
        if self._of.request.with_usage:
            found += event({**self._head(), "choices": [], "usage": _usage(ended)})
        return found + DONE

    def fail(self, declined: Declined) -> bytes:
        return event(openai_error(declined)) + DONE

    def whole(self, pieces: Iterable[TextPiece], ended: Ended) -> dict[str, Any]:
        self._reply.take(pieces)
        text = "".join(item.text for item in self._reply.items)
        choice = {
            "index": 0,
            "text": text,
            "logprobs": None,
            "finish_reason": "length" if ended.cut else "stop",
        }
        return {
            **self._head(),
            "choices": [choice],
            "usage": _usage(ended),
            "timings": ended.timings,
            "headstart": ended.own,
        }

    def _chunk(self, text: str, finish: str | None = None) -> bytes:
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
        return event({**self._head(), "choices": [choice]})

    def _head(self) -> dict[str, Any]:
        return {
            "id": f"cmpl-{self._of.id}",
            "object": "text_completion",
            "created": self._of.created,
            "model": self._of.model,
        }


def _usage(ended: Ended) -> dict[str, Any]:
    stats = ended.stats
    return {
        "prompt_tokens": stats.prompt_tokens,
        "completion_tokens": stats.generated_tokens,
        "total_tokens": stats.prompt_tokens + stats.generated_tokens,
        "prompt_tokens_details": {"cached_tokens": stats.reused_tokens},
    }
