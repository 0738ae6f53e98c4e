"""A tool server made with the official library, which speaks the newer age of the protocol.

`python modern_tool_server.py stdio`, or `... http PORT KEY`, which wants the key in a header.
"""

from __future__ import annotations

import sys

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

server = MCPServer("modern", version="2")


class Place(BaseModel):
    city: str
    degrees: float


NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def weather(city: str) -> Place:
    """The weather of a city."""
    return Place(city=city, degrees=21.5)


@server.tool()
async def count(upto: int, ctx: Context) -> str:
    """Count, with progress."""
    for number in range(upto):
        await ctx.report_progress(number + 1, upto, f"at {number + 1}")
    return "counted"


@server.tool()
async def greet(ctx: Context) -> str | InputRequiredResult:
    """Ask for a name, and greet."""
    given = (ctx.input_responses or {}).get("name")
    if given is None:
        params = ElicitRequestFormParams(message="Who are you?", requested_schema=NAME)
        asked = ElicitRequest(method="elicitation/create", params=params)
        return InputRequiredResult(input_requests={"name": asked})
    answer = ElicitResult.model_validate(given.model_dump())
    if answer.action != "accept":
        return f"The user would not say: {answer.action}"
    return f"Hello {(answer.content or {}).get('name')}"


@server.prompt()
def summary(topic: str) -> str:
    """A summary of a topic."""
    return f"Summarize {topic}."


@server.resource("note://today")
def today() -> str:
    """The note of today."""
    return "Rain."


class Guard:
    """Refuses requests without the key."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = Request(scope).headers.get("authorization")
            if given != f"Bearer {self._key}":
                refusal: Response = PlainTextResponse("no", status_code=401)
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        app = Guard(server.streamable_http_app(), sys.argv[3])
        uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error", ws="none")
