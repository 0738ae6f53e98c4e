"""The chat's settings: what differs is marked and goes back; presets, formats, costs."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from headstart.assembly import App
from headstart.core.chats.saved_prompts import PROMPTS
from headstart.core.chats.values import Chat, FinishReason, TurnStats
from headstart.core.settings.schema import (
    Bias,
    ChatOptions,
    Preset,
    SamplingChoice,
    Settings,
    Speculation,
    changed,
)
from headstart.ui.inspector.answer_format_panel import ANY
from headstart.ui.inspector.inspector import Inspector
from headstart.ui.inspector.sampling_panel import bias_text, biases_of
from tests.conftest import OpenApp, until
from tests.support.driver import ask, branch, reply_done, use_sampling
from tests.support.plain import accented, plain, type_words
from tests.support.sheets import write


def _inspector(
    qtbot: QtBot, chat: Chat | None = None, settings: Settings | None = None
) -> Inspector:
    inspector = Inspector(settings or Settings())
    qtbot.addWidget(inspector)
    inspector.set_chat(chat or Chat("a", "", 0, 0))
    return inspector


def test_what_differs_has_a_dot_and_goes_back_by_itself(qtbot: QtBot) -> None:
    inspector = _inspector(qtbot, settings=Settings(system_prompt="Be kind."))
    assert not inspector.system.title.own
    inspector.system.edit.setPlainText("Be brief.")
    inspector.flush()
    inspector.change_sampling("top_p", 0.5)
    inspector.change_sampling("max_tokens", 100)
    assert inspector.system.title.own
    assert inspector.sampling.rows["max_tokens"].title.own
    assert inspector.holding.options == ChatOptions(
        system_prompt="Be brief.", sampling=SamplingChoice(top_p=0.5, max_tokens=100)
    )
    inspector.sampling.rows["max_tokens"].reset.emit()
    inspector.system.reset.emit()
    assert inspector.system.edit.toPlainText() == "Be kind."
    assert inspector.holding.options == ChatOptions(sampling=SamplingChoice(top_p=0.5))
    assert not inspector.system.title.own


def test_a_folder_is_what_a_chat_follows(qtbot: QtBot) -> None:
    above = ChatOptions(system_prompt="You know law.", sampling=SamplingChoice(temperature=0.2))
    inspector = _inspector(qtbot, Chat("a", "", 0, 0, folder="Law", above=(above,)))
    assert inspector.system.edit.toPlainText() == "You know law."
    assert inspector.sampling.sliders["temperature"].slider.value() == 10
    assert not inspector.system.title.own
    inspector.set_above(())
    assert inspector.system.edit.toPlainText() == ""


def test_drafting_is_switched_where_its_gain_stands(qtbot: QtBot) -> None:
    inspector = _inspector(qtbot)
    overview = inspector.overview
    assert overview.drafts.isChecked()
    overview.drafts.setChecked(False)
    assert inspector.holding.options.speculation == Speculation(enabled=False)
    assert plain(overview.gain.text()).startswith("Off: one token after another")
    inspector.folds["speculation"].reset.emit()
    assert inspector.holding.options == ChatOptions()
    assert overview.drafts.isChecked()


def test_words_have_lines() -> None:
    text = "delve = never\ntea = 2.5\n a = b = -3\nno number\n\nx = 1000"
    found = biases_of(text)
    assert found == (
        Bias("delve", -100), Bias("tea", 2.5), Bias("a = b", -3), Bias("no number", -100),
        Bias("x", 100),
    )  # fmt: skip
    assert biases_of(bias_text(found)) == found


def test_a_changed_system_prompt_says_what_it_costs(qtbot: QtBot) -> None:
    inspector = _inspector(qtbot)
    inspector.set_context(8_000, 32_000)
    stats = TurnStats(FinishReason.END, 8_000, 0, 40.0, 0.2, 30, 1.5)
    inspector.set_stats(stats)
    assert inspector.system.cost.isHidden()
    inspector.system.edit.setPlainText("Be brief.")
    assert plain(inspector.system.cost.text()) == (
        "Another system prompt: all 8,000 tokens of this chat are processed again, about 40 s."
    )
    assert not inspector.system.cost.isHidden()
    inspector.system.edit.setPlainText("")
    assert inspector.system.cost.isHidden()
    # another chat has read its own
    inspector.set_chat(Chat("b", "", 0, 0, options=ChatOptions(system_prompt="Be kind.")))
    assert inspector.system.cost.isHidden()


async def test_a_preset_is_saved_and_begins_another_chat(running: OpenApp) -> None:
    async with running() as app:
        inspector = app.window.inspector
        inspector.system.edit.setPlainText("Answer as {{who}} on {{date}}.")
        inspector.change_sampling("temperature", 0.0)
        inspector.change_sampling("max_tokens", 8)
        inspector.overview.preset_to_save.emit()
        write(app.window, "Contract reader")
        await app.controllers.settle()
        assert inspector.overview.preset.text() == "Contract reader"
        app.window.new_chat()
        await app.controllers.settle()
        assert plain(inspector.overview.preset.text()) == "Preset"
        inspector.overview.menu.aboutToShow.emit()
        inspector.overview.menu.actions()[0].trigger()
        assert inspector.system.edit.toPlainText() == "Answer as {{who}} on {{date}}."
        assert inspector.holding.options.sampling == SamplingChoice(temperature=0.0, max_tokens=8)
        # what is to be filled in is asked for once, before anything is sent
        app.window.composer.set_text("Hello")
        app.window.composer.button.click()
        await until(lambda: app.window.prompts.asking is not None)
        asking = app.window.prompts.asking
        assert asking is not None
        assert list(asking.fields) == ["who"]
        asking.fields["who"].setPlainText("a judge")
        asking.take()
        await until(lambda: app.controllers.reply.writing)
        await reply_done(app)
        assert app.window.prompts.asking is None
        chat = await app.services.branches.chat(app.controllers.open.id)
        assert chat is not None
        assert chat.options.values == {"who": "a judge"}
        await ask(app, "And now?")
        assert len(await branch(app)) == 4
    async with running() as app:
        presets = app.services.preferences.current.presets
        assert [one.name for one in presets] == ["Contract reader"]


async def test_the_model_is_told_the_values_and_the_day(running: OpenApp) -> None:
    from datetime import datetime

    from headstart.chat.requests import system_prompt
    from headstart.core.settings.inheritance import effective

    async with running() as app:
        options = ChatOptions(system_prompt="As {{who}}, on {{date}}.", values={"who": "Ada"})
        noon = round(datetime(2026, 11, 23, 12).timestamp() * 1000)
        chat = replace(app.controllers.open.chat, options=options, created_at=noon)
        chosen = effective(app.services.preferences.current, options, "")
        assert system_prompt(chat, chosen) == "As Ada, on Monday, 23 November 2026."


async def _choose_format(app: App, kind: int) -> None:
    panel = app.window.inspector.answer_format
    panel.kind.setCurrentIndex(kind)
    panel.kind.activated.emit(kind)
    await app.controllers.settle()


@pytest.mark.words
async def test_an_answer_format_is_checked_shown_and_kept_to(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=120))
        inspector = app.window.inspector
        panel = inspector.answer_format
        await _choose_format(app, 1)
        assert inspector.holding.options.sampling == SamplingChoice(schema=ANY)
        await _choose_format(app, 2)
        # the example to begin with, and what an answer would be like
        await until(lambda: panel.sample.text())
        assert json.loads(panel.sample.text()) == {"answer": "text", "confidence": 1.0}
        schema = {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 20}},
            "required": ["city"],
            "additionalProperties": False,
        }
        panel.schema.setPlainText('{"type": "objec')
        panel.flush()
        await until(lambda: "not valid JSON" in plain(panel.said.text()))
        # what cannot be used changes nothing
        before = inspector.holding.options
        panel.schema.setPlainText(json.dumps(schema))
        panel.flush()
        await until(lambda: inspector.holding.options != before)
        assert plain(panel.kind.currentText()) == "JSON that fits a schema"
        reply = await ask(app, "Where is the Tower of Belém?")
        assert list(json.loads(reply.text)) == ["city"]
        panel.reset.emit()
        assert inspector.holding.options == ChatOptions()
        assert panel.kind.currentIndex() == 0


def _save_prompt(app: App, name: str) -> None:
    """Keep what is in the composer under a name."""
    app.window.prompts.save_prompt()
    write(app.window, name)


async def test_prompts_are_saved_found_by_a_slash_and_filled_in(running: OpenApp) -> None:
    async with running() as app:
        window, composer = app.window, app.window.composer
        composer.edit.setFocus()
        composer.edit.setPlainText("Translate into {{language}}:\n{{clipboard}}")
        _save_prompt(app, "Translate")
        from PySide6.QtGui import QGuiApplication

        QGuiApplication.clipboard().setText("Guten Tag")
        composer.edit.setPlainText("")
        composer.edit.setFocus()
        QTest.keyClicks(composer.edit, "/transl")
        assert not composer.slash.isHidden()
        assert composer.slash.titles[0] == "Translate"
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)
        await until(lambda: window.prompts.asking is not None)
        asking = window.prompts.asking
        assert asking is not None
        assert list(asking.fields) == ["language"]
        asking.fields["language"].setPlainText("French")
        asking.take()
        assert composer.text() == "Translate into French:\nGuten Tag"
        assert composer.slash.isHidden()


async def test_a_slash_runs_commands_and_stays_a_message_where_it_is_none(
    running: OpenApp,
) -> None:
    async with running() as app:
        window, composer = app.window, app.window.composer
        composer.edit.setFocus()
        type_words(composer.edit, "/archived")
        assert plain(composer.slash.titles[0]) == "Archived chats…"
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)
        assert window.order.archive is not None
        window.order.archive.close()
        composer.edit.setFocus()
        QTest.keyClicks(composer.edit, "/etc/passwd is a file")
        assert composer.slash.isHidden()
        assert composer.text() == "/etc/passwd is a file"
        composer.edit.setPlainText("")
        type_words(composer.edit, "/new")
        assert not composer.slash.isHidden()
        QTest.keyClick(composer.edit, Qt.Key.Key_Escape)
        assert composer.slash.isHidden()
        assert composer.text() == accented("/new")


async def test_the_library_keeps_what_is_written_in_it(running: OpenApp) -> None:
    async with running() as app:
        window, preferences = app.window, app.services.preferences
        judge = changed(Preset(name="Judge"), system_prompt="Be just.")
        preferences.update(presets=(judge,), prompts=())
        window.prompts.open()
        library = window.prompts.library
        assert library is not None
        library.prompts.add.click()
        library.prompts.text.setPlainText("Say it shorter.")
        library.prompts.name.setText("Shorter")
        library.prompts.name.editingFinished.emit()
        library.prompts.add.click()
        # one without a text is not kept
        assert [(one.name, one.text) for one in preferences.current.prompts] == [
            ("Shorter", "Say it shorter.")
        ]
        library.prompts.name.setText("shorter")
        library.prompts.name.editingFinished.emit()
        library.prompts.text.setPlainText("Even shorter.")
        assert [one.name for one in preferences.current.prompts] == ["Shorter", "shorter 2"]
        library.prompts.delete.click()
        assert [one.name for one in preferences.current.prompts] == ["Shorter"]
        library.presets.text.setPlainText("Be just and kind.")
        (preset,) = preferences.current.presets
        assert (preset.name, preset.system_prompt) == ("Judge", "Be just and kind.")
        library.presets.delete.click()
        assert preferences.current.presets == ()
        library.close()
        assert window.prompts.library is None


async def test_what_is_saved_beside_the_open_library_is_in_it_too(running: OpenApp) -> None:
    async with running() as app:
        window, preferences = app.window, app.services.preferences
        window.prompts.open()
        library = window.prompts.library
        assert library is not None
        library.prompts.add.click()
        library.prompts.text.setPlainText("Say it shorter.")
        window.composer.set_text("Say it in verse.")
        _save_prompt(app, "Verse")
        window.inspector.save_preset("As it is")
        library.prompts.text.setPlainText("Say it much shorter.")
        library.presets.text.setPlainText("Be just.")
        kept = {plain(one.name): one.text for one in preferences.current.prompts}
        known = {one.name: one.text for one in PROMPTS}
        assert kept == known | {
            "New prompt": "Say it much shorter.", "Verse": "Say it in verse."
        }  # fmt: skip
        assert [one.name for one in preferences.current.presets] == ["As it is"]
        library.close()
