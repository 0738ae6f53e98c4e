"""Fields of a body, read with patience: an unknown field is passed over, a wrong value has a
sentence. Pure, but for a seed that a program leaves to chance."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from headstart.core.requests import PromptImage
from headstart.core.schema_bounds import MOST_IN_ALL, excess_in_all, excess_of
from headstart.core.settings.schema import SamplingChoice, Thinking
from headstart.core.text.whole import whole
from headstart.core.tools import LONGEST_NAME, Choosing, ToolChoice, ToolSpec
from headstart.server.dialects.declined import Declined

Body = Mapping[str, Any]
# bytes of one image
_LARGEST_IMAGE = 48 << 20
# seeds that mean another one for each reply: -1, and the same as an unsigned number
_SEEDS = 2**32 - 1
_ANY_SEED = (-1, _SEEDS)
# the most tokens of a reply as a setting: no limit but the context
_NO_LIMIT = 0
_EFFORTS: dict[str, Thinking] = {
    "none": "off",
    "off": "off",
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "max",
    "max": "max",
}


class Content(Struct, frozen=True):
    """The text and the images of one message."""

    text: str = ""
    images: tuple[PromptImage, ...] = ()


def text_field(body: Body, name: str) -> str:
    """A text; "" where there is none. Numbers are no texts."""
    found = body.get(name)
    return whole(found) if isinstance(found, str) else ""


def list_field(body: Body, name: str) -> list[Any]:
    """A list; empty where the field is missing. Refuses anything else."""
    found = body.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise Declined(f"'{name}' must be a list.", param=name)
    return found


def number(body: Body, name: str, least: float, most: float) -> float | None:
    """A number, clipped to what the engine takes; None where there is none."""
    found = body.get(name)
    if found is None:
        return None
    # an integer may be larger than any float
    if (
        isinstance(found, bool)
        or not isinstance(found, int | float)
        or (isinstance(found, float) and math.isnan(found))
    ):
        raise Declined(f"'{name}' must be a number.", param=name)
    return min(max(found, least), most)


def whole_number(body: Body, names: Sequence[str], most: int) -> int | None:
    """The first of these fields that is there; None where none is."""
    for name in names:
        found = number(body, name, 0, most)
        if found is not None:
            return int(found)
    return None


def sampling(body: Body, longest: Sequence[str], stops: Sequence[str]) -> SamplingChoice:
    """The sampling values that a body names. `longest`: its names of the most tokens; `stops`: of
    its stop strings."""
    share = number(body, "top_p", -1, 1)
    penalty = number(body, "repeat_penalty", 1, 2)
    return SamplingChoice(
        temperature=number(body, "temperature", 0, 2),
        # -1 is off, as for the other steps that have their 0 for it
        top_p=1.0 if share is not None and share < 0 else share,
        top_k=whole_number(body, ["top_k"], 1000),
        min_p=number(body, "min_p", 0, 1),
        repeat_penalty=penalty,
        presence_penalty=number(body, "presence_penalty", -2, 2),
        seed=_seed(body.get("seed")),
        max_tokens=_most_tokens(body, longest),
        stop=_stop(body, stops),
    )


def _seed(found: object) -> int | None:
    if found is None:
        return None
    fraction = isinstance(found, float) and not found.is_integer()
    if isinstance(found, bool) or not isinstance(found, int | float) or fraction:
        raise Declined("'seed' must be a whole number.", param="seed")
    seed = int(found)
    # not None: that is the seed of the settings, which may be fixed
    return secrets.randbelow(_SEEDS) if seed in _ANY_SEED else seed % _SEEDS


def _most_tokens(body: Body, names: Sequence[str]) -> int | None:
    """The most tokens of a reply, by the first of these fields that is there; a number below 0 is
    no limit, as llama.cpp, LM Studio and Ollama have it (-1, -2)."""
    for name in names:
        found = number(body, name, -1, 1_000_000)
        if found is None:
            continue
        if found < 0:
            return _NO_LIMIT
        if found < 1 or found != int(found):
            raise Declined(f"'{name}' is a whole number from 1 on, or -1 for no limit.", param=name)
        return int(found)
    return None


def _stop(body: Body, names: Sequence[str]) -> tuple[str, ...] | None:
    for name in names:
        found = body.get(name)
        if found is None:
            continue
        texts = [found] if isinstance(found, str) else found
        if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
            raise Declined(f"'{name}' must be a text or a list of texts.", param=name)
        if len(texts) > 64 or any(len(one) > 200 for one in texts):
            raise Declined(f"'{name}' takes 64 texts of 200 characters.", param=name)
        return tuple(whole(one) for one in texts if one)
    return None


def effort(value: object) -> Thinking | None:
    """A word for how much a model is to think; None for a word that nobody knows."""
    return _EFFORTS.get(value.casefold()) if isinstance(value, str) else None


def refuse_several(body: Body) -> None:
    """Refuse what this server cannot do, in place of doing something else."""
    several = body.get("n")
    if several is not None and several != 1:
        raise Declined("This server writes one reply to a request: 'n' must be 1.", param="n")
    if body.get("frequency_penalty"):
        raise Declined(
            "This server has no 'frequency_penalty': send 'presence_penalty' or 'repeat_penalty'.",
            param="frequency_penalty",
        )
    if body.get("logit_bias"):
        raise Declined("This server takes no 'logit_bias'.", param="logit_bias")
    if body.get("logprobs") or body.get("top_logprobs"):
        raise Declined("This server gives no log probabilities.", param="logprobs")
    kinds = body.get("modalities")
    if body.get("audio") or (isinstance(kinds, list) and "audio" in kinds):
        raise Declined("This server writes text, no sound.", param="modalities")


def output_schema(form: object) -> str | None:
    """The JSON Schema of a wanted answer, of the shapes that the dialects have; None for text."""
    if not isinstance(form, Mapping):
        return None
    kind = form.get("type")
    if kind == "json_object":
        return '{"type": "object"}'
    if kind != "json_schema":
        return None
    inner = form.get("json_schema")
    schema = form.get("schema") if not isinstance(inner, Mapping) else inner.get("schema")
    if not isinstance(schema, Mapping):
        raise Declined("A wanted 'json_schema' needs its 'schema'.", param="response_format")
    excess = excess_of(schema)
    if excess is not None:
        raise Declined(f"The wanted 'json_schema' has {excess.words()}.", param="response_format")
    return as_json(schema)


def content(value: object, gap: str = "\n\n") -> Content:
    """The content of a message: a text, or a list of blocks. The same texts give the same text in
    both shapes."""
    if value is None:
        return Content()
    if isinstance(value, str):
        return Content(whole(value))
    blocks = [value] if isinstance(value, Mapping) else value
    if not isinstance(blocks, list):
        raise Declined("The content of a message is a text or a list.", param="messages")
    texts, images = [], list[PromptImage]()
    for block in blocks:
        found = block if isinstance(block, str) else _block(block, images)
        if found:
            texts.append(whole(found))
    return Content(gap.join(texts), tuple(images))


def _block(block: object, images: list[PromptImage]) -> str:
    if not isinstance(block, Mapping):
        raise Declined("A block of a message's content is an object.", param="messages")
    kind = block.get("type")
    if kind in ("text", "input_text", "output_text", "summary_text", "reasoning_text", None):
        return text_field(block, "text")
    if kind == "refusal":
        return text_field(block, "refusal")
    if kind in ("image_url", "input_image", "image"):
        images.append(_image(block))
        return ""
    if kind == "document":
        return _document(block)
    if kind in ("input_audio", "audio", "input_video", "video_url"):
        raise Declined(f"This server takes no '{kind}'.", param="messages")
    if kind in ("file", "input_file"):
        raise Declined("This server takes texts and images, no files.", param="messages")
    return ""


def _document(block: Body) -> str:
    source = block.get("source")
    if isinstance(source, Mapping) and source.get("type") == "text":
        title = text_field(block, "title")
        data = text_field(source, "data")
        return f"{title}\n{data}" if title else data
    if isinstance(source, Mapping) and source.get("type") == "content":
        return content(source.get("content")).text
    raise Declined("This server takes documents as text only.", param="messages")


def _image(block: Body) -> PromptImage:
    source = block.get("source")
    if isinstance(source, Mapping):
        if source.get("type") == "url":
            return _of_url(source.get("url"))
        return _decoded(text_field(source, "media_type"), text_field(source, "data"))
    found = block.get("image_url")
    return _of_url(found.get("url") if isinstance(found, Mapping) else found)


def _of_url(url: object) -> PromptImage:
    head, comma, data = url.partition(",") if isinstance(url, str) else ("", "", "")
    if not comma or not head.casefold().startswith("data:") or "base64" not in head.casefold():
        raise Declined(
            "Send images as 'data:' with base64: this server fetches nothing.", param="messages"
        )
    return _decoded(head[5:].partition(";")[0], data)


def _decoded(media_type: str, data: str) -> PromptImage:
    if len(data) > _LARGEST_IMAGE * 4 // 3:
        raise Declined("An image is too large.", status=413, param="messages")
    try:
        found = base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        raise Declined("An image is no base64.", param="messages") from None
    if not found:
        raise Declined("An image is empty.", param="messages")
    digest = hashlib.sha256(found).hexdigest()
    return PromptImage("[image]", media_type or "image/png", found, digest)


def tool_of(function: Body, schema: str = "parameters", prefix: str = "") -> ToolSpec:
    """A tool as a program describes it; `schema` is the field with its arguments' schema."""
    name = text_field(function, "name")
    if not name:
        raise Declined("A tool needs a name.", param="tools")
    found = function.get(schema)
    if found is not None and not isinstance(found, Mapping):
        raise Declined(f"'{schema}' of the tool '{name}' must be an object.", param="tools")
    spec = ToolSpec(prefix + name, text_field(function, "description"))
    if not found:
        return spec
    excess = excess_of(found)
    if excess is not None:
        said = f"'{schema}' of the tool '{name[:LONGEST_NAME]}' has {excess.words()}."
        raise Declined(said, param="tools")
    return ToolSpec(spec.name, spec.description, as_json(found))


