"""The server for other programs: what the SDKs of OpenAI and Anthropic get from the starter
model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import numpy as np
import openai
import pytest
from msgspec.structs import replace
from pydantic import BaseModel

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import SamplingChoice
from tests.conftest import OpenApp
from tests.models.embedding import make_embedding
from tests.support.keyrings import MemoryKeyring
from tests.support.program import Plain, beside, events, opened
from tests.support.sdk_clients import close_clients, for_anthropic, for_openai

HELLO: Any = [{"role": "user", "content": "Say hello."}]
# the new SDK has no field for it
COLD = {"temperature": 0}
WEATHER = {
    "type": "object",
    "properties": {"city": {"enum": ["Oslo", "Rome"]}},
    "required": ["city"],
}
CHAT_TOOL: Any = {
    "type": "function",
    "function": {"name": "get_weather", "description": "The weather.", "parameters": WEATHER},
}


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)
    close_clients()


class City(BaseModel):
    name: str
    people: int


async def test_openai_chat(running: OpenApp) -> None:
    async with running() as app:
        client = for_openai(*await opened(app))

        def ask() -> None:
            names = [model.id for model in client.models.list()]
            assert len(names) == 1
            assert client.models.retrieve(names[0]).id == names[0]
            whole = client.chat.completions.create(
                model=names[0], messages=HELLO, max_tokens=12, temperature=0
            )
            assert whole.choices[0].finish_reason == "length"
            assert whole.usage is not None
            assert whole.usage.completion_tokens == 12
            parts, last = [], None
            for chunk in client.chat.completions.create(
                model=names[0], messages=HELLO, max_tokens=12, temperature=0, stream=True,
                stream_options={"include_usage": True},
            ):  # fmt: skip
                if chunk.choices:
                    parts.append(chunk.choices[0].delta.content or "")
                last = chunk
            assert "".join(parts) == whole.choices[0].message.content
            assert last is not None
            assert last.usage is not None
            assert last.usage.prompt_tokens == whole.usage.prompt_tokens
            details = last.usage.prompt_tokens_details
            assert details is not None
            # all but the last token
            assert details.cached_tokens == last.usage.prompt_tokens - 1

        await beside(ask)
        (second, first) = app.services.serving.log.lines
        assert (first.program, first.written, second.written) == ("Python", 12, 12)
        assert second.reused == second.prompt - 1


async def test_openai_structured_answers(running: OpenApp) -> None:
    async with running() as app:
        client = for_openai(*await opened(app))
        app.services.preferences.update(sampling=SamplingChoice(temperature=0.0))

        def ask() -> None:
            parsed = client.chat.completions.parse(
                model="any", messages=HELLO, response_format=City, max_tokens=120
            )
            assert parsed.choices[0].message.parsed is not None
            free = client.chat.completions.create(
                model="any", messages=HELLO, response_format={"type": "json_object"}, max_tokens=200
            )
            assert free.choices[0].message.content is not None
            with pytest.raises(openai.BadRequestError) as caught:
                client.chat.completions.create(
                    model="any", messages=HELLO,
                    response_format={"type": "json_schema", "json_schema": {"name": "x"}},
                )  # fmt: skip
            assert "schema" in caught.value.message

        await beside(ask)


async def test_openai_tools(running: OpenApp) -> None:
    async with running() as app:
        client = for_openai(*await opened(app))

        def ask() -> None:
            whole = client.chat.completions.create(
                model="any", messages=HELLO, tools=[CHAT_TOOL], tool_choice="required",
                max_tokens=60, seed=4, parallel_tool_calls=False,
            )  # fmt: skip
            (call, *_) = whole.choices[0].message.tool_calls or []
            assert whole.choices[0].finish_reason == "tool_calls"
            assert call.function.name == "get_weather"
            json.loads(call.function.arguments)
            with client.chat.completions.stream(
                model="any", messages=HELLO, tools=[CHAT_TOOL], tool_choice="required",
                max_tokens=60, seed=4, parallel_tool_calls=False,
            ) as stream:  # fmt: skip
                for _ in stream:
                    pass
                streamed = stream.get_final_completion()
            (again, *_) = streamed.choices[0].message.tool_calls or []
            assert again.function.arguments == call.function.arguments
            result = {"role": "tool", "tool_call_id": call.id, "content": "Rain."}
            said = {"role": "assistant", "content": None, "tool_calls": [call.model_dump()]}
            answer = client.chat.completions.create(
                model="any", messages=[*HELLO, said, result], tools=[CHAT_TOOL], max_tokens=8
            )
            assert answer.usage is not None
            details = answer.usage.prompt_tokens_details
            assert details is not None
            assert details.cached_tokens is not None
            # the question, the tools and the call as it was written
            assert whole.usage is not None
            assert details.cached_tokens >= whole.usage.total_tokens - 2

        await beside(ask)


async def test_openai_responses(running: OpenApp) -> None:
    async with running() as app:
        client = for_openai(*await opened(app))

        def ask() -> None:
            whole = client.responses.create(
                model="any", input="Say hello.", max_output_tokens=400, temperature=0
            )
            assert whole.status == "completed"
            cut = client.responses.create(model="any", input="Say hello.", max_output_tokens=2)
            assert cut.status == "incomplete"
            kinds: list[str] = []
            with client.responses.stream(
                model="any", input="Say hello.", max_output_tokens=400, temperature=0
            ) as stream:
                kinds.extend(event.type for event in stream)
                final = stream.get_final_response()
            assert final.output_text == whole.output_text
            assert kinds[0] == "response.created"
            assert kinds[-1] == "response.completed"
            tool = {
                "type": "function", "name": "get_weather", "parameters": WEATHER, "strict": False,
            }  # fmt: skip
            called = client.responses.create(
                model="any", input="Say hello.", tools=[tool], tool_choice="required",
                max_output_tokens=60,
            )  # fmt: skip
            (call, *_) = [item for item in called.output if item.type == "function_call"]
            assert call.name == "get_weather"
            with pytest.raises(openai.BadRequestError):
                client.responses.create(model="any", input="x", previous_response_id="resp_1")

        await beside(ask)


async def test_openai_completions(running: OpenApp) -> None:
    async with running() as app:
        client = for_openai(*await opened(app))

        def ask() -> None:
            whole = client.completions.create(
                model="any", prompt="The capital of France is", max_tokens=8, temperature=0
            )
            streamed = client.completions.create(
                model="any", prompt="The capital of France is", max_tokens=8, temperature=0,
                stream=True,
            )  # fmt: skip
            text = "".join(chunk.choices[0].text for chunk in streamed if chunk.choices)
            assert text == whole.choices[0].text
            assert whole.usage is not None
            assert whole.usage.prompt_tokens == 5

        await beside(ask)


async def test_anthropic_messages(running: OpenApp) -> None:
    async with running() as app:
        client = for_anthropic(*await opened(app))

        def ask() -> None:
            whole = client.messages.create(
                model="claude-x", max_tokens=10, messages=HELLO, extra_body=COLD
            )
            assert whole.stop_reason == "max_tokens"
            with client.messages.stream(
                model="claude-x", max_tokens=10, messages=HELLO, extra_body=COLD
            ) as stream:
                streamed = "".join(stream.text_stream)
                final = stream.get_final_message()
            assert whole.content[0].type == "text"
            assert streamed == whole.content[0].text
            assert final.usage.cache_read_input_tokens
            count = client.messages.count_tokens(model="claude-x", messages=HELLO)
            usage = final.usage
            assert count.input_tokens == usage.input_tokens + usage.cache_read_input_tokens
            tool = {"name": "get_weather", "input_schema": WEATHER}
            called = client.messages.create(
                model="x", max_tokens=60, messages=HELLO, tools=[tool], tool_choice={"type": "any"}
            )
            (call, *_) = [block for block in called.content if block.type == "tool_use"]
            assert call.name == "get_weather"
            assert isinstance(call.input, dict)
            stopped = client.messages.create(
                model="x", max_tokens=60, messages=HELLO, stop_sequences=["e", "a"], extra_body=COLD
            )
            assert stopped.stop_reason == "stop_sequence"
            assert stopped.stop_sequence in ("e", "a")

        await beside(ask)


async def test_the_stream_of_events(running: OpenApp) -> None:
    async with running() as app:
        program = Plain(*await opened(app))

        def ask() -> None:
            body = {"messages": HELLO, "max_tokens": 3, "stream": True}
            _, headers, data = program.ask("POST", "/v1/chat/completions", body)
            assert headers["content-type"].startswith("text/event-stream")
            found = events(data)
            assert found[0][1]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
            assert found[-1] == ("", "[DONE]")
            _, _, data = program.ask("POST", "/v1/messages", body)
            names = [name for name, _ in events(data)]
            assert names[:2] == ["message_start", "content_block_start"]
            assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]

        await beside(ask)


@pytest.mark.logs("a request failed: A text has")
async def test_openai_embeddings(running: OpenApp, shallow: ModelRef, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    async with running() as app:
        port, key = await opened(app)
        client = for_openai(port, key)

        def without() -> None:
            with pytest.raises(openai.BadRequestError) as caught:
                client.embeddings.create(model="any", input="A river.")
            assert "embedding model" in caught.value.message

        await beside(without)
        make_embedding(shallow.path, folder / "embed-small.gguf")
        library = app.services.preferences.current.library
        app.services.preferences.update(library=replace(library, folders=(str(folder),)))

        def ask() -> None:
            names = [model.id for model in client.models.list()]
            assert len(names) == 2
            texts = ["A river in a town.", "A river in the town.", "x = compute(3)", ""]
            # the SDK asks for base64
            found = client.embeddings.create(model=names[1], input=texts)
            one, near, far, _ = [np.array(each.embedding) for each in found.data]
            assert abs(np.linalg.norm(one) - 1) < 1e-3
            assert one @ near > one @ far
            plain = client.embeddings.create(
                model=names[1], input=texts[0], encoding_format="float"
            )
            assert np.allclose(plain.data[0].embedding, one, atol=1e-4)
            short = client.embeddings.create(model="any", input=texts[0], dimensions=32)
            assert len(short.data[0].embedding) == 32
            assert found.usage.prompt_tokens > 10
            with pytest.raises(openai.BadRequestError):
                client.embeddings.create(model="any", input="word " * 9_000)
            with pytest.raises(openai.BadRequestError):
                client.embeddings.create(model="any", input=[[1, 2, 3]])

        await beside(ask)
        assert app.services.serving.log.lines[0].program == "Python"
