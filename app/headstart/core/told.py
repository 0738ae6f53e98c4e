"""A message to the user: a code, and the facts that its sentences need. Pure.

Events, errors and the database hold codes; the sentences are in `core.wording`, in one place, so
that they can be changed and translated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from msgspec import Struct, field

from headstart.core.text.file_names import readable
from headstart.core.text.whole import is_text

Fact = str | int | float
# texts from before there were codes, and from tests
AS_WRITTEN = "as-written"


# absolute folders of all systems, JSON-escaped ones too
_FOLDERS = re.compile(
    r"""(?<![\w:/\\])(?:[A-Za-z]:)?[\\/]{1,4}(?:[^\\/\s"'<>|][^\\/\n"'<>|]*[\\/]{1,2})+"""
)


class Told(Struct, frozen=True):
    code: str
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """The event."""
        return self._sentences[0]

    @property
    def remedy(self) -> str:
        """The remedy; empty if there is none."""
        return self._sentences[1]

    @property
    def text(self) -> str:
        from headstart.core.text.shown import joined

        return joined(self._sentences)

    @property
    def _sentences(self) -> tuple[str, str]:
        # imported with the first sentence
        from headstart.core.wording import sentences

        return sentences(self.code, self.facts)

    def without(self, secret: str) -> Told:
        """The same with `secret` masked in its facts."""
        return Told(
            self.code,
            {
                name: fact.replace(secret, "•••") if isinstance(fact, str) else fact
                for name, fact in self.facts.items()
            },
        )

    @property
    def stored(self) -> str:
        return json.dumps({"code": self.code, **self.facts}, ensure_ascii=False)


def told(code: str, **facts: object) -> Told:
    """Make a message; facts that are neither text nor numbers become text."""
    return Told(
        code,
        {
            # file names may contain lone surrogates
            name: fact if isinstance(fact, int | float) else _text(str(fact))
            for name, fact in facts.items()
        },
    )


def _text(fact: str) -> str:
    return fact if is_text(fact) else readable(fact)


def about(code: str, problem: Told, **facts: object) -> Told:
    """A message with a fact that names another code; its sentences are `{problem:message}` and
    `{problem:remedy}`."""
    return Told(code, {**problem.facts, **told(code, **facts).facts, "problem": problem.code})


def without_places(stored: str) -> str:
    """Remove this computer's folders from a stored message or a sentence: file names and web
    addresses stay."""
    return _FOLDERS.sub("", stored)


def from_stored(text: str | None) -> Told | None:
    """The inverse of `stored`; sentences from before there were codes are shown unchanged."""
    if not text:
        return None
    try:
        values = json.loads(text)
        code = values.pop("code")
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return told(AS_WRITTEN, message=text, remedy="")
    return told(str(code), **values)
