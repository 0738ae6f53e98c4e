"""How much a model thinks: a row where the model can be told, and what a chat keeps of it."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from headstart.core.chats.values import Chat
from headstart.core.settings.schema import ChatOptions, Settings
from headstart.ui.inspector.inspector import Inspector
from tests.support.plain import plain


def test_the_row_offers_what_the_model_can_be_told(qtbot: QtBot) -> None:
    inspector = Inspector(Settings())
    qtbot.addWidget(inspector)
    inspector.set_chat(Chat("a", "", 0, 0, options=ChatOptions()))
    row = inspector.thinking
    assert row.isHidden()
    row.set_choices(("auto",))
    assert row.isHidden()
    row.set_choices(("auto", "off", "on"))
    assert not row.isHidden()
    assert [plain(row.box.itemText(index)) for index in range(row.box.count())] == [
        "Automatic",
        "Off",
        "On",
    ]


def test_a_choice_is_the_chats_own_and_goes_with_a_reset(qtbot: QtBot) -> None:
    inspector = Inspector(Settings(thinking="on"))
    qtbot.addWidget(inspector)
    inspector.set_chat(Chat("a", "", 0, 0, options=ChatOptions()))
    inspector.thinking.set_choices(("auto", "off", "on"))
    assert inspector.thinking.box.currentData() == "on"
    with qtbot.waitSignal(inspector.options_changed) as told:
        inspector.thinking.box.setCurrentIndex(1)
        inspector.thinking.box.activated.emit(1)
    assert told.args == ["a", ChatOptions(thinking="off")]
    # another model knows levels only
    inspector.thinking.set_choices(("auto", "low", "high"))
    assert inspector.thinking.box.currentData() == "auto"
    inspector.set_chat(Chat("b", "", 0, 0, options=ChatOptions(thinking="high")))
    assert inspector.thinking.box.currentData() == "high"
