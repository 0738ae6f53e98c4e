"""Which turns ask for an edited text, and what a server gets of it."""

from __future__ import annotations

import pytest

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage, RemoteRequest
from headstart.core.servers import Connection, ServerModel
from headstart.core.settings.schema import Sampling
from headstart.engine.remote.prediction import edited_text
from tests.support.asking import STORY, Asking
from tests.support.scripted_server import Answer, Asked, ScriptedServer, tell_story

CODE = "".join(f"def step_{number}(value):\n    return value + {number}\n" for number in range(12))
PROSE = "The harbour was quiet, and the boats lay at their moorings. " * 12


def user(text: str) -> PromptMessage:
    return PromptMessage(Role.USER, text, "q")


def assistant(text: str) -> PromptMessage:
    return PromptMessage(Role.ASSISTANT, text, "a")


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([user(f"Rename value to x:\n```python\n{CODE}```")], CODE),
        ([user(f"Fix the typos in this:\n\n{PROSE}")], PROSE),
        ([user(f"{PROSE}\n\nBitte korrigiere das.")], PROSE),
        ([user("Write it."), assistant(f"Here:\n```\n{CODE}```\n"), user("Add a docstring.")],
         f"Here:\n```\n{CODE}```\n"),
        ([user(f"Explain this:\n```python\n{CODE}```")], ""),
        ([user("Fix my life.")], ""),
        ([user("Write a poem."), assistant("Roses are red."), user("Change the first word.")], ""),
        ([user("Fix it:\n```\nshort\n```")], ""),
        ([assistant(CODE)], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_what_is_to_be_edited_is_found(messages: list[PromptMessage], expected: str) -> None:
    assert edited_text(messages) == expected


def _request(server: ScriptedServer, predictions: bool) -> RemoteRequest:
    connection = Connection("s", "S", server.url, "", 5, True, predictions=predictions)
    asked = (user(f"Rename value to x:\n```python\n{CODE}```"),)
    return RemoteRequest(ServerModel(connection, "harbour-7b"), asked, Sampling(temperature=0.5))


def test_a_server_that_takes_predictions_gets_the_text(
    server: ScriptedServer, asking: Asking
) -> None:
    asking.send(_request(server, predictions=True))
    assert server.asked[-1].body["prediction"] == {"type": "content", "content": CODE}
    asking.send(_request(server, predictions=False))
    assert "prediction" not in server.asked[-1].body


def test_a_prediction_that_is_refused_is_left_out_and_told(
    server: ScriptedServer, asking: Asking
) -> None:
    async def refuse(asked: Asked, answer: Answer) -> None:
        if "prediction" in asked.body:
            said = "max_tokens is not supported together with prediction"
            error = {"message": said, "param": "max_tokens", "type": "invalid_request_error"}
            await answer.json({"error": error}, "400 Bad Request")
        else:
            await tell_story(asked, answer)

    server.handler = refuse
    asking.send(_request(server, predictions=True))
    assert asking.said() == STORY
    assert any("does not take prediction" in one for one in asking.notices)
    assert "temperature" in server.asked[-1].body


def test_how_much_of_a_prediction_was_right_is_shown(
    server: ScriptedServer, asking: Asking
) -> None:
    async def report(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(["Once"])
        details = {"accepted_prediction_tokens": 30, "rejected_prediction_tokens": 10}
        await answer.end(
            usage={
                "prompt_tokens": 10,
                "completion_tokens": 50,
                "total_tokens": 60,
                "completion_tokens_details": details,
            }
        )

    server.handler = report
    stats = asking.send(_request(server, predictions=True))
    assert stats.speculation is not None
    assert (stats.speculation.draft_accepted, stats.speculation.draft_verified) == (30, 40)
