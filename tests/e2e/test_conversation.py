"""A conversation in the real window with real weights, from the first word to the export."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from headstart.assembly import App
from headstart.core.chats.parts import Origin
from headstart.core.chats.values import FinishReason, MessageStatus
from headstart.core.settings.schema import SamplingChoice
from tests.conftest import OpenApp, until
from tests.support.driver import (
    GREEDY,
    ask,
    begin,
    branch,
    reply_done,
    shown_text,
    shown_version,
    stored_chat,
    use_sampling,
    words_shown,
)

pytestmark = pytest.mark.usefixtures("shallow_starter")

LONG = SamplingChoice(temperature=0.0, max_tokens=2000)
STORY = "Tell a very long story about a dog, a cat and a river, at least 500 words."


async def test_a_question_is_answered_streamed_and_stored(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        QTest.keyClicks(app.window.composer.edit, "What is the capital of France?")
        QTest.keyClick(app.window.composer.edit, Qt.Key.Key_Return)
        await until(lambda: app.controllers.reply.writing)
        reply = await reply_done(app)
        question = (await branch(app))[0]
        assert question.text == "What is the capital of France?"
        assert len(reply.text.split()) > 5
        assert shown_text(app, 1).split() == reply.text.split()
        assert sum(run.length for run in reply.parts[0].origins) == len(reply.text)
        # without a draft model, only prompt lookup drafts
        assert {run.origin for run in reply.parts[0].origins} <= {
            Origin.TARGET,
            Origin.LOOKUP,
            Origin.EARLIER,
        }
        assert app.window.composer.text() == ""
        assert reply.stats is not None
        assert reply.stats.generated_tokens > 3
        assert reply.stats.first_token_seconds is not None
        assert app.window.header.title.full_text == "What is the capital of France?"
        assert app.window.sidebar.model.chat_ids() == [stored_chat(app)]


async def test_shift_enter_breaks_the_line_and_sends_nothing(running: OpenApp) -> None:
    async with running() as app:
        edit = app.window.composer.edit
        height = edit.height()
        QTest.keyClicks(edit, "one")
        QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClicks(edit, "two")
        await app.controllers.settle()
        assert app.window.composer.text() == "one\ntwo"
        assert edit.height() > height
        assert stored_chat(app) is None


async def test_stop_keeps_what_was_written_and_continue_goes_on_word_for_word(
    running: OpenApp,
) -> None:
    async with running() as app:
        use_sampling(app, LONG)
        await begin(app, STORY)
        await words_shown(app, 60)
        assert app.window.composer.button.accessibleName() == "Stop writing"
        app.window.composer.button.click()
        stopped = await reply_done(app)
        assert stopped.status is MessageStatus.STOPPED
        assert len(stopped.text) >= 60
        whole = stopped.text
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=30))
        widget = app.window.transcript.widget_of(stopped.id)
        assert widget is not None
        assert not widget.foot.buttons["message.continue"].isHidden()
        widget.foot.buttons["message.continue"].click()
        await until(lambda: app.controllers.reply.writing)
        longer = await reply_done(app)
        assert longer.id == stopped.id
        assert longer.text.startswith(whole)
        assert len(longer.text) > len(whole)
        # greedy decoding of the whole in one go says the same
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=2000))
        app.window.new_chat()
        await begin(app, STORY)
        await words_shown(app, len(longer.text) + 40)
        app.controllers.conversation.stop()
        again = await reply_done(app)
        assert again.text.startswith(whole)


async def test_edit_and_regenerate_make_versions_and_lose_nothing(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        first = await ask(app, "Name a fruit.")
        app.controllers.conversation.regenerate(first.id)
        await until(lambda: app.controllers.reply.writing)
        second = await reply_done(app)
        assert (second.version, second.versions) == (2, 2)
        widget = app.window.transcript.widget_of(second.id)
        assert widget is not None
        assert widget.foot.version.text() == "2 of 2"
        widget.foot.earlier.click()
        await until(lambda: shown_version(app, 1) == (1, 2))
        assert (await branch(app))[-1].id == first.id
        question = (await branch(app))[0]
        editor = app.window.transcript.widget_of(question.id)
        assert editor is not None
        editor.foot.buttons["message.edit"].click()
        assert editor.editor is not None
        editor.editor.setPlainText("Name a river.")
        QTest.keyClick(editor.editor, Qt.Key.Key_Return)
        await until(lambda: app.controllers.reply.writing)
        await reply_done(app)
        now = await branch(app)
        assert now[0].text == "Name a river."
        assert (now[0].version, now[0].versions) == (2, 2)
        app.controllers.conversation.show_version(now[0].id, -1)
        await until(lambda: shown_version(app, 0) == (1, 2))
        back = await branch(app)
        assert [message.id for message in back] == [question.id, first.id]


@pytest.mark.words
async def test_a_second_turn_reads_only_the_new_tokens(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        first = await ask(app, "Explain in some words what a river is.")
        assert first.stats is not None
        assert first.stats.reused_tokens == 0
        second = await ask(app, "And a lake?")
        assert second.stats is not None
        # all of the first turn's prompt and reply except what the template puts after it
        known = first.stats.prompt_tokens + first.stats.generated_tokens - 1
        assert second.stats.reused_tokens >= known
        question = (await branch(app))[2]
        app.controllers.versions.submit_edit(question.id, "And a sea?", "answer")
        await until(lambda: app.controllers.reply.writing)
        third = await reply_done(app)
        assert third.stats is not None
        assert third.stats.reused_tokens >= known


async def test_everything_is_there_after_a_restart(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        await ask(app, "Name a colour.")
        await ask(app, "Another one.")
        chat_id = stored_chat(app)
        before = await branch(app)
    async with running() as app:
        assert app.window.sidebar.model.chat_ids() == [chat_id]
        app.window.sidebar.view.setCurrentIndex(app.window.sidebar.model.index_of(chat_id))
        await until(lambda: stored_chat(app) == chat_id)
        await app.controllers.settle()
        assert await branch(app) == before
        assert before[1].text.split()[0] in shown_text(app, 1)
        use_sampling(app)
        after = await ask(app, "And one more.")
        assert after.status in (MessageStatus.COMPLETE, MessageStatus.STOPPED)


def export(app: App, path: str) -> None:
    """As the window asks for it."""
    wanted = app.services.exporting.wanted(
        [stored_chat(app) or ""], "markdown", reasoning=True, stats=False, branches=False
    )
    app.controllers.transfer.export(wanted, path)


async def test_export_writes_the_active_branch_with_code_untouched(
    running: OpenApp, tmp_path: Path
) -> None:
    async with running() as app:
        use_sampling(app)
        words = "Keep this: #include <stdio.h> and $\\frac{a_1}{b_2}$ and *x*."
        reply = await ask(app, words)
        path = tmp_path / "chat.md"
        export(app, str(path))
        await app.controllers.settle()
        text = path.read_text(encoding="utf-8")
        assert text.startswith("---\ntitle: ")
        assert f"## User\n\n{words}\n\n## Assistant" in text
        assert reply.text.strip("\n") in text
        assert not list(tmp_path.glob("*.partial"))
        export(app, str(tmp_path / "no" / "x.md"))
        await app.controllers.settle()
        assert "could not be written" in app.window.banner.text()


async def test_rename_pin_delete_and_undo(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=4))
        await ask(app, "First chat")
        first = stored_chat(app)
        assert first
        app.window.new_chat()
        await ask(app, "Second chat")
        second = stored_chat(app)
        assert second
        model = app.window.sidebar.model
        assert model.chat_ids() == [second, first]
        model.setData(model.index_of(first), "A better title")
        app.controllers.chat_list.pin(first, True)
        await app.controllers.settle()
        await until(lambda: model.chat_ids() == [first, second])
        assert model.index_of(first).data() == "A better title"
        app.window.sidebar.view.setCurrentIndex(model.index_of(second))
        QTest.keyClick(app.window.sidebar.view, Qt.Key.Key_Delete)
        await until(lambda: model.chat_ids() == [first])
        assert stored_chat(app) is None
        assert app.window.toast.isVisible()
        app.window.toast.undo()
        await until(lambda: stored_chat(app) == second)
        await app.controllers.settle()
        assert model.chat_ids() == [first, second]
        assert len(await branch(app)) == 2


async def test_a_chat_that_is_written_goes_on_while_another_is_open(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=120))
        await begin(app, STORY)
        writing = stored_chat(app)
        assert writing
        await words_shown(app, 20)
        app.window.new_chat()
        assert app.window.composer.button.accessibleName() == "Send the message"
        app.controllers.branch.open_chat(writing)
        await until(lambda: stored_chat(app) == writing)
        await until(lambda: not app.controllers.reply.writing)
        await app.controllers.settle()
        reply = (await branch(app))[-1]
        assert reply.stats is not None
        assert reply.stats.generated_tokens == 120
        assert reply.text.split()[-1] in shown_text(app, 1)


async def test_chat_options_and_system_prompt_reach_the_model(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        app.window.inspector.system_prompt.setPlainText("You always answer with the word BANANA.")
        app.window.inspector.flush()
        app.window.inspector.change_sampling("temperature", 0.0)
        app.window.inspector.change_sampling("max_tokens", 5)
        reply = await ask(app, "Hello, who are you?")
        assert reply.stats is not None
        assert reply.stats.finish is FinishReason.LENGTH
        assert reply.stats.generated_tokens == 5
        chat = await app.services.branches.chat(stored_chat(app) or "")
        assert chat is not None
        assert chat.options.system_prompt == "You always answer with the word BANANA."
        assert app.services.preferences.current.sampling == GREEDY
        plain_prompt = reply.stats.prompt_tokens
        app.window.new_chat()
        other = await ask(app, "Hello, who are you?")
        assert other.stats is not None
        assert other.stats.prompt_tokens != plain_prompt


async def test_enter_twice_sends_once(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=4))
        app.window.composer.set_text("Only once")
        QTest.keyClick(app.window.composer.edit, Qt.Key.Key_Return)
        QTest.keyClick(app.window.composer.edit, Qt.Key.Key_Return)
        await until(lambda: app.controllers.reply.writing)
        await reply_done(app)
        assert len(await app.services.chat_list.summaries()) == 1
        assert len(await branch(app)) == 2


async def test_stop_ends_a_reply_that_waits_for_another_chat(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, LONG)
        await begin(app, STORY)
        first = stored_chat(app)
        await words_shown(app, 20)
        app.window.new_chat()
        await begin(app, "And you?")
        assert stored_chat(app) != first
        app.controllers.conversation.stop()
        waiting = await reply_done(app)
        assert waiting.status is MessageStatus.STOPPED
        assert app.services.replies.writing_chats() == {first}
        app.services.replies.stop(first or "")
        await until(lambda: not app.services.replies.writing_chats())


@pytest.mark.logs("a reply is stored later")
async def test_a_reply_that_cannot_be_stored_stays_on_the_screen_and_can_be_continued(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full at the end of the turn, and for a while after it."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    async with running() as app:
        use_sampling(app)
        await ask(app, "Name a colour.")
        with monkeypatch.context() as disk:
            disk.setattr("headstart.chat.reply.STORE_AGAIN", (0.01,))
            disk.setattr("headstart.chat.outbox.AGAIN_SECONDS", (600.0,))
            disk.setattr("headstart.storage.messages.MessageTable.finish", full)
            app.window.composer.set_text("Name a river.")
            app.window.composer.button.click()
            await until(lambda: app.controllers.reply.writing)
            await until(lambda: not app.controllers.reply.writing)
            await app.controllers.settle()
            reply = (await branch(app))[-1]
            assert reply.text
            assert "Not saved yet" in (reply.error or "")
            assert reply.text.split()[0] in shown_text(app, 3)
            assert app.window.unsaved.isVisible()
            assert "disk is full" in app.window.unsaved.label.text()
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=8))
        app.controllers.conversation.continue_reply(reply.id)
        await until(lambda: app.controllers.reply.writing)
        longer = await reply_done(app)
        assert longer.text.startswith(reply.text)
        assert longer.error is None
        # what waited was stored before the reply went on
        assert not app.window.unsaved.isVisible()
