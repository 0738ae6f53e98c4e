"""Reading files as an import does, and conversations made at random."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hypothesis import strategies as st

from headstart.core.chats.parts import (
    BlobRef,
    FilePart,
    ImagePart,
    Origin,
    OriginRun,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    sound_origins,
)
from headstart.core.chats.values import (
    FinishReason,
    MessageStatus,
    PrefixStats,
    Role,
    SpeculationStats,
    TurnStats,
)
from headstart.core.settings.schema import ChatOptions, SamplingChoice
from headstart.exchange.detect import recognise
from headstart.exchange.ids import OWN
from headstart.exchange.material import open_material
from headstart.exchange.report import Report
from headstart.exchange.tree import ChatNode, ExchangeChat, ModelName, active_to


def read_all(path: Path, scratch: Path) -> tuple[list[ExchangeChat], Report]:
    """Everything in a file, folder or zip; raises ImportProblem."""
    report = Report()
    material = open_material(path, scratch)
    try:
        found = []
        for kind in recognise(material, report):
            found += list(kind.format.read(material, kind.members, report))
        return found, report
    finally:
        material.close()


def read_bytes(data: bytes, folder: Path, name: str = "file") -> tuple[list[ExchangeChat], Report]:
    path = folder / name
    path.write_bytes(data)
    return read_all(path, folder)


# odd ones too, but no halves of characters: no file can hold them
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
words = st.one_of(
    texts,
    st.sampled_from(
        [
            "## User\n\nhello",
            "```\n#include <x>\n```",
            "$$a_1 * b_2$$",
            "---",
            "<details>",
            "\r\n",
            "",
        ]
    ),
)
moments = st.integers(0, 4_000_000_000_000)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
models = st.none() | st.builds(ModelName, names, texts, texts)


@st.composite
def written(draw: st.DrawFn, kind: type[TextPart] | type[ReasoningPart]) -> Part:
    text = draw(words)
    runs = draw(
        st.lists(st.builds(OriginRun, st.integers(0, 50), st.sampled_from(Origin)), max_size=3)
    )
    return kind(text, sound_origins(runs, text))


@st.composite
def parts(draw: st.DrawFn, blobs: dict[str, bytes]) -> Part:
    choice = draw(st.integers(0, 6))
    name, text = draw(texts), draw(words)
    data = draw(st.binary(max_size=20))
    digest = hashlib.sha256(data).hexdigest()
    match choice:
        case 0 | 1:
            return draw(written(TextPart))
        case 2:
            return draw(written(ReasoningPart))
        case 3:
            blobs[digest] = data
            return FilePart(name, BlobRef(digest, len(data), "text/plain"), text)
        case 4:
            blobs[digest] = data
            size = draw(st.integers(1, 9000))
            return ImagePart(name, BlobRef(digest, len(data), "image/png"), size, size + 1, text)
        case 5:
            return draw(
                st.one_of(
                    st.just(ToolCallPart(name, draw(texts), text)),
                    st.just(ToolResultPart(name, draw(texts), text, draw(st.booleans()))),
                )
            )
        case _:
            stored = draw(st.sampled_from([None, '{"url":"x","n":[1,2]}', "no JSON {"]))
            return UnknownPart("hologram", text, stored)


stats = st.builds(
    TurnStats,
    finish=st.sampled_from(FinishReason),
    prompt_tokens=st.integers(0, 10**6),
    reused_tokens=st.integers(0, 10**6),
    prefill_seconds=st.floats(0, 1e6),
    first_token_seconds=st.none() | st.floats(0, 1e6),
    generated_tokens=st.integers(0, 10**6),
    generate_seconds=st.floats(0, 1e6),
    seed=st.none() | st.integers(0, 2**63 - 1),
    speculation=st.none() | st.builds(SpeculationStats, rounds=st.integers(0, 1000)),
    prefix=st.builds(PrefixStats, from_disk=st.integers(0, 1000)),
)
options = st.builds(
    ChatOptions,
    system_prompt=st.none() | texts,
    sampling=st.none() | st.builds(SamplingChoice, temperature=st.none() | st.floats(0, 2)),
    keep_on_disk=st.booleans(),
)
extras = st.sampled_from(["", '{"later":{"a":[1,null,"x"]}}'])


_ENDED = [status for status in MessageStatus if status is not MessageStatus.OPEN]


@st.composite
def conversations(draw: st.DrawFn, most: int = 12) -> ExchangeChat:
    """A tree of messages with any shape, in which every part has its bytes."""
    blobs: dict[str, bytes] = {}
    nodes: list[ChatNode] = []
    for number in range(draw(st.integers(1, most))):
        deep = draw(st.booleans())
        above = [None, *nodes]
        parent = nodes[-1] if deep and nodes else draw(st.sampled_from(above))
        status = draw(
            st.sampled_from([one for one in MessageStatus if one is not MessageStatus.OPEN])
        )
        nodes.append(
            ChatNode(
                id=f"{number:032x}",
                parent=parent.id if parent is not None else None,
                role=draw(st.sampled_from(Role)),
                parts=tuple(draw(st.lists(parts(blobs), max_size=3))),
                created_at=draw(moments),
                status=status,
                model=draw(models),
                error=draw(texts),
                stats=draw(st.none() | stats),
                extra=draw(extras),
            )
        )
    return ExchangeChat(
        source=OWN,
        id="c" * 32,
        title=draw(texts),
        nodes=tuple(nodes),
        active=active_to(draw(st.sampled_from(nodes)).id, nodes),
        created_at=draw(moments),
        updated_at=draw(moments),
        pinned=draw(st.booleans()),
        titled_by_user=draw(st.booleans()),
        folder=draw(texts),
        tags=tuple(draw(st.lists(names, max_size=2))),
        model=draw(models),
        options=draw(options),
        blobs=blobs,
        extra=draw(extras),
    )
