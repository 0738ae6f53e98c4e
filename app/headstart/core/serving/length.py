"""Requests that are too long for any tokenizer's words: refused before they are tokenized. Pure."""

from __future__ import annotations

from headstart.core.errors import EnvironmentProblem
from headstart.core.serving.models import ServedModel
from headstart.core.serving.request import ServedRequest

# characters of a token, over a whole prompt: texts have 2 to 6, tables of blanks up to 20
_CHARACTERS = 32
# a context that a model gets at most where nothing is known of its load yet
_UNKNOWN_CONTEXT = 131_072


def check_length(served: ServedRequest, model: ServedModel) -> None:
    """Raise EnvironmentProblem for a request that no context of this model holds: tokenizing 30 MB
    takes a minute and a gigabyte, only to be refused."""
    context = model.context if model.loaded else max(model.context, _UNKNOWN_CONTEXT)
    tools = sum(len(one.description) + len(one.schema) for one in served.tools.specs)
    calls = sum(len(call.arguments) for one in served.messages for call in one.calls)
    least = (served.size + tools + calls) // _CHARACTERS
    if least > context:
        raise EnvironmentProblem("chat-too-long", tokens=least, size=context, more="yes")
