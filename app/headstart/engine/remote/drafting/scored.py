"""A server's scores of a given text, token by token, and the part of a draft that they confirm.
Pure.

Two forms are known: `prompt_logprobs` of vLLM's chat API (a dictionary by token id for each token
of the prompt, the token itself first), and `echo` with `logprobs` of the older completions API.
Texts are compared, not ids: the draft has another vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

# number of requested candidates, besides the token itself
CANDIDATES = 1
# a larger lead (natural logarithms) over the written token is not due to rounding: servers compute
# slightly differently in prefill than in decoding
ROUNDING = 0.7
# signs of a token that is part of a character, or of a template
_PART = "\ufffd"
_MARKUP = ("<", "[")


class Unreadable(Exception):
    """The answer lacks the scores, or has those of another text."""


class OtherTokens(Unreadable):
    """The tokens cannot be aligned with the text: partial characters, or omitted blanks."""


class ScoredToken(Struct, frozen=True):
    """A token of the given text, the likeliest one at its position, and the lead of that (natural
    logarithms)."""

    text: str
    best: str
    behind: float


class Confirmed(Struct, frozen=True):
    """The result of a check: `text` is the confirmed beginning of the draft, `tokens` its number of
    server tokens, `next` the server's continuation. Without `next` the usual stream must supply it;
    `ended`: the server would end the reply. `behind`: the lead of `next` over the draft's token.
    `before`: tokens before the reply. `strays`: the server would not have written its own text, so
    it does not check the prompt that it writes from."""

    text: str
    tokens: int
    next: str = ""
    ended: bool = False
    behind: float = 0.0
    before: int = 0
    strays: bool = False


def of_prompt_logprobs(answer: Mapping[str, Any]) -> list[ScoredToken]:
    """The tokens of a chat's prompt; raises Unreadable."""
    found = answer.get("prompt_logprobs")
    if not isinstance(found, list) or not found:
        raise Unreadable("no prompt_logprobs")
    tokens = []
    for place in found:
        if not isinstance(place, dict) or not place:
            # the first token has no scores
            tokens.append(ScoredToken("", "", 0.0))
            continue
        entries = [_entry(entry) for entry in place.values()]
        best = min(entries, key=lambda entry: entry[2])
        own = max(entries, key=lambda entry: entry[2])
        tokens.append(ScoredToken(own[0], best[0], best[1] - own[1]))
    return tokens


def _entry(value: Any) -> tuple[str, float, int]:
    if not isinstance(value, dict):
        raise Unreadable("a candidate without fields")
    text, chance, rank = value.get("decoded_token"), value.get("logprob"), value.get("rank")
    if not isinstance(text, str) or not isinstance(chance, int | float):
        raise Unreadable("a candidate without its text")
    if not isinstance(rank, int):
        raise Unreadable("a candidate without its rank")
    return text, _finite(chance), rank


class Echo(Struct, frozen=True):
    """An echoed prompt, followed by `written`. `late`: this server's scores of a token belong to
    the next one (llama-cpp-python without a begin token)."""

    tokens: list[ScoredToken]
    written: str
    late: bool


def of_echo(choice: Mapping[str, Any], prompt: str, reply: str, late: bool | None = None) -> Echo:
    """The tokens of an echoed prompt, which ends with `reply`; raises Unreadable.

    Tokens of the template may lack their text. `late`: known from an earlier answer, if any; an
    answer that ends at once does not reveal it.
    """
    said, text = choice.get("logprobs"), choice.get("text")
    if not isinstance(said, dict) or not isinstance(text, str) or not text.startswith(prompt):
        raise Unreadable("no logprobs of the prompt")
    texts, tops = said.get("tokens"), said.get("top_logprobs")
    if not isinstance(texts, list) or not isinstance(tops, list) or len(texts) != len(tops):
        raise Unreadable("tokens without logprobs")
    if not texts or not all(isinstance(one, str) for one in texts):
        raise Unreadable("tokens without texts")
    written, best = text[len(prompt) :], [_best(place) for place in tops]
    chances = [_chance(one) for one in said.get("token_logprobs") or [None] * len(texts)]
    if len(chances) != len(texts):
        raise Unreadable("tokens without chances")
    joined = "".join(texts)
    if written:
        # the last scored token is the server's own, or the last one of the prompt
        late = not (joined.endswith(_tail(reply + written)) and texts[-1] == best[-1][0])
    if late is None:
        raise Unreadable("nothing tells of which token is told")
    if late:
        if not joined.endswith(_tail(reply)) or not written.startswith(best[-1][0]):
            raise Unreadable("other words than were given")
        # the leads are unknown in this case
        best, chances = [("", 0.0), *best[:-1]], [None] * len(texts)
    tokens = [
        ScoredToken(own, top, 0.0 if chance is None else max(0.0, most - chance))
        for own, (top, most), chance in zip(texts, best, chances, strict=True)
    ]
    rest = "" if late else written
    while rest:
        own = tokens.pop().text if tokens else ""
        if not own or not rest.endswith(own):
            raise Unreadable("other words than were written")
        rest = rest[: len(rest) - len(own)]
    return Echo(tokens, written, late)


