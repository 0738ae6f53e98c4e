"""Makes new messages, and requests from a chat, a branch and settings.

Pure: anything that needs a lookup (the model, its draft) is passed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from headstart.core.audiences import Audience, of_chat
from headstart.core.chats.parts import (
    ImagePart,
    OtherPart,
    Part,
    ReasoningPart,
    TextPart,
    text_part,
)
from headstart.core.chats.prompt_words import label, prompt_text
from headstart.core.chats.steps import has_calls, step_messages, steps
from headstart.core.chats.unsent import Unsent
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.chats.variables import filled
from headstart.core.knowledge.pinned import DocumentText, with_documents
from headstart.core.knowledge.survey import shared_texts
from headstart.core.models.ref import AnyModel
from headstart.core.own_tools import own_specs
from headstart.core.requests import (
    AheadRequest,
    GenerationRequest,
    LoadRequest,
    PromptImage,
    PromptMessage,
    RemoteRequest,
    WrittenSoFar,
)
from headstart.core.retention import decide
from headstart.core.servers import ServerModel
from headstart.core.settings.inheritance import NO_ADVICE, Effective, effective
from headstart.core.settings.schema import SamplingChoice, Settings
from headstart.core.tools import Tools, ToolSpec

# end of the year 9998, the latest date for a chat: an import may claim any time
_LAST_SECOND = 253_370_764_800
# bytes of images by digest
Images = Mapping[str, bytes]
NO_IMAGES: Images = {}


class Asked(Struct, frozen=True):
    """The messages to answer: `branch` up to the question, and the parts of the reply so far."""

    chat: Chat
    branch: tuple[Message, ...]
    reply_id: str
    written: tuple[Part, ...] = ()
    # the key of the model that wrote them; "" if unknown
    written_by: str = ""
    # tools that servers lend
    lent: tuple[ToolSpec, ...] = ()
    # whole documents that stand first
    documents: tuple[DocumentText, ...] = ()
    # a document's, for a question to many: it gives way to replies, and keeps its state
    beside: bool = False
    # who may reuse what is computed; None: the chat's own
    audience: Audience | None = None

    @property
    def tools(self) -> Tools:
        """The tools that the chat has switched on."""
        return Tools((*own_specs(self.chat.options.tools), *self.lent))

    def steps_so_far(self, images: Images) -> tuple[PromptMessage, ...]:
        """The finished steps of the reply so far: calls, and their results. `images`: bytes."""
        if not self.tools or not has_calls(self.written):
            return ()
        messages = step_messages(self.written, self.reply_id, lambda more: _images(more, images))
        if messages and messages[-1].role is Role.ASSISTANT and not messages[-1].calls:
            messages.pop()
        return tuple(messages)

    def so_far(self, model: AnyModel) -> WrittenSoFar:
        """The reply so far, for the model that continues it; reasoning by another model counts as
        ended. With tools only the step that is being written."""
        now: Sequence[Part] = self.written
        if self.tools and has_calls(self.written):
            last = steps(self.written)[-1]
            now = () if last.calls else last.said
        reasoning = _reasoning(now)
        text = "".join(part.text for part in now if isinstance(part, TextPart))
        by_another = self.written_by not in ("", model.key)
        return WrittenSoFar(reasoning, text, bool(text) or by_another)


def new_question(
    chat_id: str, parent: str | None, text: str, others: Sequence[OtherPart] = ()
) -> Message:
    """A complete user message; `others` come before the text."""
    status, parts = MessageStatus.COMPLETE, (*others, *text_part(text))
    return Message(new_id(), chat_id, parent, Role.USER, status, parts, now_ms())


def open_reply(chat_id: str, parent: str | None, model: AnyModel) -> Message:
    """An empty reply, to be written."""
    return Message(
        new_id(),
        chat_id,
        parent,
        Role.ASSISTANT,
        MessageStatus.OPEN,
        (),
        now_ms(),
        model=model.name,
        model_host=model.host or None,
        model_key=model.key,
    )


def local_request(
    asked: Asked,
    wanted: LoadRequest,
    settings: Settings,
    advice: SamplingChoice = NO_ADVICE,
    images: Images = NO_IMAGES,
) -> GenerationRequest:
    """A request to a local model. `advice`: its makers' sampling advice. `images`: bytes of the
    branch's images, if the model has vision."""
    chat = asked.chat
    chosen = effective(settings, chat.options, wanted.model.key, advice, chat.above)
    return GenerationRequest(
        load=wanted,
        messages=(
            *prompt_messages(asked.branch, _first(asked, chosen), images, bool(asked.tools)),
            *asked.steps_so_far(images),
        ),
        sampling=chosen.sampling,
        when_full=chosen.when_full,
        tools=asked.tools,
        chat_id=asked.chat.id,
        reply_so_far=asked.so_far(wanted.model),
        thinking=chosen.thinking,
        speculation=chosen.speculation,
        reply_key=asked.reply_id,
        retention=decide(settings, asked.chat),
        audience=asked.audience or of_chat(asked.chat),
        served=asked.beside,
        beginning_only=asked.beside,
        shared=shared_texts(asked.documents, wanted.model.key),
    )


