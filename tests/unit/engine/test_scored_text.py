"""What servers say of given text, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from headstart.core.servers import Connection
from headstart.engine.remote.drafting.copies import SAME, copy_of, is_this_computer
from headstart.engine.remote.drafting.gain import LOSS, Acceptance, Line, ServerGain
from headstart.engine.remote.drafting.scored import (
    Confirmed,
    OtherTokens,
    ScoredToken,
    Unreadable,
    confirmed,
    of_echo,
    of_prompt_logprobs,
    strays,
)


def tokens(*pairs: tuple[str, str]) -> list[ScoredToken]:
    return [ScoredToken(own, best, 0.0 if own == best else 1.0) for own, best in pairs]


def place(own: str, best: str = "") -> dict[str, Any]:
    """A place of `prompt_logprobs`."""
    found = {"1": {"decoded_token": own, "logprob": -2.0 if best else -0.1, "rank": 1}}
    if best:
        found["1"]["rank"] = 7
        found["2"] = {"decoded_token": best, "logprob": -0.5, "rank": 1}
    return found


def test_the_likeliest_of_each_place_is_found_by_its_rank() -> None:
    said = of_prompt_logprobs({"prompt_logprobs": [None, place("Hi"), place(" you", " there")]})
    assert said[0] == ScoredToken("", "", 0.0)
    assert said[1] == ScoredToken("Hi", "Hi", 0.0)
    assert said[2] == ScoredToken(" you", " there", 1.5)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"prompt_logprobs": "none"},
        {"prompt_logprobs": [None, {"1": "x"}]},
        {"prompt_logprobs": [None, {"1": {"logprob": -1.0, "rank": 1}}]},
        {"prompt_logprobs": [None, {"1": {"decoded_token": "a", "logprob": -1.0}}]},
    ],
)
def test_an_answer_that_does_not_say_is_unreadable(answer: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        of_prompt_logprobs(answer)


def echo(texts: list[str], best: list[str], text: str) -> dict[str, Any]:
    tops = [
        None if number == 0 else {top: -0.1, own: -0.1 if own == top else -3.0}
        for number, (own, top) in enumerate(zip(texts, best, strict=True))
    ]
    return {
        "text": text,
        "logprobs": {
            "tokens": texts,
            "top_logprobs": tops,
            "token_logprobs": [None, *([-0.1] * (len(texts) - 1))],
        },
    }


def test_echoes_are_read_in_both_ways_that_servers_tell_them() -> None:
    exact = echo(
        ["", "Q", " once", " upon", " a"], ["", "Q", " once", " upon", " a"], "<s>Q once upon a"
    )
    said = of_echo(exact, "<s>Q once upon", " once upon")
    assert (said.late, said.written) == (False, " a")
    assert [one.text for one in said.tokens] == ["", "Q", " once", " upon"]
    late = echo(["Q", " once", " upon"], ["?", " upon", " a"], "Q once upon a")
    said = of_echo(late, "Q once upon", " once upon")
    assert (said.late, said.written) == (True, " a")
    assert [one.best for one in said.tokens] == ["", "", " upon"]


def test_an_echo_that_ends_at_once_is_read_as_the_ones_before() -> None:
    answer = echo(["Q", " once", " upon"], ["Q", " once", " upon"], "Q once upon")
    with pytest.raises(Unreadable):
        of_echo(answer, "Q once upon", " once upon")
    said = of_echo(answer, "Q once upon", " once upon", late=False)
    assert said.tokens[-1] == ScoredToken(" upon", " upon", 0.0)


@pytest.mark.parametrize(
    "answer",
    [
        {"text": "Q", "logprobs": None},
        {"text": "other", "logprobs": {"tokens": [], "top_logprobs": []}},
        {"text": "Q a", "logprobs": {"tokens": ["Q", 3], "top_logprobs": [None, None]}},
        {"text": "Q a", "logprobs": {"tokens": ["Q"], "top_logprobs": [{"Q": "no"}]}},
        {"text": "Q a", "logprobs": {"tokens": ["x", "y"], "top_logprobs": [None, {"y": -1.0}]}},
    ],
)
def test_an_echo_of_something_else_is_unreadable(answer: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        of_echo(answer, "Q", "Q")


def test_a_draft_is_confirmed_up_to_the_first_other_word() -> None:
    said = tokens(("Once", "Once"), (" upon", " upon"), (" the", " a"), (" time", " hill"))
    found = confirmed(said, "Once", " upon the time", " there", ended=False)
    assert found == Confirmed(" upon", 1, " a", behind=1.0, before=0)


def test_a_draft_that_is_right_brings_what_follows() -> None:
    said = tokens(("", ""), ("Q", "Q"), ("Once", "Once"), (" upon", " upon"))
    found = confirmed(said, "Once", " upon", " a", ended=False)
    assert found == Confirmed(" upon", 1, " a", before=2)
    assert confirmed(said, "Once", " upon", "", ended=True).ended


def test_a_token_that_begins_in_the_reply_has_to_agree_with_it() -> None:
    agrees = tokens(("O", "O"), ("nce", "nce"))
    assert confirmed(agrees, "On", "ce", "!", ended=False).text == "ce"
    goes_on = tokens(("O", "O"), ("nce", "ne"))
    assert confirmed(goes_on, "On", "ce", "!", ended=False) == Confirmed(
        "", 0, "e", behind=1.0, before=0
    )
    another = tokens(("O", "O"), ("nce", "h"))
    assert confirmed(another, "On", "ce", "!", ended=False) == Confirmed("", 0)


@pytest.mark.parametrize("best", ["<|im_end|>", "\ufffd", "", "[/INST]"])
def test_what_is_no_text_is_left_to_the_server(best: str) -> None:
    found = confirmed(tokens(("a", "a"), (" b", best)), "a", " b", " c", ended=False)
    assert (found.text, found.next) == ("", "")


def test_tokens_that_are_not_the_texts_are_noticed() -> None:
    with pytest.raises(OtherTokens):
        confirmed(tokens(("a", "a"), ("b", "b")), "a", " b", "", ended=False)
    with pytest.raises(OtherTokens):
        confirmed(tokens(("\ufffd", "\ufffd"), ("b", "b")), "", "éb", "", ended=False)


def test_a_copy_needs_enough_of_the_same() -> None:
    text = "The quick brown fox jumps over the lazy dog and runs away into the dark forest."
    end = text.index(" and runs")
    assert copy_of(text[:end], [text], 9) == " and runs"
    assert copy_of(text[: SAME - 1], [text], 9) == ""
    assert copy_of("Something else altogether that nobody has said.", [text], 9) == ""


def test_the_same_computer_is_known_by_its_addresses() -> None:
    def near(url: str) -> bool:
        return is_this_computer(Connection("s", "S", url))

    assert near("http://127.0.0.1:8000/v1")
    assert near("http://localhost/v1")
    assert near("http://[::1]:8000/v1")
    assert not near("http://192.168.1.5:8000/v1")
    assert not near("https://models.example/v1")


def test_times_are_a_line_that_never_falls() -> None:
    line = Line()
    for count, seconds in ((4, 0.3), (16, 0.9), (4, 0.3), (16, 0.9)):
        line.observe(count, seconds)
    assert line.at(8) == pytest.approx(0.5, abs=0.01)
    falling = Line()
    for count, seconds in ((4, 0.9), (16, 0.3)):
        falling.observe(count, seconds)
    assert falling.at(16) >= falling.at(4) - 1e-9
    one = Line()
    one.observe(12, 0.12)
    assert one.at(4) < 0.12 < one.at(24)


def test_a_plan_weighs_the_chance_against_the_time() -> None:
    gain = ServerGain()
    assert gain.plan(0.1, 1000) is None
    for count in (4, 16):
        gain.drafts.observe(count, 0.002 * count)
        gain.check_line(1000).observe(count, 0.1 + 0.005 * count)
    gain.draft_right.observe(20, 20)
    good = gain.plan(0.1, 1000)
    assert good is not None
    assert good.promise > 3
    assert good.depth >= 8
    gain.draft_right = Acceptance()
    gain.draft_right.observe(1, 10)
    bad = gain.plan(0.1, 1000)
    assert bad is not None
    assert bad.promise < 1.1
    assert bad.depth < good.depth
    fixed = gain.plan(0.1, 1000, fixed=5)
    assert fixed is not None
    assert fixed.depth == 5
    # what a round that brings one token may lose
    gain.draft_right.observe(200, 200)
    free, careful = gain.plan(0.1, 1000), gain.plan(0.1, 1000, allowance=0.05)
    assert free is not None
    assert careful is not None
    assert careful.depth < free.depth
    assert gain.plan(0.1, 1000, allowance=0.001) is None


def test_what_may_be_lost_is_bounded() -> None:
    gain = ServerGain()
    assert gain.allowed(10.0) == pytest.approx(10.0 * LOSS)
    gain.reply_ended(drafted=True, gained=4.0, seconds=20.0)
    assert 20.0 * LOSS < gain.allowed(1.0) <= 20.0 * (LOSS + 0.1)
    for _ in range(3):
        gain.reply_ended(drafted=True, gained=-3.0, seconds=20.0)
    assert gain.allowed(1.0) == pytest.approx(20.0 * LOSS)
    assert not gain.wants_try()


@pytest.mark.parametrize(
    ("said", "written", "found"),
    [
        # its own words, and what follows them is the draft's
        (tokens(("Q", "?"), (" it", " it"), (" is", " is"), (" an", " a")), " it is", False),
        # another word of its own
        (tokens(("Q", "Q"), (" it", " he"), (" is", " is"), (" an", " a")), " it is", True),
        # in front of it, or in a token that began there
        (tokens(("Q", "?"), (" it", " he"), (" is", " is"), (" an", " a")), " is", False),
        (tokens(("Q", "?"), (" it", " he"), (" is", " is"), (" an", " a")), "t is", False),
        # the same word in other tokens
        (tokens((" it", " i"), (" is", " isn"), (" an", " a")), " it is", False),
        # rounding
        ([ScoredToken(" it", " he", 0.2), ScoredToken(" an", " a", 9.0)], " it", False),
        # nothing is known of it
        (tokens((" i\ufffd", " x"), (" an", " a")), " it", False),
        (tokens(("Q", "?"), (" an", " a")), "", False),
    ],
)
def test_words_that_a_server_would_not_have_written_are_noticed(
    said: list[ScoredToken], written: str, found: bool
) -> None:
    assert strays(said, written, " an") is found