def _tail(text: str) -> str:
    return text[-400:]


def _best(place: Any) -> tuple[str, float]:
    """The likeliest text and its log probability."""
    if not isinstance(place, dict) or not place:
        return "", 0.0
    if not all(isinstance(value, int | float) for value in place.values()):
        raise Unreadable("candidates without numbers")
    text, most = max(place.items(), key=lambda item: item[1])
    return str(text), _finite(most)


def _chance(value: Any) -> float | None:
    return _finite(value) if isinstance(value, int | float) else None


def _finite(value: float) -> float:
    """A number of a server, which may be an integer beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        raise Unreadable("a number without an end") from None


def confirmed(
    tokens: Sequence[ScoredToken], reply: str, draft: str, written: str, ended: bool
) -> Confirmed:
    """The part of `draft`, the end of the given text, that the server would have written after
    `reply`; raises OtherTokens.

    `written` is the server's own continuation of the whole text; `ended`: the reply ends after it.
    """
    start, first = _cover(tokens, draft)
    before = _before(tokens[:start], reply, first)
    text, count = "", 0
    for token in tokens[start:]:
        own, top = token.text, token.best
        if first:
            # a token that began in the reply has to agree with it
            if not top.startswith(own[:first]):
                return Confirmed("", 0, before=before)
            own, top, first = own[first:], top[first:], 0
        if own != top:
            usable = top and _PART not in top and not top.lstrip().startswith(_MARKUP)
            following = top if usable else ""
            return Confirmed(text, count, following, behind=token.behind, before=before)
        text, count = text + own, count + 1
    return Confirmed(text, count, "" if _PART in written else written, ended, before=before)


def strays(tokens: Sequence[ScoredToken], written: str, after: str) -> bool:
    """True if the scores show that the server would clearly not have written its own text
    `written`, whose tokens come right before those of `after`, the end of the given text."""
    behind, whole = 0, len(after) + len(written)
    for token in reversed(tokens):
        unclear = not token.text or _PART in token.text
        if unclear or behind + len(token.text) > whole:
            return False
        own, top = token.text, token.best
        other = not own.startswith(top) and not top.startswith(own)
        if behind >= len(after) and other and token.behind > ROUNDING:
            return True
        behind += len(own)
    return False


def _cover(tokens: Sequence[ScoredToken], draft: str) -> tuple[int, int]:
    """Index of the first token of `draft`, and the number of its characters that belong to earlier
    text."""
    rest = draft
    for at in range(len(tokens) - 1, -1, -1):
        text = tokens[at].text
        if not text or _PART in text:
            break
        if len(text) >= len(rest):
            if not text.endswith(rest):
                break
            return at, len(text) - len(rest)
        if not rest.endswith(text):
            break
        rest = rest[: len(rest) - len(text)]
    raise OtherTokens("tokens that are not the text's")


def _before(tokens: Sequence[ScoredToken], reply: str, of_next: int) -> int:
    """Number of tokens before the reply; 0 if unknown."""
    rest = reply[: len(reply) - of_next] if of_next else reply
    for at in range(len(tokens) - 1, -1, -1):
        if not rest:
            return at + 1
        text = tokens[at].text
        if not text or not rest.endswith(text):
            return 0
        rest = rest[: len(rest) - len(text)]
    return 0
