"""Exports of chat programs: LibreChat, SillyTavern, Chatbox, NextChat, LobeChat, TypingMind, Zed,
Chatbot UI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from headstart.exchange.fields import Fields
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.readers.programs import Common, Program, linked

# --- LibreChat: a list or a tree of messages ----------------------------------------------


def _is_librechat(first: Fields) -> bool:
    messages = list(first.each("messages")) + list(first.each("messagesTree"))
    return "conversationId" in first and any("isCreatedByUser" in one for one in messages)


def _librechat(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for chat in found:
        messages = chat.list("messages") or chat.list("messagesTree")
        yield {**chat.all, "id": chat.id("conversationId"), "messages": messages}


# --- SillyTavern: a line about the chat, then messages with swipes -------------------------


def _is_sillytavern(first: Fields) -> bool:
    head = "chat_metadata" in first or ("user_name" in first and "character_name" in first)
    return head or ("mes" in first and "is_user" in first)


def _sillytavern(found: Sequence[Fields], collect: Collector) -> Iterator[Common]:
    head = Fields(None)
    messages: list[Common] = []
    for one in found:
        if "mes" not in one:
            head = head or one
            continue
        extra = one.inside("extra")
        if one.flag("is_system") and extra.text("type") in ("comment", "narrator", "help"):
            collect.report.skip(collect.where, "import-note-left-out", name=one.words("name"))
            continue
        role = "user" if one.flag("is_user") else "assistant"
        thoughts, swipes = extra.text("reasoning"), one.list("swipes")
        swipes_about = list(one.each("swipe_info"))
        versions = []
        for number, text in enumerate(swipes if role == "assistant" else []):
            about = swipes_about[number] if number < len(swipes_about) else Fields(None)
            shown = number == (one.whole("swipe_id") or 0)
            versions.append(
                {
                    "content": one.text("mes") if shown else text,
                    "reasoning": thoughts if shown else about.inside("extra").text("reasoning"),
                    "createdAt": about.all.get("send_date", one.all.get("send_date")),
                    "model": about.inside("extra").text("model") or extra.text("model"),
                }
            )
        messages.append(
            {
                "role": role,
                "content": one.text("mes"),
                "reasoning": thoughts,
                "createdAt": one.all.get("send_date"),
                "model": extra.text("model"),
                "images": [extra.text("image")] if extra.text("image") else [],
                "files": [extra.all["file"]] if extra.inside("file") else [],
            }
            | ({"versions": versions, "swipe_id": one.whole("swipe_id")} if versions else {})
        )
    names = [one.words("name") for one in found if "mes" in one and not one.flag("is_user")]
    title = head.words("character_name") or next(filter(None, names), "")
    yield {"title": title, "createdAt": head.all.get("create_date"), "messages": messages}


# --- Character cards: a chat that begins with the greeting ---------------------------------


def _is_character(first: Fields) -> bool:
    data = first.inside("data") or first
    return "first_mes" in data and ("description" in data or "personality" in data)


def _character(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for card in found:
        data = card.inside("data") or card
        about = [
            data.text("system_prompt"),
            data.text("description"),
            data.text("personality"),
            data.text("scenario"),
            data.text("mes_example"),
        ]
        greetings = [data.text("first_mes"), *data.texts("alternate_greetings")]
        name = data.words("name") or card.words("name")
        words = [_named(text, name) for text in about if text]
        yield {
            "title": name,
            "system": "\n\n".join(words),
            "messages": [
                {
                    "role": "assistant",
                    "content": _named(greetings[0], name),
                    "versions": [{"content": _named(text, name)} for text in greetings],
                    "swipe_id": 0,
                }
            ],
        }


def _named(text: str, name: str) -> str:
    """Put the character's name into the card's placeholders."""
    return text.replace("{{char}}", name).replace("<BOT>", name) if name else text


# --- Chatbox: sessions under separate keys, with threads and forks -------------------------


def _is_chatbox(first: Fields) -> bool:
    return "chat-sessions-list" in first or any(
        "messages" in one and ("threads" in one or "type" in one or "copilotId" in one)
        for one in first.each("chat-sessions")
    )


def _chatbox(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for fields in found:
        sessions = [
            Fields(value) for key, value in fields.all.items() if key.startswith("session:")
        ]
        for session in sessions or list(fields.each("chat-sessions")):
            messages = linked(one.all for one in session.each("messages"))
            at = {one["id"]: number for number, one in enumerate(messages)}
            for key, fork in session.inside("messageForksHash").all.items():
                position = Fields(fork).whole("position")
                for number, branch in enumerate(Fields(fork).each("lists")):
                    if number != position and key in at:
                        messages += _behind(key, branch)
            yield session.all | {"id": session.id("id"), "messages": messages, "threads": None}
            for thread in session.each("threads"):
                yield {**thread.all, "title": thread.words("name") or session.words("name")}


def _behind(parent: str, branch: Fields) -> list[Common]:
    rest = linked(one.all for one in branch.each("messages"))
    if rest:
        rest[0]["parentId"] = parent
    return rest


# --- NextChat: sessions of a store ---------------------------------------------------------


def _is_nextchat(first: Fields) -> bool:
    store = first.inside("chat-next-web-store") or first
    return any("mask" in one or "memoryPrompt" in one for one in store.each("sessions"))


def _nextchat(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for fields in found:
        store = fields.inside("chat-next-web-store") or fields
        for session in store.each("sessions"):
            mask = session.inside("mask")
            context = [one.all for one in mask.each("context")]
            yield {
                "id": session.id("id"),
                "title": session.words("topic"),
                "model": mask.inside("modelConfig").words("model"),
                "updatedAt": session.all.get("lastUpdate"),
                "messages": [*context, *session.list("messages")],
            }


# --- LobeChat: tables of messages, topics, sessions ----------------------------------------


def _is_lobechat(first: Fields) -> bool:
    state = _lobe_state(first)
    rows = [*state.each("messages")][:5]
    return any("topicId" in one or "sessionId" in one or "topic_id" in one for one in rows) and (
        "sessions" in state or "topics" in state
    )


def _lobe_state(fields: Fields) -> Fields:
    return fields.inside("state") or fields.inside("data") or fields


def _lobechat(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for fields in found:
        state = _lobe_state(fields)
        topics = {one.id("id"): one for one in state.each("topics")}
        sessions = {one.id("id"): one for one in state.each("sessions")}
        chats: dict[tuple[str, str], list[Common]] = {}
        for one in state.each("messages"):
            key = one.id("sessionId", "session_id"), one.id("topicId", "topic_id")
            chats.setdefault(key, []).append(_lobe_message(one))
        for (session_id, topic_id), messages in chats.items():
            session = sessions.get(session_id, Fields(None))
            topic = topics.get(topic_id, Fields(None))
            yield {
                "id": topic_id or session_id,
                "title": topic.words("title") or session.inside("meta").words("title"),
                "system": session.inside("config").text("systemRole"),
                "model": session.inside("config").text("model"),
                "createdAt": topic.all.get("createdAt", topic.all.get("created_at")),
                "pinned": topic.all.get("favorite"),
                "messages": linked(sorted(messages, key=lambda one: one["moment"])),
            }


def _lobe_message(one: Fields) -> Common:
    thoughts = one.inside("reasoning").text("content") or one.text("reasoning")
    return {
        key: value
        for key, value in one.all.items()
        # a message points to the question, not to the previous message
        if key not in ("parentId", "parent_id", "reasoning", "quotaId")
    } | {"reasoning": thoughts, "moment": one.time("createdAt", "created_at")}


# --- TypingMind ----------------------------------------------------------------------------


def _is_typingmind(first: Fields) -> bool:
    chats = list(first.inside("data").each("chats")) or list(first.each("chats")) or [first]
    return any("chatTitle" in one or "chatID" in one for one in chats)


def _typingmind(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for fields in found:
        data = fields.inside("data") or fields
        folders = {one.id("id"): one.words("title", "name") for one in data.each("folders")}
        for chat in list(data.each("chats")) or [fields]:
            yield {
                **chat.all,
                "id": chat.id("chatID", "id"),
                "title": chat.words("chatTitle", "title"),
                "folder": folders.get(chat.id("folderID"), ""),
                "system": chat.inside("chatParams").text("systemMessage")
                or chat.text("systemMessage"),
            }


# --- Zed: messages keyed by their author ---------------------------------------------------


def _is_zed(first: Fields) -> bool:
    messages = list(first.each("messages"))[:3]
    named = any(set(one.all) & {"User", "Agent", "Resume"} for one in messages)
    segments = any("segments" in one and "role" in one for one in messages)
    return named or segments or first.text("zed") == "context"


def _zed(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for chat in found:
        messages: list[Common] = []
        for one in chat.each("messages"):
            if chat.text("zed") == "context":
                break
            if "segments" in one:
                messages.append(_zed_segments(one))
                continue
            for key, role in (("User", "user"), ("Agent", "assistant")):
                inner = one.inside(key)
                if inner:
                    content = [
                        piece for each in inner.list("content") for piece in _zed_piece(each)
                    ]
                    results = [
                        _zed_result(value) for value in inner.inside("tool_results").all.values()
                    ]
                    messages.append({"role": role, "content": [*content, *results]})
        if chat.text("zed") == "context":
            messages = _zed_slices(chat)
        yield {
            "id": chat.id("id"),
            "title": chat.words("title", "summary"),
            "updatedAt": chat.all.get("updated_at"),
            "model": chat.inside("model").text("model"),
            "messages": messages,
        }


def _zed_piece(piece: object) -> Iterator[Common | str]:
    if isinstance(piece, str):
        yield piece
    for kind, value in Fields(piece).all.items():
        inner = Fields(value)
        if kind == "Text" and isinstance(value, str):
            yield value
        elif kind == "Thinking":
            yield {"type": "thinking", "thinking": inner.text("text")}
        elif kind == "ToolUse":
            yield inner.all | {"type": "tool_use"}
        elif kind == "Mention":
            yield {"type": "file", "name": inner.inside("uri").text("name"), **inner.all}
        elif kind == "Image":
            source = inner.text("source")
            yield {"type": "image", "data": source, "mimeType": "image/png", "name": "image"}
        else:
            yield {"type": kind}


def _zed_result(value: object) -> Common:
    result = Fields(value)
    content = result.all.get("content")
    inner = Fields(content)
    words = inner.text("Text") or content
    name, failed = result.text("tool_name"), result.all.get("is_error")
    key = result.id("tool_use_id")
    return {"type": "tool_result", "id": key, "name": name, "content": words, "is_error": failed}


def _zed_segments(one: Fields) -> Common:
    calls = [call.all | {"type": "tool_use"} for call in one.each("tool_uses")]
    results = [result.all | {"type": "tool_result"} for result in one.each("tool_results")]
    role = one.text("role").casefold()
    return {"role": role, "content": [*one.list("segments"), *calls, *results]}


def _zed_slices(chat: Fields) -> list[Common]:
    """Split a text at the byte offsets where its messages begin."""
    text = chat.text("text").encode()
    begun = list(chat.each("messages"))
    # the first one begins with the text, and none before the one above it, whatever the file says
    starts = [0]
    for one in begun[1:]:
        starts.append(min(max(one.whole("start") or 0, starts[-1]), len(text)))
    starts.append(len(text))
    return [
        {
            "role": one.inside("metadata").text("role") or one.text("role"),
            "content": text[starts[number] : starts[number + 1]]
            .decode("utf-8", "replace")
            .strip("\n"),
        }
        for number, one in enumerate(begun)
    ]


# --- Chatbot UI ----------------------------------------------------------------------------


def _is_chatbot_ui(first: Fields) -> bool:
    return "history" in first and "folders" in first


def _chatbot_ui(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for fields in found:
        folders = {one.id("id"): one.words("name") for one in fields.each("folders")}
        for chat in fields.each("history"):
            yield chat.all | {"folder": folders.get(chat.id("folderId"), "")}


APPS: Iterable[Program] = (
    Program("librechat", "LibreChat", _is_librechat, _librechat),
    Program("sillytavern", "SillyTavern", _is_sillytavern, _sillytavern, has_lines=True),
    Program("character", "Character card", _is_character, _character),
    Program("chatbox", "Chatbox", _is_chatbox, _chatbox),
    Program("nextchat", "NextChat", _is_nextchat, _nextchat),
    Program("lobechat", "LobeChat", _is_lobechat, _lobechat),
    Program("typingmind", "TypingMind", _is_typingmind, _typingmind),
    Program("zed", "Zed", _is_zed, _zed),
    Program("chatbot-ui", "Chatbot UI", _is_chatbot_ui, _chatbot_ui),
)
