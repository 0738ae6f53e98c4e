"""An agent's session over a real template, encoder only: calls written with odd spacing, and sent
back as other programs spell them."""

from __future__ import annotations

import json

from headstart.core.chats.values import Role
from headstart.core.requests import (
    PromptCall,
    PromptMessage,
    ToolRole,
)
from headstart.core.tools import Tools, call_id
from headstart.engine.call_memory import WrittenStep, call_key, prompt_key, reasoning_key
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.prompt import PromptEncoder, common_prefix
from tests.models.llama_source import templates
from tests.support.byte_decoder import byte_encoder, reply_tokens
from tests.support.tool_forms import TOOLS, shapes, written

STEPS = 3
SYSTEM = PromptMessage(Role.SYSTEM, "Help with files.", "s")
QUESTION = PromptMessage(Role.USER, "Read notes.txt.", "q")


def _written_oddly(number: int) -> str:
    return f'{{  "from" :{number},"path":  "notes {number}.txt"}}'


def _sent_back(arguments: str, number: int) -> str:
    """The same arguments as other programs send them."""
    value = json.loads(arguments)
    ways = (
        arguments,
        json.dumps(value, separators=(",", ":")),
        json.dumps(value, sort_keys=True, indent=1),
        json.dumps(dict(reversed(value.items()))),
    )
    return ways[number % len(ways)]


class Session:
    """Requests of one reply, as a turn makes them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.way, self.layout, self.mark = shapes()[name]
        self.encoder: PromptEncoder = byte_encoder(templates()[name])
        self.messages = [SYSTEM, QUESTION]
        self.resident: list[int] = []
        # what the disk has of replies
        self.disk: dict[bytes, tuple[int, ...]] = {}
        self.again: list[int] = []

    def restart(self) -> None:
        """Another encoder, with what the disk has."""
        self.encoder = byte_encoder(templates()[self.name])
        self.encoder.texts.own.spelled = self.disk

    def step(self, number: int) -> None:
        encoder, tools = self.encoder, Tools(TOOLS)
        rendered = encoder.render(self.messages, tools=tools)
        prompt = encoder.encode(rendered)
        # tokens that were there before, and are not the beginning of this prompt
        self.again.append(len(self.resident) - common_prefix(self.resident, prompt))
        stream = TextStream(
            form=encoder.form_with(tools),
            tokens=frozenset(encoder.marks_with(tools).values()),
            tools=tools.schemas,
        )
        stream.follow(encoder.end_of(rendered, self.messages))
        arguments = _written_oddly(number)
        raw = written(self.way, self.layout, self.mark, [("read_file", arguments)])
        thought = "Hm, let me look.\n</think>\n\n" if stream.reasons else ""
        tokens = reply_tokens(encoder, thought + raw)
        for token in tokens:
            piece = encoder.decoder.piece(token)
            stream.push(piece, mark=encoder.marks_with(tools).get(token))
        stream.finish()
        ((name, found),) = stream.calls
        assert json.loads(found) == json.loads(arguments)
        call = PromptCall(call_id("r", number), name, found)
        raw, seen = encoder.as_written(tokens), encoder.seen(self.messages, "auto", tools)
        encoder.tools.calls.keep(
            WrittenStep((call,), stream.text, stream.reasoning, raw, rendered, seen)
        )
        key = encoder.digest(call_key((call,), stream.text))
        self.disk[key] = tuple(tokens)
        self.disk[encoder.digest(prompt_key((call,), stream.text, seen))] = tuple(prompt)
        if stream.reasoning:
            thought_key = encoder.digest(reasoning_key((call,), stream.text))
            self.disk[thought_key] = tuple(encoder.decoder.encode(stream.reasoning))
        for text, known in encoder.remember_reply(rendered, tokens):
            self.disk[encoder.digest(text)] = known
        self.resident = [*prompt, *tokens]
        sent = PromptCall(call.id, name, _sent_back(found, number))
        self.messages += [
            PromptMessage(Role.ASSISTANT, "", "r", calls=(sent,)),
            PromptMessage(ToolRole.TOOL, f"line {number}", "r", call_id=call.id, name=name),
        ]