def remote_request(
    asked: Asked, model: ServerModel, settings: Settings, images: Images = NO_IMAGES
) -> RemoteRequest:
    """A request to a server. `images`: bytes of the branch's images."""
    chosen = effective(settings, asked.chat.options, model.key, above=asked.chat.above)
    return RemoteRequest(
        model=model,
        messages=(
            *prompt_messages(asked.branch, _first(asked, chosen), images, bool(asked.tools)),
            *asked.steps_so_far(images),
        ),
        sampling=chosen.sampling,
        tools=asked.tools,
        reply_so_far=asked.so_far(model),
        speculation=chosen.speculation,
    )


def ahead_request(
    asked: Asked,
    unsent: Unsent,
    wanted: LoadRequest,
    settings: Settings,
    images: Images = NO_IMAGES,
) -> AheadRequest:
    """A request to prefill the known part of the next prompt: the chat and the unsent text."""
    chat, branch, tools = asked.chat, asked.branch, asked.tools
    chosen = effective(settings, chat.options, wanted.model.key, above=chat.above)
    if chosen.files_from:
        # passages that are found when it is sent will stand before it
        unsent = Unsent(unsent.chat_id, begun=unsent.begun)
    parts = (*unsent.parts, *text_part(unsent.text))
    return AheadRequest(
        load=wanted,
        messages=prompt_messages(branch, _first(asked, chosen), images, bool(tools)),
        tools=tools,
        chat_id=chat.id,
        typed=prompt_text(parts),
        attached=tuple(prompt_text([part]) for part in unsent.parts),
        images=_images(unsent.parts, images),
        when_full=chosen.when_full,
        thinking=chosen.thinking,
        retention=decide(settings, chat, stored=bool(branch)),
        audience=of_chat(chat),
        speculation=chosen.speculation,
    )


def _first(asked: Asked, chosen: Effective) -> str:
    """The documents, and the system prompt behind them."""
    return with_documents(asked.documents, system_prompt(asked.chat, chosen))


def system_prompt(chat: Chat, chosen: Effective) -> str:
    """The system prompt, filled with this chat's values and the date it began."""
    seconds = min(max(0, chat.created_at // 1000), _LAST_SECOND)
    began = datetime.fromtimestamp(seconds).date()
    return filled(chosen.system_prompt, chat.options.values, began)


def prompt_messages(
    branch: Sequence[Message],
    system_prompt: str,
    images: Images = NO_IMAGES,
    with_calls: bool = False,
) -> tuple[PromptMessage, ...]:
    """The system prompt and the branch; replies without text are left out. `with_calls`: tool
    calls and their results are messages of their own; without tools they are text.

    Two user messages in a row, which many templates refuse, become one.
    """
    result: list[PromptMessage] = []
    if system_prompt.strip():
        result.append(PromptMessage(Role.SYSTEM, system_prompt.strip(), "system"))
    for message in branch:
        if with_calls and message.role is Role.ASSISTANT and has_calls(message.parts):
            result += step_messages(message.parts, message.id, lambda more: _images(more, images))
            continue
        text, seen = prompt_text(message.parts), _images(message.parts, images)
        if not text.strip() and message.role is Role.ASSISTANT:
            continue
        if result and result[-1].role is message.role is Role.USER:
            last = result.pop()
            text, seen = f"{last.text}\n\n{text}", (*last.images, *seen)
        reasoning = _reasoning(message.parts) if message.role is Role.ASSISTANT else ""
        result.append(PromptMessage(message.role, text, message.id, reasoning, seen))
    return tuple(result)


def images_in(branch: Sequence[Message], written: Sequence[Part] = ()) -> list[ImagePart]:
    """All images of a branch and of a reply so far, without duplicates."""
    return images_among([*(part for one in branch for part in one.parts), *written])


def images_among(parts: Iterable[Part]) -> list[ImagePart]:
    """All images among these parts, without duplicates."""
    found = (part for part in parts if isinstance(part, ImagePart))
    return list({part.blob.digest: part for part in found}.values())


def _images(parts: Sequence[Part], images: Images) -> tuple[PromptImage, ...]:
    return tuple(
        PromptImage(label(part), part.blob.media_type, images[part.blob.digest], part.blob.digest)
        for part in parts
        if isinstance(part, ImagePart) and part.blob.digest in images
    )


def _reasoning(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, ReasoningPart))
