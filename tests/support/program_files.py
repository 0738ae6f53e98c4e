"""Conversation files of programs beside those of `conversation_files`, made by hand after how these
programs write them. Words that have to come in are numbered: w1, w2 and so on."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from tests.support.conversation_files import dumps, png

PICTURE = base64.b64encode(png()).decode()
MOMENT = "2026-04-01T10:00:00.000Z"


def lines(*rows: Any) -> bytes:
    return b"\n".join(dumps(row) for row in rows) + b"\n"


def deepseek() -> bytes:
    def node(key: str, parent: str, *fragments: dict[str, Any], **more: Any) -> dict[str, Any]:
        message = {"files": [], "inserted_at": MOMENT, "model": "m", "fragments": fragments} | more
        return {"id": key, "parent": parent, "children": [], "message": message}

    file = {"id": "f", "file_name": "list.txt", "content": "w2"}
    mapping = {
        "root": {"id": "root", "parent": None, "children": ["1"], "message": None},
        "1": node("1", "root", {"type": "REQUEST", "content": "w1"}, files=[file]),
        "2": node("2", "1", {"type": "RESPONSE", "content": "w3"}),
        "3": node(
            "3", "1", {"type": "THINK", "content": "w4"}, {"type": "RESPONSE", "content": "w5"}
        ),
    }
    return dumps([{"id": "d", "title": "Deep", "inserted_at": MOMENT, "mapping": mapping}])


def grok() -> bytes:
    def response(key: str, sender: str, message: str, parent: str | None, **more: Any) -> Any:
        moment = {"$date": {"$numberLong": "1769940001000"}}
        inner = {"_id": key, "sender": sender, "message": message, "create_time": moment}
        return {"response": inner | {"parent_response_id": parent, "model": "grok-4"} | more}

    responses = [
        response("1", "human", "w1", None),
        response("2", "assistant", "w2", "1", thinking_trace="w3"),
        response("3", "ASSISTANT", "w4", "1"),
    ]
    about = {"id": "g", "title": "Planets", "create_time": MOMENT, "leaf_response_id": "2"}
    chat = {"conversation": about, "responses": responses}
    return dumps({"conversations": [chat], "projects": []})


def lechat() -> bytes:
    def message(
        key: str, version: int, role: str, parent: str | None, above: int, text: str
    ) -> Any:
        chunks = [{"type": "text", "text": text}] if role == "assistant" else None
        return {
            "id": key, "version": version, "chatId": "c", "role": role, "createdAt": MOMENT,
            "content": "" if chunks else text, "contentChunks": chunks, "parentId": parent,
            "parentVersion": above if parent else None, "files": [],
        }  # fmt: skip

    return dumps(
        [
            message("1", 0, "user", None, 0, "w1"),
            message("2", 0, "assistant", "1", 0, "w2"),
            message("2", 1, "assistant", "1", 0, "w3"),
            message("3", 0, "user", "2", 1, "w4"),
        ]
    )


def huggingchat() -> bytes:
    messages = [
        {"id": "r", "from": "system", "content": "", "children": ["1"]},
        {"id": "1", "from": "user", "content": "w1", "ancestors": ["r"], "children": ["2", "3"],
         "createdAt": MOMENT},
        {"id": "2", "from": "assistant", "content": "w2", "reasoning": "w3",
         "ancestors": ["r", "1"], "children": [], "updates": [
             {"type": "tool", "subtype": "call", "uuid": "t",
              "call": {"name": "look", "parameters": {"q": "w4"}}},
             {"type": "tool", "subtype": "result", "uuid": "t",
              "result": {"call": {"name": "look"}, "outputs": [{"text": "w5"}]}}]},
        {"id": "3", "from": "assistant", "content": "w6", "ancestors": ["r", "1"], "children": []},
    ]  # fmt: skip
    chat = {"_id": "h", "title": "Salt", "model": "m", "rootMessageId": "r", "preprompt": "w7"}
    return dumps(chat | {"messages": messages})


def qwen() -> bytes:
    messages = {
        "1": {"id": "1", "parentId": None, "childrenIds": ["2"], "role": "user", "content": "w1",
              "timestamp": 1_767_000_000},
        "2": {"id": "2", "parentId": "1", "childrenIds": [], "role": "assistant", "content": "",
              "content_list": [{"phase": "think", "content": "w2"},
                               {"phase": "answer", "content": "w3"}],
              "model": "qwen3", "timestamp": 1_767_000_009},
    }  # fmt: skip
    chat = {"history": {"messages": messages, "currentId": "2"}, "models": ["qwen3"]}
    whole = {"id": "q", "title": "Tides", "created_at": 1_767_000_000, "chat": chat}
    return dumps({"success": True, "data": [whole]})


def perplexity() -> bytes:
    messages = [
        {"role": "user", "content": "w1", "created_at": MOMENT},
        {"role": "assistant", "content": "w2 [1].", "citations": ["https://example.org/a"]},
    ]
    return dumps({"threads": [{"thread_id": "p", "title": "Salt", "messages": messages}]})


def librechat(nested: bool = False) -> bytes:
    def message(key: str, parent: str, asked: bool, **more: Any) -> dict[str, Any]:
        return {
            "messageId": key, "conversationId": "l", "parentMessageId": parent, "error": False,
            "createdAt": MOMENT, "isCreatedByUser": asked, "sender": "User" if asked else "GPT",
            "model": None if asked else "gpt-4o",
        } | more  # fmt: skip

    root = "00000000-0000-0000-0000-000000000000"
    content = [
        {"type": "think", "think": "w3"},
        {"type": "tool_call", "tool_call": {"id": "t", "name": "look", "args": '{"q": "w4"}',
                                            "output": "w5"}},
        {"type": "text", "text": {"value": "w6"}},
    ]  # fmt: skip
    messages = [
        message("1", root, True, text="w1"),
        message("2", "1", False, text="w2"),
        message("3", "1", False, text="", content=content),
    ]
    if nested:
        messages = [messages[0] | {"children": messages[1:]}]
    options = {"model": "gpt-4o", "promptPrefix": "w7"}
    chat = {"conversationId": "l", "title": "Fjords", "options": options, "recursive": nested}
    return dumps(chat | {"messages": messages})


def sillytavern() -> bytes:
    def said(name: str, text: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "is_user": name == "Reader", "mes": text, "extra": {},
                "send_date": "January 1, 2026 10:02am"} | more  # fmt: skip

    return lines(
        {"user_name": "Reader", "character_name": "Mara", "chat_metadata": {}},
        said("Mara", "w1"),
        said("Reader", "w2"),
        said("Mara", "w3", swipe_id=1, swipes=["w4", "w3"],
             extra={"model": "m", "reasoning": "w5"}),
    )  # fmt: skip


def character() -> bytes:
    data = {
        "name": "Mara", "description": "w1 {{char}}", "personality": "w2", "scenario": "",
        "first_mes": "w3", "alternate_greetings": ["w4"], "mes_example": "",
    }  # fmt: skip
    return dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": data})


def chatbox() -> bytes:
    def message(key: str, role: str, *content: dict[str, str]) -> dict[str, Any]:
        return {"id": key, "role": role, "timestamp": 1_767_000_000_000, "contentParts": content}

    session = {
        "id": "s", "name": "Salt", "type": "chat",
        "messages": [
            message("0", "system", {"type": "text", "text": "w1"}),
            message("1", "user", {"type": "text", "text": "w2"}),
            message("2", "assistant", {"type": "reasoning", "text": "w3"},
                    {"type": "text", "text": "w4"}),
        ],
        "threads": [{"id": "t", "name": "Older", "messages": [
            message("9", "user", {"type": "text", "text": "w5"})]}],
        "messageForksHash": {"1": {"position": 0, "lists": [
            {"messages": []},
            {"messages": [message("8", "assistant", {"type": "text", "text": "w6"})]}]}},
    }  # fmt: skip
    return dumps({"chat-sessions-list": [{"id": "s"}], "session:s": session})


def nextchat() -> bytes:
    messages = [
        {"id": "1", "date": "1/2/2026, 10:00:00 AM", "role": "user", "content": "w1"},
        {"id": "2", "date": "1/2/2026, 10:00:05 AM", "role": "assistant", "content": "w2"},
    ]
    mask = {"name": "Salt", "context": [{"role": "system", "content": "w3"}]}
    session = {"id": "n", "topic": "Salt", "memoryPrompt": "", "messages": messages, "mask": mask}
    return dumps({"chat-next-web-store": {"sessions": [session]}})


def lobechat() -> bytes:
    def row(key: str, role: str, topic: str | None, **more: Any) -> dict[str, Any]:
        return {"id": key, "role": role, "sessionId": "s", "topicId": topic,
                "createdAt": 1_767_000_000_000 + int(key)} | more  # fmt: skip

    call = {"id": "t", "apiName": "look", "arguments": '{"q": "w4"}', "type": "default"}
    messages = [
        row("1", "user", "t", content="w1"),
        row("2", "assistant", "t", content="w2", reasoning={"content": "w3"}, tools=[call]),
        row("3", "tool", "t", content="w5", tool_call_id="t"),
        row("4", "user", None, content="w6"),
    ]
    config = {"systemRole": "w7", "model": "m"}
    sessions = [{"id": "s", "meta": {"title": "Helper"}, "config": config}]
    state = {"messages": messages, "sessions": sessions, "topics": [{"id": "t", "title": "Salt"}]}
    return dumps({"exportType": "sessions", "state": state, "version": 7})


def typingmind() -> bytes:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "w1"}], "createdAt": MOMENT},
        {"role": "assistant", "content": "w2", "createdAt": MOMENT, "model": "m"},
    ]
    chat = {"chatID": "t", "chatTitle": "Salt", "folderID": "f", "messages": messages}
    data = {"chats": [chat], "folders": [{"id": "f", "title": "Kitchen"}]}
    return dumps({"data": data})


def zed() -> bytes:
    agent = [
        {"Thinking": {"text": "w2", "signature": None}},
        {"Text": "w3"},
        {"ToolUse": {"id": "t", "name": "look", "input": {"q": "w4"}}},
    ]
    results = {"t": {"tool_use_id": "t", "tool_name": "look", "content": {"Text": "w5"}}}
    messages = [
        {"User": {"id": "1", "content": [{"Text": "w1"}]}},
        {"Agent": {"content": agent, "tool_results": results}},
    ]
    return dumps({"title": "Salt", "messages": messages, "updated_at": MOMENT, "version": "0.3.0"})


def zed_text() -> bytes:
    text = "é w1 \n w2"
    messages = [
        {"id": 1, "start": 0, "metadata": {"role": "user", "status": "Done"}},
        {"id": 2, "start": 7, "metadata": {"role": "assistant", "status": "Done"}},
    ]
    return dumps({"zed": "context", "id": "z", "text": text, "messages": messages, "summary": "S"})


def anythingllm() -> bytes:
    rows = [
        {"workspace": "Kitchen", "prompt": "w1", "response": "w2", "sent_at": MOMENT},
        {"workspace": "Kitchen", "prompt": "w3", "response": {"text": "w4"}, "sent_at": MOMENT},
    ]
    return dumps(rows)


def alpaca() -> bytes:
    return dumps([{"instruction": "w1", "input": "w2", "output": "w3"}])


def chatbot_ui() -> bytes:
    messages = [{"role": "user", "content": "w1"}, {"role": "assistant", "content": "w2"}]
    chat = {"id": "1", "name": "Salt", "messages": messages, "prompt": "w3", "folderId": "f"}
    return dumps({"version": 4, "history": [chat], "folders": [{"id": "f", "name": "Kitchen"}]})


def oobabooga() -> bytes:
    rows = [["<|BEGIN-VISIBLE-CHAT|>", "w1"], ["w2", "w3"]]
    versions = [{"content": "w4"}, {"content": "w3"}]
    about = {"versions": versions, "current_version_index": 1, "timestamp": "Jan 01, 2026 10:00"}
    return dumps({"internal": rows, "visible": rows, "metadata": {"assistant_1": about}})


def claude_code() -> bytes:
    def said(key: str, parent: str | None, kind: str, content: Any, **more: Any) -> dict[str, Any]:
        return {"type": kind, "uuid": key, "parentUuid": parent, "sessionId": "s",
                "isSidechain": False, "timestamp": MOMENT,
                "message": {"role": kind, "model": "m", "content": content}} | more  # fmt: skip

    call = {"type": "tool_use", "id": "t", "name": "Read", "input": {"path": "w3"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "w4"}
    return lines(
        {"type": "summary", "summary": "Rename", "leafUuid": "5"},
        said("0", None, "user", "<command-name>/clear</command-name>", isMeta=True),
        said("1", "0", "user", "w1"),
        said("2", "1", "assistant", [{"type": "thinking", "thinking": "w2"}]),
        said("3", "2", "assistant", [call]),
        said("4", "3", "user", [result]),
        said("5", "4", "assistant", [{"type": "text", "text": "w5"}]),
    )


def codex() -> bytes:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": MOMENT, "type": "response_item", "payload": payload}

    def said(role: str, text: str) -> dict[str, Any]:
        return item(type="message", role=role, content=[{"type": "input_text", "text": text}])

    return lines(
        {"timestamp": MOMENT, "type": "session_meta", "payload": {"id": "x", "cwd": "/w"}},
        {"timestamp": MOMENT, "type": "turn_context", "payload": {"model": "m"}},
        said("user", "<environment_context>\n/w\n</environment_context>"),
        said("user", "w1"),
        item(type="reasoning", summary=[{"type": "summary_text", "text": "w2"}]),
        item(type="function_call", name="shell", arguments='{"cmd": "w3"}', call_id="t"),
        item(type="function_call_output", call_id="t", output="w4"),
        {"timestamp": MOMENT, "type": "event_msg",
         "payload": {"type": "agent_message", "message": "w5"}},
        said("assistant", "w5"),
    )  # fmt: skip


def vscode() -> bytes:
    request = {
        "requestId": "r", "message": {"text": "w1"}, "timestamp": 1_767_000_000_000,
        "variableData": {"variables": []}, "modelId": "m",
        "response": [{"kind": "thinking", "value": "w2"}, {"value": "w3"},
                     {"kind": "inlineReference", "inlineReference": {"name": "w4"}}],
    }  # fmt: skip
    return dumps({"sessionId": "v", "requests": [request], "responderUsername": "GitHub Copilot"})


def cursor() -> bytes:
    head = "# Rename\n_Exported on 1/1/2026 at 10:00:00 GMT from Cursor (2.1)_\n\n---\n\n"
    return f"{head}**User**\n\nw1\n\n---\n\n**Cursor**\n\nw2\n\n---\n".encode()


def aider() -> bytes:
    text = "\n# aider chat started at 2026-01-01 10:00:00\n\n> Aider v0.80\n\n"
    return f"{text}#### w1  \n#### w2\n\nw3\n\n> Applied edit to a.py\n\n#### w4\n\nw5\n".encode()


def copilot() -> bytes:
    head = "Conversation,Time,Author,Message\n"
    return (
        f'{head}Salt,2026-01-01T10:00:00,Human,w1\nSalt,2026-01-01T10:00:05,AI,"w2, w3"\n'.encode()
    )


def anthropic() -> bytes:
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PICTURE},
    }
    messages = [
        {"role": "user", "content": "w1"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "w2"}, {"type": "text", "text": "w3"},
            {"type": "tool_use", "id": "t", "name": "look", "input": {"q": "w4"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "w5"}, image]},
    ]  # fmt: skip
    return dumps({"system": [{"type": "text", "text": "w6"}], "messages": messages})


def takeout_page() -> bytes:
    def cell(title: str, moment: str, answer: str) -> str:
        return (
            '<div class="outer-cell mdl-cell"><div class="mdl-grid"><div class="header-cell">'
            '<p class="mdl-typography--title">Gemini Apps<br></p></div>'
            f'<div class="content-cell mdl-cell mdl-typography--body-1">{title}<br>{moment}<br>'
            f'{answer}</div><div class="content-cell mdl-typography--caption">x</div></div></div>'
        )

    page = cell("Prompted&nbsp;w3", "Mar 1, 2026, 10:01:00 AM UTC", "<p>w4</p>")
    page += cell("Prompted&nbsp;w1", "Mar 1, 2026, 10:00:00\u202fAM UTC", "<p>w2</p>")
    return f"<html><body>{page}</body></html>".encode()


# the code of each format, and a file of it
PROGRAMS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "DeepSeek": ("deepseek", deepseek),
    "Grok": ("grok", grok),
    "Le Chat": ("le-chat", lechat),
    "HuggingChat": ("huggingchat", huggingchat),
    "Qwen": ("qwen", qwen),
    "Perplexity": ("perplexity", perplexity),
    "LibreChat": ("librechat", librechat),
    "LibreChat, nested": ("librechat", lambda: librechat(nested=True)),
    "SillyTavern": ("sillytavern", sillytavern),
    "character card": ("character", character),
    "Chatbox": ("chatbox", chatbox),
    "NextChat": ("nextchat", nextchat),
    "LobeChat": ("lobechat", lobechat),
    "TypingMind": ("typingmind", typingmind),
    "Zed": ("zed", zed),
    "Zed, text": ("zed", zed_text),
    "AnythingLLM": ("anythingllm", anythingllm),
    "Alpaca": ("alpaca", alpaca),
    "Chatbot UI": ("chatbot-ui", chatbot_ui),
    "text-generation-webui": ("text-generation-webui", oobabooga),
    "Claude Code": ("claude-code", claude_code),
    "Codex": ("codex", codex),
    "VS Code": ("vscode", vscode),
    "Cursor": ("cursor", cursor),
    "aider": ("aider", aider),
    "Copilot": ("copilot", copilot),
    "Anthropic": ("list", anthropic),
    "Gemini page": ("gemini", takeout_page),
}
