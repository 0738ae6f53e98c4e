"""Asks a server to score a given text: one request for a whole draft.

vLLM scores a chat whose last message is the unfinished reply. SGLang and llama-cpp-python score
only plain text, which needs the chat template; the draft's is used, and the scores of the server's
own text show whether both prompts are the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.answers import SCORES
from headstart.core.requests import RemoteRequest
from headstart.core.servers import parameter_names
from headstart.engine.remote.bounds import allowed
from headstart.engine.remote.drafting.gain import ServerGain
from headstart.engine.remote.drafting.scored import (
    CANDIDATES,
    Confirmed,
    ScoredToken,
    Unreadable,
    confirmed,
    of_echo,
    of_prompt_logprobs,
    strays,
)
from headstart.engine.remote.messages import messages_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# a check times out after this multiple of its known time, but not before this many seconds; and the
# timeout of the first check
_SILENCE, _SHORTEST, _UNKNOWN = 6.0, 3.0, 10.0


class Scorer(Struct, frozen=True):
    """Scores a chat's draft tokens. `prompt`: the chat in the draft's template; None without a
    draft."""

    client: AsyncOpenAI
    request: RemoteRequest
    gain: ServerGain
    prompt: str | None = None
    with_images: bool = True

    @property
    def possible(self) -> bool:
        model = self.request.model
        if model.checks_text:
            # the text contains nothing of images
            blind = any(message.images for message in self.request.messages)
            return self.prompt is not None and not blind
        return model.checks_drafts

    @property
    def _plain(self) -> dict[str, float]:
        """Parameters that keep a server from changing the likeliest token."""
        names = parameter_names(self.request.model.connection.kind)
        return {names["repeat_penalty"]: 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}

    async def check(
        self,
        reply: str,
        draft: str,
        tokens: int,
        limit: float | None = None,
        streamed: str = "",
    ) -> Confirmed:
        """The part of `draft` that the server confirms after `reply`; `tokens`: the draft's
        approximate length, `limit`: seconds, if no user waits. `streamed`: the end of `reply` that
        the server wrote itself and must confirm.

        Raises Unreadable, TimeoutError, and whatever the client raises.
        """
        length = len(reply) + sum(len(message.text) for message in self.request.messages)
        known = self.gain.check_seconds(tokens, length)
        if limit is None:
            limit = _UNKNOWN if known is None else max(_SHORTEST, _SILENCE * known)
        async with asyncio.timeout(limit):
            with allowed(SCORES):
                return await self._checked(reply, draft, streamed)

    async def _checked(self, reply: str, draft: str, streamed: str) -> Confirmed:
        if self.request.model.checks_text:
            return await self._check_text(reply, draft, streamed)
        return await self._check_chat(reply, draft, streamed)

    async def prompt_size(self) -> int | None:
        """The server's number of tokens before a reply; None if it does not report it. Costs one
        short request; raises whatever the client raises."""
        async with asyncio.timeout(_UNKNOWN):
            answer = await self.client.chat.completions.create(
                model=self.request.model.id,
                messages=messages_of(self.request.messages, self.with_images),  # type: ignore[arg-type]
                temperature=0,
                max_tokens=1,
            )
        return _prompt_tokens(_plain(answer))

    async def open_text(self, reply: str, parameters: dict[str, Any]) -> Any:
        """A stream that continues `reply`, from a server that can only continue plain text."""
        assert self.prompt is not None
        return await self.client.completions.create(
            model=self.request.model.id,
            prompt=self.prompt + reply,
            stream=True,
            extra_body=parameters,
        )

    @property
    def goes_on_as_text(self) -> bool:
        """True if the server's chat API cannot continue a reply, but its text API can."""
        return self.request.model.connection.kind == "llama-cpp-python" and self.prompt is not None

    async def _check_chat(self, reply: str, draft: str, streamed: str) -> Confirmed:
        messages = messages_of(self.request.messages, self.with_images)
        messages.append({"role": "assistant", "content": reply + draft})
        answer = await self.client.chat.completions.create(
            model=self.request.model.id,
            messages=messages,  # type: ignore[arg-type]
            temperature=0,
            max_tokens=1,
            extra_body={
                "prompt_logprobs": CANDIDATES,
                "continue_final_message": True,
                "add_generation_prompt": False,
                **self._plain,
            },
        )
        found = _plain(answer)
        choice = _choice(found)
        message = choice.get("message")
        written = message.get("content") if isinstance(message, dict) else None
        written = written if isinstance(written, str) else ""
        ended = choice.get("finish_reason") == "stop" and not written
        tokens = of_prompt_logprobs(found)
        checked = _said(found, tokens, reply, draft, written, ended)
        return replace(checked, strays=strays(tokens, streamed, draft))

    async def _check_text(self, reply: str, draft: str, streamed: str) -> Confirmed:
        assert self.prompt is not None
        prompt = self.prompt + reply + draft
        answer = await self.client.completions.create(
            model=self.request.model.id,
            prompt=prompt,
            temperature=0,
            max_tokens=1,
            echo=True,
            logprobs=CANDIDATES,
            extra_body=self._plain,
        )
        found = _plain(answer)
        choice = _choice(found)
        echo = of_echo(choice, prompt, reply + draft, self.gain.late)
        self.gain.late = echo.late
        ended = choice.get("finish_reason") == "stop" and not echo.written
        checked = _said(found, echo.tokens, reply, draft, echo.written, ended)
        return replace(checked, strays=strays(echo.tokens, streamed, draft))


def _said(
    answer: dict[str, Any],
    tokens: Sequence[ScoredToken],
    reply: str,
    draft: str,
    written: str,
    ended: bool,
) -> Confirmed:
    checked = confirmed(tokens, reply, draft, written, ended)
    size = _prompt_tokens(answer)
    if checked.before and size is not None:
        # some servers omit the first token from the scores
        return replace(checked, before=size - (len(tokens) - checked.before))
    return checked


def _prompt_tokens(answer: dict[str, Any]) -> int | None:
    usage = answer.get("usage")
    size = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return size if isinstance(size, int) else None


def _plain(answer: Any) -> dict[str, Any]:
    dump = getattr(answer, "model_dump", None)
    found = dump() if dump is not None else answer
    if not isinstance(found, dict):
        raise Unreadable("no answer")
    return found


def _choice(answer: dict[str, Any]) -> dict[str, Any]:
    choices: Sequence[Any] | None = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Unreadable("no choice")
    return choices[0]
