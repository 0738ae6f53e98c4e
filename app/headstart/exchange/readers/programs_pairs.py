"""Exports as question-answer pairs: AnythingLLM, text-generation-webui, Alpaca."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from headstart.exchange.fields import Fields
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.readers.programs import Common, Program

_PAIRS = (
    ("prompt", "response"),
    ("question", "answer"),
    ("instruction", "output"),
    ("prompt", "completion"),
)


def _pair_of(fields: Fields) -> tuple[str, str] | None:
    for asked, answered in _PAIRS:
        if isinstance(fields.all.get(asked), str) and answered in fields:
            return asked, answered
    return None


def _is_anythingllm(first: Fields) -> bool:
    pair = _pair_of(first)
    return pair is not None and pair != ("instruction", "output")


def _is_alpaca(first: Fields) -> bool:
    return _pair_of(first) == ("instruction", "output")


def _pairs(found: Sequence[Fields], collect: Collector) -> Iterator[Common]:
    """Group rows by workspace and thread: each group is one chat."""
    chats: dict[tuple[str, str], list[Common]] = {}
    for one in found:
        pair = _pair_of(one)
        if pair is None:
            collect.report.skip(collect.where, "import-unreadable")
            continue
        key = one.words("workspace", "workspaceName"), one.id("threadId", "thread", "thread_id")
        chats.setdefault(key, []).extend(_both(one, pair))
    for (workspace, _thread), messages in chats.items():
        yield {"folder": workspace, "messages": messages}


def _alpaca(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for one in found:
        pair = _pair_of(one)
        if pair is not None:
            asked = "\n\n".join(filter(None, (one.text("instruction"), one.text("input"))))
            yield {
                "system": one.text("system"),
                "messages": _both(Fields(one.all | {"instruction": asked}), pair),
            }


def _both(one: Fields, pair: tuple[str, str]) -> list[Common]:
    answer = one.all.get(pair[1])
    files = [file.all for file in one.each("attachments")]
    if isinstance(answer, dict):
        inner = Fields(answer)
        files += [file.all for file in inner.each("attachments")]
        answer = inner.text("text", "response")
    moment = one.all.get("sent_at", one.all.get("createdAt"))
    return [
        {"role": "user", "content": one.text(pair[0]), "createdAt": moment, "files": files},
        {"role": "assistant", "content": answer, "createdAt": moment},
    ]


def _is_oobabooga(first: Fields) -> bool:
    rows = first.list("visible") or first.list("data_visible")
    return bool(rows) and isinstance(rows[0], list)


def _oobabooga(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for chat in found:
        # the model's text and the shown text differ only in the program's marks
        rows = chat.list("internal") or chat.list("data") or chat.list("visible")
        about = chat.inside("metadata")
        messages: list[Common] = []
        for number, row in enumerate(rows):
            pair = (
                [one if isinstance(one, str) else "" for one in row]
                if isinstance(row, list)
                else []
            )
            for role, text in zip(("user", "assistant"), pair, strict=False):
                more = about.inside(f"{role}_{number}")
                if not text or text.startswith("<|BEGIN-VISIBLE-CHAT|>"):
                    continue
                versions = [{"content": one.text("content")} for one in more.each("versions")]
                many = {"versions": versions} if len(versions) > 1 else {}
                messages.append(
                    {"role": role, "content": text, "createdAt": more.all.get("timestamp"),
                     "current_version_index": more.whole("current_version_index")} | many
                )  # fmt: skip
        yield {"messages": messages}


PAIRS: Iterable[Program] = (
    Program("text-generation-webui", "text-generation-webui", _is_oobabooga, _oobabooga),
    Program("anythingllm", "AnythingLLM", _is_anythingllm, _pairs, together=True),
    Program("alpaca", "Instructions", _is_alpaca, _alpaca),
)
