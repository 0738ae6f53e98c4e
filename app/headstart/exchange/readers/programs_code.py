"""Sessions of coding programs: Claude Code, Codex, VS Code's chat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from headstart.exchange.fields import Fields
from headstart.exchange.readers.pieces import Collector, as_json
from headstart.exchange.readers.programs import Common, Program, linked

# beginnings of texts that a program adds to the user's
_OWN_WORDS = (
    "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions",
    "<command-name>", "<local-command-", "<system-reminder>", "<turn_aborted>",
    "Caveat: The messages",
)  # fmt: skip


def _is_own(text: str) -> bool:
    return text.lstrip().startswith(_OWN_WORDS)


def _left_out(count: int, collect: Collector) -> None:
    if count:
        collect.report.skip(collect.where, "import-lines-left-out", count=count)


# --- Claude Code: lines that name their parents --------------------------------------------


def _is_claude_code(first: Fields) -> bool:
    return (
        "leafUuid" in first
        or first.text("type") == "file-history-snapshot"
        or ("sessionId" in first and ("uuid" in first or "isSidechain" in first))
    )


def _claude_code(found: Sequence[Fields], collect: Collector) -> Iterator[Common]:
    title, own = "", 0
    parents = {one.id("uuid"): one.id("parentUuid", "logicalParentUuid") for one in found}
    sessions: dict[str, list[Common]] = {}
    for one in found:
        kind = one.text("type")
        title = one.words("customTitle", "aiTitle") or title or one.words("summary")
        inner = one.inside("message")
        if kind not in ("user", "assistant") or not inner:
            continue
        if one.flag("isSidechain") or one.flag("isMeta") or _is_own(inner.text("content")):
            own += 1
            continue
        sessions.setdefault(one.id("sessionId"), []).append(
            {
                "id": one.id("uuid"),
                "parentId": one.id("parentUuid", "logicalParentUuid"),
                "role": "tool" if _is_result(inner) else kind,
                "content": inner.all.get("content"),
                "createdAt": one.all.get("timestamp"),
                "model": inner.text("model"),
            }
        )
    _left_out(own, collect)
    for key, messages in sessions.items():
        present = {one["id"] for one in messages}
        for message in messages:
            # a reply to a skipped line is attached to the line before that
            seen: set[str] = set()
            while message["parentId"] and message["parentId"] not in present | seen:
                seen.add(message["parentId"])
                message["parentId"] = parents.get(message["parentId"], "")
        yield {"id": key, "title": title, "messages": messages}


def _is_result(message: Fields) -> bool:
    pieces = list(message.each("content"))
    return bool(pieces) and all(one.text("type") == "tool_result" for one in pieces)


# --- Codex: items of a session, with or without an envelope --------------------------------


def _is_codex(first: Fields) -> bool:
    if first.text("type") in ("session_meta", "response_item", "turn_context"):
        return bool(first.inside("payload"))
    return first.text("record_type") == "state" or (
        "instructions" in first and "timestamp" in first and "id" in first and "role" not in first
    )


def _codex(found: Sequence[Fields], collect: Collector) -> Iterator[Common]:
    about, model, own = Fields(None), "", 0
    messages: list[Common] = []
    events: list[Common] = []
    for one in found:
        kind, item = one.text("type"), one.inside("payload") or one
        if kind == "session_meta" or (not about and "instructions" in one and "role" not in one):
            about = about or item
        elif kind == "turn_context":
            model = item.text("model") or model
        elif kind == "event_msg":
            events += _codex_event(item)
        elif item.text("type") or item.text("role"):
            new = _codex_item(item)
            if new is None:
                own += 1
                continue
            moment = {"createdAt": one.all.get("timestamp"), "model": model}
            messages += [moment | message for message in new]
    _left_out(own, collect)
    # without items there are only events with the same content
    yield {
        "id": about.id("id"),
        "createdAt": about.all.get("timestamp"),
        "system": "",
        "messages": linked(messages or events),
    }


def _codex_event(item: Fields) -> list[Common]:
    text = item.text("message", "text")
    match item.text("type"):
        case "user_message":
            return [{"role": "user", "content": text}]
        case "agent_message":
            return [{"role": "assistant", "content": text}]
        case "agent_reasoning":
            return [{"role": "assistant", "content": [{"type": "thinking", "thinking": text}]}]
    return []


def _codex_item(item: Fields) -> list[Common] | None:
    """Messages of an item; None for the program's internal items."""
    kind = item.text("type") or "message"
    match kind:
        case "message":
            role = item.text("role")
            words = "".join(one.text("text") for one in item.each("content")) or item.text(
                "content"
            )
            if role not in ("user", "assistant") or _is_own(words):
                return None
            return [{"role": role, "content": item.all.get("content")}]
        case "reasoning":
            pieces = [*item.each("summary"), *item.each("content")]
            text = "\n\n".join(filter(None, (one.text("text") for one in pieces)))
            # without text it is encrypted
            return [_said({"type": "thinking", "thinking": text})] if text else None
        case "function_call" | "custom_tool_call" | "mcp_tool_call":
            call = item.all | {"type": "tool_call", "id": item.id("call_id", "id")}
            return [_said(call)]
        case "local_shell_call" | "web_search_call":
            name = kind.removesuffix("_call")
            action = as_json(item.all.get("action"))
            return [_said({"type": "tool_call", "id": item.id("call_id", "id"), "name": name,
                           "arguments": action})]  # fmt: skip
        case "function_call_output" | "custom_tool_call_output":
            return [_said(item.all | {"type": "tool_result", "id": item.id("call_id")})]
    return None


