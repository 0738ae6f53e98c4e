"""The clients that most programs use, with a server of ours."""

from __future__ import annotations

from typing import Any

import anthropic
import openai

_opened: list[Any] = []


def for_openai(port: int, key: str) -> Any:
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=key, max_retries=0)
    _opened.append(client)
    return client


def for_anthropic(port: int, key: str) -> Any:
    client = anthropic.Anthropic(base_url=f"http://127.0.0.1:{port}", api_key=key, max_retries=0)
    _opened.append(client)
    return client


def close_clients() -> None:
    """Close the connections of all that were made: Python warns of those that it collects."""
    while _opened:
        _opened.pop().close()
