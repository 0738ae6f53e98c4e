"""A context that is full, in the real window with the starter model."""

from __future__ import annotations

import pytest

from headstart.core.chats.values import FinishReason, MessageStatus, Role
from headstart.core.settings.schema import EngineSettings, SamplingChoice
from tests.conftest import OpenApp, until
from tests.support.driver import ask, branch, reply_done, use_sampling
from tests.support.prefix_engine import prose

pytestmark = pytest.mark.usefixtures("shallow_starter")

LONG = SamplingChoice(temperature=0.0, max_tokens=2000)


STORY = "Tell a very long story about a dog, a cat and a river, at least 500 words."


@pytest.mark.logs("a request failed")
async def test_a_full_context_is_announced_and_stops_by_rule(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, LONG)
        app.services.preferences.update(engine=EngineSettings(context_length=512))
        notices: list[str] = []
        app.controllers.reply.noticed.connect(lambda kind, _text: notices.append(kind))
        reply = await ask(app, STORY)
        assert reply.stats is not None
        assert reply.stats.finish is FinishReason.CONTEXT_FULL
        assert notices == ["context-nearly-full"]
        app.window.composer.set_text("And then?")
        app.window.composer.button.click()
        # it is stored, and the reply is open
        await app.controllers.settle()
        failed = await reply_done(app)
        assert failed.status is MessageStatus.FAILED
        assert "too long for the model's context" in (failed.error or "")
        # told once: under the reply, and not above the composer too
        assert "too long" not in app.window.banner.text()


async def test_a_full_context_leaves_out_the_oldest_turns_by_rule(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=140))
        engine = EngineSettings(context_length=512)
        app.services.preferences.update(
            engine=engine, when_full="drop_oldest", system_prompt="You are a helpful bard."
        )
        notices: list[str] = []
        shown_with_room: list[str] = []

        def on_context(_used: int, _size: int) -> None:
            if notices[-1:] == ["context-dropped"]:
                shown_with_room.append(app.window.banner.kind)

        app.controllers.reply.noticed.connect(lambda kind, _text: notices.append(kind))
        app.controllers.reply.context_changed.connect(on_context)
        for question in ("Sing of the sea.", "Sing of the moon.", "Sing of bread.", "Sing of ice."):
            reply = await ask(app, question)
            assert reply.status is not MessageStatus.FAILED, reply.error
            assert reply.text
        assert "context-dropped" in notices
        # what was left out made room: that is no reason to take the notice away
        assert shown_with_room
        assert set(shown_with_room) == {"context-dropped"}
        assert [message.role for message in await branch(app)] == [Role.USER, Role.ASSISTANT] * 4


@pytest.mark.logs("a request failed")
async def test_going_on_in_a_full_context_says_why_and_loses_nothing(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, LONG)
        app.services.preferences.update(engine=EngineSettings(context_length=512))
        reply = await ask(app, STORY)
        assert reply.stats is not None
        assert reply.stats.finish is FinishReason.CONTEXT_FULL
        app.controllers.conversation.continue_reply(reply.id)
        # it may have failed before anybody could see it being written
        await app.controllers.settle()
        again = await reply_done(app)
        assert again.text == reply.text
        assert again.status is MessageStatus.STOPPED
        assert "too long" in (again.error or "")
        widget = app.window.transcript.widget_of(reply.id)
        assert widget is not None
        # the window reads the stored reply once more before it shows how it ended
        await until(lambda: not widget.foot.buttons["message.continue"].isHidden())


async def test_turns_left_out_come_back_where_there_is_room(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=130))
        app.services.preferences.update(
            engine=EngineSettings(context_length=512), when_full="drop_oldest"
        )
        notices: list[str] = []
        app.controllers.reply.noticed.connect(lambda kind, _text: notices.append(kind))
        # long enough that four do not fit, however short the replies are
        first = await ask(app, f"Sing of the sea: {prose(90)}")
        second = await ask(app, f"Sing of the moon: {prose(90)}")
        await ask(app, f"Sing of bread: {prose(150)}")
        await ask(app, f"Sing of ice: {prose(150)}")
        assert "context-dropped" in notices
        notices.clear()
        app.controllers.conversation.regenerate(second.id)
        await until(lambda: app.controllers.reply.writing)
        again = await reply_done(app)
        assert "context-dropped" not in notices
        assert first.stats is not None
        assert again.stats is not None
        assert second.stats is not None
        assert again.stats.prompt_tokens == second.stats.prompt_tokens
