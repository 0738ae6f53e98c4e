"""Sampling: values with their bounds, part of `settings`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class Bias(Struct, frozen=True):
    """A text to favour or forbid: `value` is added to the logit of the token that completes it."""

    text: Annotated[str, Meta(min_length=1, max_length=100)]
    value: Annotated[float, Meta(ge=-100, le=100)]


MOST_BIASES = 64
# people who know other programs type -1 for what is 0 here: no limit, off
MINUS_ONE = {"minus_one": True}
Biases = Annotated[tuple[Bias, ...], Meta(max_length=MOST_BIASES)]
Schema = Annotated[str, Meta(max_length=200_000)]


class Sampling(Struct, frozen=True, omit_defaults=True):
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.7
    top_p: Annotated[float, Meta(ge=0, le=1)] = 0.9
    top_k: Annotated[int, Meta(ge=0, le=1000, extra_json_schema=MINUS_ONE)] = 40
    min_p: Annotated[float, Meta(ge=0, le=1)] = 0.05
    repeat_penalty: Annotated[float, Meta(ge=1, le=2)] = 1.0
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] = 0.0
    seed: Annotated[int, Meta(ge=0, le=2**32 - 2)] | None = None
    max_tokens: Annotated[int, Meta(ge=0, le=1_000_000, extra_json_schema=MINUS_ONE)] = 0
    stop: tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...] = ()
    bias: Biases = ()
    # a JSON Schema for the answer, as JSON; empty is free text
    schema: Schema = ""


class SamplingChoice(Struct, frozen=True, omit_defaults=True):
    """Chosen sampling values. None is automatic: the choice of the level above, else the advice of
    the model's makers, else the default."""

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
