"""A large ChatGPT export, made quickly: words of a story, code, versions of replies."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.support.chatgpt_files import gpt_node

_WORDS = """the river bends and a boat drifts while people on the bank talk about bread and rain
when nobody asks why numbers grow or how code is written in the night with coffee and doubt"""


def write_export(path: Path, chats: int, size: int, seed: int = 1) -> None:
    """`size` bytes in all, about; half of the chats have a second version of a reply."""
    rng = random.Random(seed)
    each, words = size // chats, _WORDS.split()
    paragraphs = [" ".join(rng.choices(words, k=60)) for _ in range(400)]
    code = "```python\nfor i in range(10):\n    print(i)  # words\n```"
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(chats):
            file.write("," if number else "")
            json.dump(_chat(number, each, paragraphs, code, rng), file)
        file.write("]")


def _chat(
    number: int, size: int, paragraphs: list[str], code: str, rng: random.Random
) -> dict[str, object]:
    nodes = [gpt_node("s", None, "system", "")]
    parent, left, turn = "s", size, 0
    moment = 1_600_000_000.0 + 3600 * number
    while left > 0:
        text = "\n\n".join([rng.choice(paragraphs), code, *rng.choices(paragraphs, k=3)])
        question = gpt_node(f"u{turn}", parent, "user", rng.choice(paragraphs), time=moment)
        reply = gpt_node(f"a{turn}", f"u{turn}", "assistant", text, time=moment + 5)
        nodes += [question, reply]
        if turn == 0 and number % 2:
            again = gpt_node("b0", "u0", "assistant", rng.choice(paragraphs), time=moment + 4)
            nodes.append(again)
        parent, turn, moment = f"a{turn}", turn + 1, moment + 60
        left -= 2480
    return {
        "id": f"chat-{number}",
        "conversation_id": f"chat-{number}",
        "title": f"Chat number {number} about {paragraphs[number % 400][:20]}",
        "create_time": 1_600_000_000.0 + 3600 * number,
        "update_time": moment,
        "current_node": parent,
        "mapping": {str(node["id"]): node for node in nodes},
    }