def _said(piece: Common) -> Common:
    return {"role": "assistant", "content": [piece]}


# --- VS Code's chat: requests with their responses -----------------------------------------


def _is_vscode(first: Fields) -> bool:
    return any("message" in one and "response" in one for one in first.each("requests"))


def _vscode(found: Sequence[Fields], _: Collector) -> Iterator[Common]:
    for chat in found:
        messages: list[Common] = []
        for request in chat.each("requests"):
            moment = request.all.get("timestamp")
            asked = request.inside("message").text("text") or request.text("message")
            files = [
                {"name": one.words("name"), "text": one.text("value")}
                for one in request.inside("variableData").each("variables")
            ]
            model = request.text("modelId")
            messages.append({"role": "user", "content": asked, "createdAt": moment, "files": files})
            messages.append(
                {"role": "assistant", "content": list(_vscode_pieces(request)),
                 "createdAt": moment, "model": model}
            )  # fmt: skip
        yield {
            "id": chat.id("sessionId"),
            "title": chat.words("customTitle"),
            "createdAt": chat.all.get("creationDate"),
            "messages": messages,
        }


def _vscode_pieces(request: Fields) -> Iterator[Common | str]:
    for one in request.each("response"):
        kind = one.text("kind")
        inner = one.inside("content")
        text = one.text("value", "content") or inner.text("value")
        if kind == "thinking":
            yield {"type": "thinking", "thinking": text}
        elif kind in ("toolInvocationSerialized", "toolInvocation"):
            about = one.inside("pastTenseMessage") or one.inside("invocationMessage")
            arguments = about.text("value") or one.text("pastTenseMessage", "invocationMessage")
            yield {"type": "tool_call", "id": one.id("toolCallId"), "name": one.text("toolId"),
                   "arguments": arguments}  # fmt: skip
        elif kind == "inlineReference":
            reference = one.inside("inlineReference")
            path = reference.inside("location").inside("uri").text("path") or reference.text("path")
            name = reference.text("name") or path.rpartition("/")[2]
            if name:
                yield f"`{name}`"
        elif kind == "textEditGroup":
            edits = [edit.text("text") for group in one.list("edits") for edit in _each(group)]
            if any(edits):
                yield "\n```\n" + "".join(edits) + "\n```\n"
        elif text:
            yield text


def _each(value: object) -> Iterator[Fields]:
    for one in value if isinstance(value, list) else [value]:
        yield Fields(one)


CODE: Iterable[Program] = (
    Program("claude-code", "Claude Code", _is_claude_code, _claude_code, has_lines=True),
    Program("codex", "Codex", _is_codex, _codex, has_lines=True),
    Program("vscode", "VS Code chat", _is_vscode, _vscode),
)
