"""Sampling: values with their bounds, part of `settings`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class Bias(Struct, frozen=True):
    """A text that is drawn more often, or never: `value` is added to the logit of the token that
    completes it."""

    text: Annotated[str, Meta(min_length=1, max_length=100)]
    value: Annotated[float, Meta(ge=-100, le=100)]


MOST_BIASES = 64
Biases = Annotated[tuple[Bias, ...], Meta(max_length=MOST_BIASES)]
Schema = Annotated[str, Meta(max_length=200_000)]


class Sampling(Struct, frozen=True, omit_defaults=True):
    temperature: Annotated[
        float,
        Meta(ge=0, le=2, title="Temperature", description="0 always takes the likeliest token"),
    ] = 0.7
    top_p: Annotated[
        float, Meta(ge=0, le=1, title="Top-p", description="likeliest tokens up to this sum; 1 off")
    ] = 0.9
    top_k: Annotated[
        int,
        Meta(
            ge=0,
            le=1000,
            title="Top-k",
            description="only this many of the likeliest; 0 off",
            extra_json_schema={"special": "off"},
        ),
    ] = 40
    min_p: Annotated[
        float, Meta(ge=0, le=1, title="Min-p", description="at least this share of the best; 0 off")
    ] = 0.05
    repeat_penalty: Annotated[
        float, Meta(ge=1, le=2, title="Repeat penalty", description="1 is off")
    ] = 1.0
    presence_penalty: Annotated[
        float, Meta(ge=-2, le=2, title="Presence penalty", description="0 is off")
    ] = 0.0
    seed: Annotated[int, Meta(ge=0, le=2**32 - 2)] | None = None
    max_tokens: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            title="Max tokens",
            description="of one reply; 0 is no limit",
            extra_json_schema={"special": "no limit"},
        ),
    ] = 0
    stop: tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...] = ()
    bias: Biases = ()
    # a JSON Schema that the answer has to fit, as JSON; empty is free text
    schema: Schema = ""


class SamplingChoice(Struct, frozen=True, omit_defaults=True):
    """Chosen sampling values. None is automatic: what the level above chose, else what the model's
    makers advise, else the default."""

    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=0, le=1000)] | None = None
    min_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    repeat_penalty: Annotated[float, Meta(ge=1, le=2)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    seed: Annotated[int, Meta(ge=0, le=2**32 - 2)] | None = None
    max_tokens: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    stop: tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...] | None = None
    bias: Biases | None = None
    schema: Schema | None = None
