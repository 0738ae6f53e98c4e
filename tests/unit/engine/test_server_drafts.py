"""A local draft for a server's model: checked there with real weights, and never trusted."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from headstart.core.chats.parts import Origin
from headstart.core.chats.values import FinishReason, Role, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import DraftStage, Speculating
from headstart.core.models.ref import ModelRef
from headstart.core.requests import PromptMessage, RemoteRequest
from headstart.core.servers import Connection, ServerKind, ServerModel
from headstart.core.settings.schema import Sampling, Speculation, changed
from headstart.engine.remote.draft import Draft
from headstart.engine.remote.drafting.gain import RoundPlan, ServerGain
from tests.support.asking import QUESTION, Asking
from tests.support.eager_gain import Eager
from tests.support.patience import wait_for
from tests.support.scoring_server import ScoringServer
from tests.support.scripted_server import ScriptedServer

TOKENS = 44
GREEDY = Sampling(temperature=0, max_tokens=TOKENS)


class Prophet:
    """A draft that knows what the server writes, and is wrong where it is told to be."""

    def __init__(self, text: str, prompt: str | None = None) -> None:
        self.text, self._prompt = text, prompt
        # every so many drafts ends in other words; fails with this
        self.wrong, self.problem = 0, ""
        self.drafts = 0
        self.on_draft: Callable[[], None] = lambda: None

    @property
    def key(self) -> str:
        return "prophet"

    @property
    def prompt(self) -> str | None:
        return self._prompt

    async def write(self, reply: str, tokens: int) -> Draft:
        self.on_draft()
        if self.problem:
            raise EnvironmentProblem("no-memory")
        self.drafts += 1
        rest = self.text[len(reply) :] if self.text.startswith(reply) else " and so on"
        # whole words: half of one would be wrong
        draft = re.match(rf"(\s*\S+){{0,{max(1, tokens * 2 // 3)}}}", rest)
        assert draft is not None
        words = draft[0]
        if self.wrong and self.drafts % self.wrong == 0:
            words = words[: len(words) // 2] + " zebra"
        return Draft(words, tokens if words else 0)


class Client:
    """Asks one server for greedy replies."""

    def __init__(self, server: ScoringServer, kind: ServerKind) -> None:
        self.server, self.asking = server, Asking()
        connection = Connection("s", "Server", server.url, "", 30, True, kind, True)
        model = ServerModel(connection, "harbour-7b", 2048)
        speculation = Speculation(prompt_lookup=False)
        self.request = RemoteRequest(model, QUESTION, GREEDY, speculation=speculation)

    def ask(self, draft: Prophet | None = None, **changes: object) -> tuple[str, TurnStats]:
        request = replace(self.request, **changes)
        stats = self.asking.send(request, draft=draft)
        time.sleep(0.05)
        wait_for(lambda: not self.asking.session.learning)
        return self.asking.said(), stats

    def gain(self) -> ServerGain:
        """Of the pair with a draft, where there is one."""
        return list(self.asking.session.gains.values())[-1]

    def learned(self) -> Prophet:
        """A draft that is worth it, with what a reply has told of it."""
        plain, _ = self.ask()
        prompt = self.server.rendered(QUESTION)
        prophet = Prophet(plain, prompt)
        self.ask(prophet)
        assert self.gain().trusted, "the server confirms its own words"
        gains = self.asking.session.gains
        for key, gain in gains.items():
            gains[key] = Eager(trusted=gain.trusted, late=gain.late)
        return prophet


@pytest.fixture
def client(
    request: pytest.FixtureRequest, starter: ModelRef, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    kind: ServerKind = getattr(request, "param", "vllm")
    with ScoringServer(starter.path, kind, exact=True) as server:
        client = Client(server, kind)
        yield client
        client.asking.session.close()


# llama-cpp-python sorts its vocabulary for each token of a prompt: seconds for each check
both = pytest.mark.parametrize(
    "client",
    ["vllm", pytest.param("llama-cpp-python", marks=pytest.mark.proof)],
    indirect=True,
)


@both
def test_words_are_those_of_the_stream(client: Client) -> None:
    prophet = client.learned()
    before = client.server.checks
    for wrong in (0, 2, 1):
        prophet.wrong = wrong
        drafts = prophet.drafts
        text, stats = client.ask(prophet)
        assert text == prophet.text
        assert stats.finish is FinishReason.LENGTH
        assert stats.generated_tokens == TOKENS
        speculation = stats.speculation
        assert speculation is not None
        assert speculation.draft_accepted > 0
        if not wrong:
            # some six tokens for a request
            assert speculation.draft_accepted == speculation.draft_verified
            assert prophet.drafts - drafts < TOKENS / 5
            # what is streamed before the first one counts as rounds of one token; how much that is
            # depends on the reply, which differs by processor
            assert speculation.rounds == TOKENS - speculation.draft_accepted
        else:
            assert speculation.draft_accepted < speculation.draft_verified
    assert client.server.checks > before + 6


def test_drafted_text_is_marked_and_how_it_goes_is_told(client: Client) -> None:
    prophet = client.learned()
    client.ask(prophet)
    origins = {
        piece.origin
        for event in client.asking.events
        if hasattr(event, "pieces")
        for piece in event.pieces
    }
    assert origins == {Origin.TARGET, Origin.DRAFT}
    told = [event for event in client.asking.events if isinstance(event, Speculating)]
    assert told
    assert told[-1].activity is not None
    assert told[-1].activity.stage is DraftStage.DRAFTING


def test_the_first_reply_is_only_learned_from(client: Client) -> None:
    plain, _ = client.ask()
    text, stats = client.ask(Prophet(plain, client.server.rendered(QUESTION)))
    assert text == plain
    assert stats.speculation is None
    gain = client.gain()
    assert gain.trusted
    assert gain.draft_right.chance > 0.8
    assert gain.check_seconds(6, 400)


def test_a_draft_that_does_not_pay_is_left_alone(client: Client) -> None:
    plain, _ = client.ask()
    prophet = Prophet("nothing like it", client.server.rendered(QUESTION))
    client.ask(prophet)
    assert client.server.checks == 0, "nothing that the server says would make it pay"
    drafts = prophet.drafts
    text, stats = client.ask(prophet)
    assert text == plain
    assert stats.speculation is None
    assert prophet.drafts == drafts, "it waits before it looks again"


@both
@pytest.mark.logs("a server did not check a draft")
def test_a_server_that_stops_checking_in_the_middle_is_told_of_once(client: Client) -> None:
    prophet = client.learned()

    def stop() -> None:
        # the draft has read the chat, and has written once
        client.server.fails = prophet.drafts > 8

    prophet.on_draft = stop
    prophet.drafts = 6
    said = []
    for _ in range(3):
        text, stats = client.ask(prophet)
        assert text == prophet.text
        assert stats.finish is FinishReason.LENGTH
        said += client.asking.notices
    assert len([one for one in said if "no longer checks drafts" in one]) == 1


@pytest.mark.logs("a draft for a server failed")
def test_a_draft_that_fails_is_told_of(client: Client) -> None:
    prophet = client.learned()
    prophet.problem = "memory"
    text, _ = client.ask(prophet)
    assert text == prophet.text
    assert any("cannot write" in one for one in client.asking.notices)


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0.5, max_tokens=8),
        Sampling(temperature=0, max_tokens=8, schema='{"type": "object"}'),
        Sampling(temperature=0, max_tokens=8, presence_penalty=0.5),
        Sampling(temperature=0, max_tokens=8, repeat_penalty=1.1),
    ],
)
def test_only_greedy_text_is_drafted(sampling: Sampling, starter: ModelRef) -> None:
    with ScoringServer(starter.path) as server:
        client = Client(server, "vllm")
        prophet = Prophet("", server.rendered(QUESTION))
        client.ask(prophet, sampling=sampling)
        assert (server.checks, prophet.drafts) == (0, 0)
        client.asking.session.close()


@pytest.mark.logs("a server checks another prompt")
def test_a_server_that_reads_another_prompt_is_not_asked(starter: ModelRef) -> None:
    with ScoringServer(starter.path, "llama-cpp-python", exact=True) as server:
        client = Client(server, "llama-cpp-python")
        plain, _ = client.ask()
        other = (PromptMessage(Role.USER, "List the planets, one on each line.", "q"),)
        client.ask(Prophet(plain, server.rendered(other)))
        gain = client.gain()
        assert gain.refused == "other prompt"
        checks = server.checks
        assert client.ask(Prophet(plain, server.rendered(other)))[0] == plain
        assert server.checks == checks
        client.asking.session.close()


@pytest.mark.logs("a server checks another prompt of this chat")
def test_a_server_that_is_trusted_still_has_to_confirm_what_it_streamed(client: Client) -> None:
    prophet = client.learned()
    client.server.misreads = True
    checks = client.server.checks
    text, stats = client.ask(prophet)
    assert text == prophet.text
    assert client.server.checks == checks + 1
    assert stats.speculation is None


def test_stop_strings_and_lengths_hold(client: Client) -> None:
    prophet = client.learned()
    word = prophet.text.split()[20]
    plain, _ = client.ask(sampling=changed(GREEDY, stop=(word,)))
    text, stats = client.ask(prophet, sampling=changed(GREEDY, stop=(word,)))
    assert text == plain == prophet.text[: prophet.text.index(word)]
    assert stats.finish is FinishReason.STOP_STRING


class EagerCopies(Eager):
    """Drafts every copy."""

    def plan(
        self,
        token: float,
        characters: int,
        fixed: int = 0,
        most: int = 64,
        copy: bool = False,
        allowance: float = 0.0,
    ) -> RoundPlan | None:
        return RoundPlan(min(most, 12), 9.0) if copy else None


def test_text_that_repeats_itself_is_drafted_without_a_model(client: Client) -> None:
    # small models say the same again before long
    long = changed(GREEDY, max_tokens=160)
    messages = (PromptMessage(Role.USER, "Write a long poem about rivers, with a refrain.", "q"),)
    speculation = Speculation(prompt_lookup=True)
    first, _ = client.ask(messages=messages, speculation=speculation, sampling=long)
    for key, gain in client.asking.session.gains.items():
        assert gain.copy_right.known, "what it says again was found to be a copy"
        client.asking.session.gains[key] = EagerCopies(trusted=True)
    again, stats = client.ask(messages=messages, speculation=speculation, sampling=long)
    assert again == first
    assert stats.speculation is not None
    assert stats.speculation.draft_verified == 0
    assert stats.speculation.lookup_accepted > 8


def test_a_server_of_another_kind_is_never_asked(server: ScriptedServer, asking: Asking) -> None:
    connection = Connection("s", "Server", server.url, "", 5, True, "llama.cpp", True)
    model = ServerModel(connection, "harbour-7b")
    assert not model.checks_drafts
    prophet = Prophet("Once upon a time there was a harbour.")
    for _ in range(2):
        asking.send(RemoteRequest(model, QUESTION, GREEDY), draft=prophet)
    assert prophet.drafts == 0
    assert len(server.asked) == 2
