"""Sampling beside a chat: automatic values, the chat's own, and the way back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QToolButton
from pytestqt.qtbot import QtBot

from headstart.core.chats.values import Chat
from headstart.core.settings.schema import ChatOptions, SamplingChoice, Settings
from headstart.ui.inspector.inspector import Inspector
from headstart.ui.wording import say
from tests.support.plain import plain


def _inspector(qtbot: QtBot, options: ChatOptions | None = None) -> Inspector:
    inspector = Inspector(Settings())
    qtbot.addWidget(inspector)
    inspector.set_chat(Chat("a", "", 0, 0, options=options or ChatOptions()))
    return inspector


def _reset(inspector: Inspector, title: str) -> QToolButton:
    (button,) = [
        each
        for each in inspector.findChildren(QToolButton)
        if plain(each.accessibleName()) == plain(say("kit.title-automatic", title=title))
    ]
    return button


def test_advice_shows_where_nobody_chose(qtbot: QtBot) -> None:
    inspector = _inspector(qtbot, ChatOptions(sampling=SamplingChoice(top_k=5)))
    inspector.set_advice(SamplingChoice(temperature=0.6, top_k=20))
    assert inspector.sampling.sliders["temperature"].slider.value() == 30
    assert inspector.sampling.top_k.value() == 5
    assert not _reset(inspector, "Temperature").isEnabled()
    assert _reset(inspector, "Top-k").isEnabled()


def test_a_change_is_the_chats_own_and_goes_back(qtbot: QtBot) -> None:
    inspector = _inspector(qtbot)
    inspector.set_advice(SamplingChoice(temperature=0.6))
    with qtbot.waitSignal(inspector.options_changed) as told:
        inspector.sampling.sliders["temperature"].slider.setValue(50)
    assert told.args == ["a", ChatOptions(sampling=SamplingChoice(temperature=1.0))]
    button = _reset(inspector, "Temperature")
    assert button.isEnabled()
    with qtbot.waitSignal(inspector.options_changed) as told:
        button.click()
    assert told.args == ["a", ChatOptions()]
    assert inspector.sampling.sliders["temperature"].slider.value() == 30
    assert not button.isEnabled()


def test_what_is_being_typed_elsewhere_stays(qtbot: QtBot) -> None:
    inspector = _inspector(qtbot)
    inspector.system_prompt.setPlainText("You are a bard.")
    inspector.sampling.sliders["top_p"].slider.setValue(10)
    assert inspector.system_prompt.toPlainText() == "You are a bard."


def test_a_seed_is_fixed_and_drawn_again(qtbot: QtBot) -> None:
    inspector = _inspector(qtbot)
    with qtbot.waitSignal(inspector.options_changed) as told:
        inspector.sampling.fixed_seed.setChecked(True)
    assert told.args[1].sampling == SamplingChoice(seed=42)
    with qtbot.waitSignal(inspector.options_changed) as told:
        inspector.sampling.fixed_seed.setChecked(False)
    assert told.args[1] == ChatOptions()


def test_minus_one_means_what_it_means_in_other_programs(qtbot: QtBot) -> None:
    inspector = _inspector(qtbot, ChatOptions(sampling=SamplingChoice(max_tokens=9, seed=3)))
    panel = inspector.sampling

    def typed(name: str, text: str) -> object:
        line = getattr(panel, name).lineEdit()
        with qtbot.waitSignal(inspector.options_changed) as told:
            line.selectAll()
            QTest.keyClicks(line, text)
            QTest.keyClick(line, Qt.Key.Key_Return)
        return getattr(told.args[1].sampling, name)

    assert typed("max_tokens", "-1") == 0
    assert typed("top_k", "-1") == 0
    # no other number below 0 is taken: of -7 the field takes neither sign
    assert typed("max_tokens", "12") == 12
    panel.max_tokens.lineEdit().selectAll()
    QTest.keyClicks(panel.max_tokens.lineEdit(), "-7")
    QTest.keyClick(panel.max_tokens.lineEdit(), Qt.Key.Key_Return)
    assert panel.max_tokens.value() == 12
    seed = panel.rows["seed"].findChild(QLineEdit)
    assert isinstance(seed, QLineEdit)
    with qtbot.waitSignal(inspector.options_changed) as told:
        seed.selectAll()
        QTest.keyClicks(seed, "-1")
        QTest.keyClick(seed, Qt.Key.Key_Return)
    assert told.args[1].sampling.seed is None
    assert not panel.fixed_seed.isChecked()
