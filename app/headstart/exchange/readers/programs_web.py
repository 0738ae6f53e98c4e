"""Exports of web chats: DeepSeek, Grok, Le Chat, HuggingChat, Qwen, Perplexity."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from headstart.exchange.fields import Fields
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.readers.programs import Common, Program

_MARK = re.compile(r"\[(\d{1,3})\](?!\()")


# --- DeepSeek: a mapping of nodes like ChatGPT's, but with fragments -----------------------


def _is_deepseek(first: Fields) -> bool:
    nodes = first.inside("mapping").all.values()
    messages = (Fields(Fields(node).all.get("message")) for node in nodes)
    return "inserted_at" in first or any("fragments" in one for one in messages)


def _deepseek(found: Sequence[Fields], collect: Collector) -> Iterator[Common]:
    for chat in found:
        mapping = chat.inside("mapping").all
        messages: dict[str, Common] = {}
        for key, value in mapping.items():
            node = Fields(value)
            message = node.inside("message")
            parent = node.id("parent")
            asked = _asked(message, messages.get(parent))
            messages[str(key)] = {
                "id": str(key),
                "parentId": parent,
                "role": "user" if asked else "assistant",
                "content": list(_fragments(message, collect)),
                "files": message.list("files"),
                "createdAt": message.all.get("inserted_at"),
                "model": message.all.get("model"),
            }
        yield {**chat.all, "mapping": None, "createdAt": chat.all.get("inserted_at"),
               "messages": list(messages.values())}  # fmt: skip


def _asked(message: Fields, before: Common | None) -> bool:
    """True for a question: judged by its fragments, in older exports by turn."""
    kinds = {one.text("type") for one in message.each("fragments")}
    if kinds:
        return "REQUEST" in kinds
    role = message.text("role").casefold()
    return role == "user" if role else before is None or before["role"] != "user"


def _fragments(message: Fields, collect: Collector) -> Iterator[Common]:
    thoughts = message.text("reasoning_content")
    if thoughts:
        yield {"type": "thinking", "thinking": thoughts}
    fragments = list(message.each("fragments"))
    for one in fragments:
        kind, text = one.text("type"), one.text("content")
        if kind == "THINK":
            yield {"type": "thinking", "thinking": text}
        elif kind in ("SEARCH", "READ_LINK") or one.list("results"):
            pages = [
                {"type": "text", "text": page.text("snippet", "title") or page.text("url"),
                 "title": page.text("title"), "url": page.text("url")}
                for page in one.each("results")
            ]  # fmt: skip
            if pages:
                yield {"type": "tool_result", "name": kind.lower(), "content": pages}
        elif text:
            yield {"type": "text", "text": text}
        else:
            collect.unknown(kind)
    if not fragments and message.text("content"):
        yield {"type": "text", "text": message.text("content")}


# --- Grok: responses that name their parents ----------------------------------------------


def _is_grok(first: Fields) -> bool:
    chats = list(first.each("conversations")) or [first]
    return any(
        bool(one.inside("conversation")) and isinstance(one.all.get("responses"), list)
        for one in chats
    )


def _grok(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    chats = [one for each in found for one in (list(each.each("conversations")) or [each])]
    for chat in chats:
        about = chat.inside("conversation")
        messages = []
        for one in chat.each("responses"):
            response = one.inside("response") or one
            files = response.list("file_attachments") or response.list("fileAttachments")
            messages.append(
                {
                    "id": response.id("_id", "responseId", "id"),
                    "parentId": response.id("parent_response_id", "parentResponseId"),
                    "role": response.text("sender", "role"),
                    "content": response.text("message", "query", "content"),
                    "reasoning": response.text("thinking_trace", "reasoning"),
                    "files": [{"name": file} if isinstance(file, str) else file for file in files],
                    "createdAt": response.all.get("create_time", response.all.get("createTime")),
                    "model": response.all.get("model"),
                    "error": response.all.get("error"),
                    "partial": response.all.get("partial"),
                }
            )
        yield about.all | {"messages": messages}


# --- Le Chat: versions of a message by number ---------------------------------------------


def _is_lechat(first: Fields) -> bool:
    return "contentChunks" in first and "role" in first


def _lechat(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    chats: dict[str, list[Common]] = {}
    for one in found:
        parent = one.id("parentId")
        chunks = one.list("contentChunks")
        version, above = one.whole("version") or 0, one.whole("parentVersion") or 0
        chats.setdefault(one.id("chatId"), []).append(
            {
                "id": f"{one.id('id')}/{version}",
                "parentId": f"{parent}/{above}" if parent else None,
                "role": one.text("role"),
                "content": chunks or one.text("content"),
                "files": one.list("files"),
                "createdAt": one.all.get("createdAt"),
                "model": one.all.get("model"),
            }
        )
    for key, messages in chats.items():
        yield {"id": key, "messages": messages}


# --- HuggingChat: a tree, each message with its ancestors ----------------------------------


def _is_huggingchat(first: Fields) -> bool:
    return "rootMessageId" in first or any(
        "from" in one and ("ancestors" in one or "updates" in one) for one in first.each("messages")
    )


def _huggingchat(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for chat in found:
        messages = []
        for one in chat.each("messages"):
            calls = [
                piece
                for update in one.each("updates")
                if update.text("type") == "tool"
                for piece in _tool_update(update)
            ]
            content = [*calls, one.text("content")] if calls else one.text("content")
            messages.append({"content": content, **_without(one, "content", "updates")})
        yield {**chat.all, "messages": messages}


def _tool_update(update: Fields) -> Iterator[Common]:
    key = update.id("uuid")
    call, result = update.inside("call"), update.inside("result")
    if call:
        arguments = call.all.get("parameters")
        yield {"type": "tool_call", "id": key, "name": call.text("name"), "arguments": arguments}
    elif result:
        outputs = result.all.get("outputs", result.all.get("message", ""))
        name = result.inside("call").text("name")
        yield {"type": "tool_result", "id": key, "name": name, "content": outputs}


def _without(fields: Fields, *keys: str) -> Common:
    return {key: value for key, value in fields.all.items() if key not in keys}


# --- Qwen's chat: Open WebUI's tree, with content in phases --------------------------------


def _is_qwen(first: Fields) -> bool:
    return any(_is_qwen_chat(one) for one in (first, *list(first.each("data"))[:1]))


def _is_qwen_chat(chat: Fields) -> bool:
    messages = chat.inside("chat").inside("history").inside("messages").all
    return any("content_list" in Fields(one) for one in messages.values())


def _qwen(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    chats = [one for each in found for one in (list(each.each("data")) or [each])]
    for fields in chats:
        chat = fields.inside("chat")
        history = chat.inside("history")
        messages = []
        for key, value in history.inside("messages").all.items():
            one = Fields(value)
            phases = list(_phases(one))
            messages.append(
                {"id": str(key), **_without(one, "content_list", "content", "reasoning_content"),
                 "content": phases or one.text("content"),
                 "reasoning": "" if phases else one.text("reasoning_content")}
            )  # fmt: skip
        yield {
            "id": fields.id("id"),
            "title": fields.words("title") or chat.words("title"),
            "createdAt": fields.all.get("created_at"),
            "updatedAt": fields.all.get("updated_at"),
            "pinned": fields.all.get("pinned"),
            "model": next(iter(chat.texts("models")), None),
            "currentId": history.id("currentId") or chat.id("currentId"),
            "messages": messages,
        }


def _phases(message: Fields) -> Iterator[Common]:
    for one in message.each("content_list"):
        text, phase = one.text("content"), one.text("phase")
        if text and phase.startswith("think"):
            yield {"type": "thinking", "thinking": text}
        elif text and "search" in phase:
            yield {"type": "tool_result", "name": phase, "content": text}
        elif text:
            yield {"type": "text", "text": text}


# --- Perplexity: numbers of sources in the text --------------------------------------------


def _is_perplexity(first: Fields) -> bool:
    threads = list(first.each("threads")) or [first]
    entries = any("query_str" in one for thread in threads for one in thread.each("entries"))
    messages = (one for thread in threads[:5] for one in thread.each("messages"))
    return entries or any("role" in one and "citations" in one for one in messages)


def _perplexity(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    threads = [one for each in found for one in (list(each.each("threads")) or [each])]
    for thread in threads:
        messages: list[Common] = []
        for one in thread.each("messages"):
            sources = [
                url if isinstance(url, str) else Fields(url).text("url", "link")
                for url in one.list("citations") or one.list("sources")
            ]
            messages.append(one.all | {"content": with_sources(one.text("content"), sources)})
        for entry in thread.each("entries"):
            answer = entry.text("answer", "text", "response")
            sources = [one.text("url") for one in entry.each("sources")]
            moment = entry.all.get("created_at", entry.all.get("updated_datetime"))
            asked = entry.text("query_str", "query")
            messages.append({"role": "user", "content": asked, "createdAt": moment})
            model = entry.text("model", "display_model")
            messages.append(
                {"role": "assistant", "content": with_sources(answer, sources),
                 "createdAt": moment, "model": model}
            )  # fmt: skip
        yield {**thread.all, "messages": messages}


def with_sources(text: str, sources: Sequence[str]) -> str:
    """Turn bracketed numbers into links to their sources, counted from one."""

    def link(found: re.Match[str]) -> str:
        number = int(found[1])
        address = sources[number - 1] if 0 < number <= len(sources) else ""
        return f"[{number}]({address})" if address.startswith(("http://", "https://")) else found[0]

    return _MARK.sub(link, text)


WEB: Iterable[Program] = (
    Program("deepseek", "DeepSeek", _is_deepseek, _deepseek),
    Program("grok", "Grok", _is_grok, _grok),
    # an array of one chat's messages: all its objects together
    Program("le-chat", "Le Chat", _is_lechat, _lechat, together=True),
    Program("huggingchat", "HuggingChat", _is_huggingchat, _huggingchat),
    Program("qwen", "Qwen Chat", _is_qwen, _qwen),
    Program("perplexity", "Perplexity", _is_perplexity, _perplexity),
)