def choice_of(value: object) -> ToolChoice:
    """A tool choice, in the shapes of all dialects."""
    if value is None:
        return ToolChoice()
    if isinstance(value, Mapping):
        kind = value.get("type")
        function = value.get("function")
        inner = function if isinstance(function, Mapping) else value
        name = text_field(inner, "name")
        if kind in ("function", "tool", "custom") and name:
            return ToolChoice(Choosing.NAMED, name)
        if kind == "allowed_tools":
            return choice_of(value.get("mode"))
        value = kind
    match value:
        case "none":
            return ToolChoice(Choosing.NONE)
        case "required" | "any":
            return ToolChoice(Choosing.REQUIRED)
        case "auto":
            return ToolChoice()
    raise Declined("'tool_choice' is none, auto, required, or one tool.", param="tool_choice")


def checked_choice(choice: ToolChoice, specs: Sequence[ToolSpec]) -> ToolChoice:
    """The choice, if the tools can meet it, and are not too many."""
    excess = excess_in_all([spec.schema for spec in specs])
    if excess is not None:
        said = f"The schemas of all tools have {excess.words(MOST_IN_ALL)}."
        raise Declined(said, param="tools")
    names = {spec.name for spec in specs}
    if choice.choosing is Choosing.NAMED and choice.name not in names:
        raise Declined(f"There is no tool '{choice.name}' in 'tools'.", param="tool_choice")
    if choice.choosing is Choosing.REQUIRED and not names:
        raise Declined("A call is required, and 'tools' is empty.", param="tool_choice")
    return choice


def arguments(value: object) -> str:
    """A call's arguments as text: an object is written as JSON, in its own order."""
    if isinstance(value, str):
        return whole(value) if value.strip() else "{}"
    return "{}" if value is None else as_json(value)


def as_json(value: object) -> str:
    """A value of a body as JSON, which has no infinite numbers; raises Declined."""
    try:
        return whole(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except ValueError:
        raise Declined("A number is too large, or none at all.") from None


def names(text: str) -> frozenset[str]:
    """The words of a text, as a set of names."""
    return frozenset(text.split())


def unknown(body: Body, known: frozenset[str]) -> tuple[str, ...]:
    """Names of the fields that are passed over; told once, never declined."""
    return tuple(sorted(str(name)[:40] for name in body if name not in known))[:20]


def messages_of(body: Body, name: str) -> list[Body]:
    """The messages of a body, each an object; refuses an empty list."""
    found = list_field(body, name)
    if not found:
        raise Declined(f"'{name}' is empty.", param=name)
    for one in found:
        if not isinstance(one, Mapping):
            raise Declined(f"Each of '{name}' must be an object.", param=name)
    return found
