"""A conversation as one HTML file: it fetches nothing, runs nothing, and follows the reader's light
or dark theme. Printed documents are made from the body alone, without folds."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable

from msgspec import Struct

from headstart.core.chats.parts import ImagePart, Part, ReasoningPart, TextPart
from headstart.core.chats.prompt_words import label, words_in
from headstart.core.chats.values import Role
from headstart.core.markdown.json_answer import indented_json
from headstart.core.markdown.plain import plain_html
from headstart.core.resources import resources
from headstart.exchange.include import WORDS, Include
from headstart.exchange.rendering import Formulas, code_html, markdown_html
from headstart.exchange.tree import ChatNode, ExchangeChat
from headstart.exchange.writers.words import (
    author_of,
    date_words,
    ending_of,
    models_of,
    prompt_of,
    stats_words,
)


class Look(Struct, frozen=True):
    """The looks of a page: folds or none, and the form of formulas."""

    folds: bool
    formulas: Formulas


WEB = Look(True, Formulas.DRAWN)
DOCUMENT = Look(False, Formulas.NAMED)
CLIPBOARD = Look(False, Formulas.SOURCE)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def to_html(conversation: ExchangeChat, include: Include = WORDS) -> str:
    css = (resources() / "export" / "chat.css").read_text(encoding="utf-8")
    title = html.escape(conversation.title)
    return (
        "<!doctype html>\n"
        '<html><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="generator" content="Headstart">\n'
        f"<title>{title}</title>\n<style>\n{css}</style></head>\n"
        f"<body><main>\n{body(conversation, include)}</main></body></html>\n"
    )


def body(conversation: ExchangeChat, include: Include = WORDS, look: Look = WEB) -> str:
    """The content of the page."""
    nodes = conversation.branch()
    facts = [date_words(conversation.created_at), models_of(nodes)]
    meta = html.escape(" · ".join(fact for fact in facts if fact))
    pieces = [f'<h1 class="title">{html.escape(conversation.title)}</h1>\n']
    if meta:
        pieces.append(f'<p class="meta">{meta}</p>\n')
    if prompt_of(conversation):
        inside = plain_html(prompt_of(conversation))
        pieces.append(_framed("system", "System", inside))
    pieces += [_message(node, conversation, include, look) for node in nodes]
    if include.branches:
        pieces += _versions(conversation, nodes, include, look)
    return "".join(pieces)


def message_html(node: ChatNode, include: Include = WORDS) -> str:
    """One message, for the clipboard."""
    return "".join(_part(part, node.role, {}, include, CLIPBOARD) for part in node.parts)


def _versions(
    conversation: ExchangeChat, shown: Iterable[ChatNode], include: Include, look: Look
) -> Iterable[str]:
    places = {node.id: number for number, node in enumerate(conversation.nodes, 1)}
    for section in conversation.other_branches(shown):
        first = section[0]
        above = places.get(first.parent or "", 0)
        where = f"after message {above}" if above else "from the beginning"
        inside = "".join(_message(node, conversation, include, look) for node in section)
        heading = f"<h2>Another version, {where}</h2>\n"
        yield f'<section class="versions"><hr>\n{heading}{inside}</section>\n'


def _message(node: ChatNode, conversation: ExchangeChat, include: Include, look: Look) -> str:
    inside = "".join(
        _part(part, node.role, conversation.blobs, include, look) for part in node.parts
    )
    if include.stats and node.stats is not None:
        inside += f'<p class="stats">{html.escape(stats_words(node.stats))}</p>\n'
    if node.error:
        inside += f'<p class="stats">{html.escape(node.error)}</p>\n'
    who = "You"
    if node.role is Role.ASSISTANT:
        who = author_of(node.model) if node.model is not None else "Assistant"
        who += f" ({ending_of(node)})" if ending_of(node) else ""
    return _framed(node.role.value, who, inside)


def _framed(kind: str, who: str, inside: str) -> str:
    return (
        f'<div class="message {kind}"><p class="who">{html.escape(who)}</p>\n'
        f'<div class="text">\n{inside}</div></div>\n'
    )


def _part(part: Part, role: Role, blobs: object, include: Include, look: Look) -> str:
    match part:
        case TextPart() if role is Role.USER:
            # as in the window
            return plain_html(part.text)
        case TextPart():
            shown = indented_json(part.text)
            if shown is not None:
                return f"<pre><code>{code_html(shown, 'json')}</code></pre>\n"
            return markdown_html(part.text, look.formulas)
        case ReasoningPart():
            if not include.reasoning or not part.text.strip():
                return ""
            return _fold("Reasoning", markdown_html(part.text, look.formulas), look.folds)
        case ImagePart():
            data = blobs.get(part.blob.digest) if isinstance(blobs, dict) else None
            name = html.escape(part.name, quote=True)
            if data is None:
                return f"<p>{html.escape(label(part))}</p>\n"
            kind = html.escape(part.blob.media_type, quote=True)
            source = f"data:{kind};base64,{base64.b64encode(data).decode()}"
            wide = f' width="{min(part.width, 640)}"' if part.width else ""
            return f'<p><img src="{source}" alt="{name}"{wide}></p>\n'
        case _:
            words = html.escape(label(part))
            shown = words_in(part)
            if not shown.strip():
                return f"<p>{words}</p>\n"
            return _fold(words, f"<pre><code>{code_html(shown, '')}</code></pre>\n", look.folds)


def _fold(title: str, inside: str, folds: bool) -> str:
    if folds:
        return f"<details><summary>{title}</summary>\n{inside}</details>\n"
    return f'<div class="fold"><p class="meta">{title}</p>\n{inside}</div>\n'
