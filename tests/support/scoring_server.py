"""A server with a real model that says how likely given text is, by the protocols of vLLM and of
llama-cpp-python: the edge of the program in tests and benchmarks of drafts for servers."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage
from headstart.engine.template import choose
from tests.support.patience import PATIENCE
from tests.support.scripted_server import Answer, Asked, ScriptedServer, chunk

OWNERS = {"vllm": "vllm", "llama-cpp-python": "me"}


@dataclass(slots=True)
class ScoringServer:
    """`kind`: which protocol. `caches`: whether a check begins where the last request agrees with
    it; vLLM reads every prompt again that it is to score. `exact`: it reads token by token, so that
    what it says is bit for bit what it writes by. `fails`: checks that are refused from
    the next one on; `misreads`: they are answered as if something else had been asked before.
    `checks` counts those that were answered."""

    model: Path
    kind: str = "vllm"
    caches: bool = True
    exact: bool = False
    threads: int = 1
    fails: bool = False
    misreads: bool = False
    checks: int = 0
    # seconds of a way there and back, and more for each token that is written
    latency: float = 0.0
    pause: float = 0.0
    server: ScriptedServer = field(default_factory=ScriptedServer)
    _llama: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _template: Any = None
    # by its place in the text: what was asked of a token, and what was said
    _placed: dict[int, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.server.url

    def __enter__(self) -> ScoringServer:
        self._llama = llama_cpp.Llama(
            str(self.model), n_ctx=2048, logits_all=True, n_threads=self.threads,
            n_threads_batch=self.threads, verbose=False, n_batch=1 if self.exact else 512,
        )  # fmt: skip
        source = self._llama.metadata["tokenizer.chat_template"]
        self._template = choose(source, "<|im_start|>", "<|im_end|>", frozenset())
        self.server.models = [
            {"id": "harbour-7b", "object": "model", "owned_by": OWNERS[self.kind]}
        ]
        self.server.handler = self._answer
        self.server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.__exit__(*error)
        with self._lock:
            self._llama.close()

    def rendered(self, messages: Sequence[PromptMessage]) -> str:
        """The prompt as this server reads it."""
        return str(self._template.render(messages))

    async def _answer(self, asked: Asked, answer: Answer) -> None:
        await asyncio.sleep(self.latency)
        body = asked.body
        chats = asked.path.endswith("/chat/completions")
        if body.get("prompt_logprobs") is not None or body.get("echo"):
            if self.fails:
                await answer.json({"error": {"message": "not today"}}, "400 Bad Request")
                return
            self.checks += 1
        if not chats:
            await self._complete(body, answer)
        elif body.get("prompt_logprobs") is not None:
            await answer.json(await asyncio.to_thread(self._score, body))
        elif body.get("stream"):
            await self._stream(self._written(body), answer)
        else:
            await answer.json(await asyncio.to_thread(self._at_once, body))

    def _at_once(self, body: dict[str, Any]) -> dict[str, Any]:
        text, size = "".join(self._written(body)), len(self._prompt(body))
        message = {"role": "assistant", "content": text}
        return {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "length"}],
            "usage": {"prompt_tokens": size, "completion_tokens": 1, "total_tokens": size + 1},
        }

    async def _complete(self, body: dict[str, Any], answer: Answer) -> None:
        if body.get("stream"):
            await self._stream(self._written(body), answer, text=True)
            return
        given = {name: body[name] for name in body.keys() - {"model"}}

        def work() -> Any:
            with self._lock:
                said = self._llama.create_completion(**given)
            # numbers as the web framework would write them
            return json.loads(json.dumps(said, default=float))

        await answer.json(await asyncio.to_thread(work))

    async def _stream(self, pieces: Iterator[str], answer: Answer, text: bool = False) -> None:
        await answer.stream()
        finish = "stop"
        step: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        try:
            while True:
                step = asyncio.ensure_future(asyncio.to_thread(next, pieces, None))
                piece = await asyncio.shield(step)
                if piece is None:
                    break
                await asyncio.sleep(self.pause)
                if piece == "":
                    finish = "length"
                    break
                event = {"choices": [{"index": 0, "text": piece}]} if text else None
                await answer.event(event or chunk({"content": piece}))
        finally:
            # a client that leaves in the middle must not keep the model from others: the frames
            # of an exception live longer in some Pythons than in others
            if not step.done():
                await asyncio.wait([step])
            pieces.close()  # type: ignore[attr-defined]
        if text:
            last = {"index": 0, "text": "", "finish_reason": finish}
            await answer.event({"choices": [last]})
            await answer.raw(b"data: [DONE]\n\n")
        else:
            await answer.end(finish)

    def _written(self, body: dict[str, Any]) -> Iterator[str]:
        """Greedy text, token by token; "" at the limit."""
        tokens = self._prompt(body)
        most = body.get("max_tokens") or 200
        llama = self._llama
        held = b""
        with self._lock:
            self._read(tokens, reuse=True)
            for count in range(1, most + 1):
                row = llama.scores[llama.n_tokens - 1]
                best = int(np.argmax(row))
                if self._ends(best):
                    return
                held += llama.detokenize([best])
                try:
                    text = held.decode()
                except UnicodeDecodeError:
                    text = ""
                if text:
                    held = b""
                    yield text
                if count == most:
                    yield ""
                    return
                llama.eval([best])

    def _prompt(self, body: dict[str, Any]) -> list[int]:
        if "prompt" in body:
            text = body["prompt"]
        else:
            messages = [
                PromptMessage(Role(one["role"]), one["content"]) for one in body["messages"]
            ]
            if messages[-1].role is Role.ASSISTANT:
                assert body["continue_final_message"], "it would begin a reply of its own"
                assert not body["add_generation_prompt"]
                text = self._template.render(messages[:-1]) + messages[-1].text
            else:
                text = self._template.render(messages)
        return list(self._llama.tokenize(text.encode(), add_bos=False, special=True))

    def _read(self, tokens: list[int], reuse: bool) -> None:
        llama = self._llama
        same = 0
        if reuse:
            same = llama.longest_token_prefix(
                llama.input_ids[: llama.n_tokens].tolist(), tokens[:-1]
            )
        llama.n_tokens = same
        self._placed = {at: one for at, one in self._placed.items() if at <= same}
        llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(llama.ctx), -1, same, -1)
        llama.eval(tokens[same:])

    def _score(self, body: dict[str, Any]) -> dict[str, Any]:
        if self.misreads:
            other = {"role": "user", "content": "List the planets, one on each line."}
            body = body | {"messages": [other, body["messages"][-1]]}
        tokens, llama = self._prompt(body), self._llama
        with self._lock:
            # read token by token, what is there has the bits that it would have again
            self._read(tokens, self.caches or self.exact)
            places: list[Any] = [None]
            for index in range(1, len(tokens)):
                asked = tokens[index], body["prompt_logprobs"]
                known, place = self._placed.get(index, (None, None))
                if known != asked:
                    place = self._place(llama.scores[index - 1], *asked)
                    self._placed[index] = asked, place
                places.append(place)
            best = int(np.argmax(llama.scores[len(tokens) - 1]))
            ended = self._ends(best)
            written = "" if ended else self._text(best)
        return {
            "object": "chat.completion",
            "prompt_logprobs": places,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": written},
                    "finish_reason": "stop" if ended else "length",
                }
            ],
            "usage": {"prompt_tokens": len(tokens), "completion_tokens": 1, "total_tokens": 0},
        }

    def _place(self, row: Any, token: int, count: int) -> dict[str, Any]:
        top = np.argpartition(-row, count)[:count]
        top = top[np.argsort(-row[top])]
        most = float(row[top[0]])
        norm = most + float(np.log(np.exp(row - most).sum()))
        ranks = {int(one): rank + 1 for rank, one in enumerate(top)}
        if token not in ranks:
            ranks = {token: int((row > row[token]).sum()) + 1, **ranks}
        ordered = sorted(ranks, key=lambda one: one != token)
        return {
            str(one): {
                "logprob": float(row[one]) - norm,
                "rank": ranks[one],
                "decoded_token": self._text(one),
            }
            for one in ordered
        }

    def _ends(self, token: int) -> bool:
        vocabulary = llama_cpp.llama_model_get_vocab(self._llama.model)
        return bool(llama_cpp.llama_vocab_is_eog(vocabulary, token))

    def _text(self, token: int) -> str:
        return str(self._llama.detokenize([token], special=True).decode("utf-8", "replace"))


@contextlib.contextmanager
def scoring_process(model: Path, kind: str, caches: bool, threads: int) -> Iterator[str]:
    """The address of such a server in a process of its own."""
    command = [sys.executable, "-m", __name__, str(model), kind, str(threads)]
    process = subprocess.Popen(
        [*command, *(["--caches"] if caches else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(PATIENCE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("kind")
    parser.add_argument("threads", type=int)
    parser.add_argument("--caches", action="store_true")
    given = parser.parse_args()
    with ScoringServer(given.model, given.kind, given.caches, threads=given.threads) as server:
        print(server.url, flush=True)
        # until whoever asked for it has had enough
        sys.stdin.read()


if __name__ == "__main__":
    main()
