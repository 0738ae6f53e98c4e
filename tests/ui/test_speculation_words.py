"""What the panel says of a draft, and number fields with a gap."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from headstart.core.events import DraftActivity, DraftStage
from headstart.core.servers import Connection, ServerKind, ServerModel
from headstart.core.settings.fields import describe
from headstart.core.settings.schema import EngineSettings
from headstart.ui.inspector.speculation_panel import SpeculationPanel
from headstart.ui.inspector.speculation_words import activity_words
from headstart.ui.kit.number_boxes import WholeNumberBox
from tests.support.plain import plain


@pytest.mark.parametrize(
    ("activity", "now", "why"),
    [
        (
            DraftActivity(DraftStage.CALIBRATING, done=5, total=20),
            "calibrating, 5 of 20",
            "waiting",
        ),
        (DraftActivity(DraftStage.DRAFTING, 7), "drafting 7", ""),
        (
            DraftActivity(DraftStage.NOT_PAYING, 0, 0.12, 0.4),
            "not drafting",
            "12% of draft tokens are accepted; drafting pays from 40%.",
        ),
        (DraftActivity(DraftStage.LOOKUP, 3), "reusing text, 3", ""),
        (None, "–", ""),
    ],
)
def test_the_panel_says_what_a_draft_does_and_why(
    qtbot: QtBot, activity: DraftActivity | None, now: str, why: str
) -> None:
    panel = SpeculationPanel()
    qtbot.addWidget(panel)
    panel.live.show_activity(activity)
    assert plain(panel.live.values["inspector.now"].text()) == now
    assert why in plain(panel.live.why.text())
    assert panel.live.why.isHidden() == (not why)


@pytest.mark.parametrize(
    ("kind", "temperature", "words", "usable"),
    [
        ("vllm", 0.0, "", True),
        # it can be set for replies at temperature 0
        ("vllm", 0.7, "only replies at temperature 0", True),
        ("", 0.0, "h.example does not return token probabilities", False),
    ],
)
def test_a_server_says_why_nothing_is_drafted(
    qtbot: QtBot, kind: ServerKind, temperature: float, words: str, usable: bool
) -> None:
    model = ServerModel(Connection("1", "Lab", "https://h.example/v1", kind=kind), "m")
    panel = SpeculationPanel()
    qtbot.addWidget(panel)
    panel.set_server(model, temperature)
    assert words in plain(panel.verdict.text())
    assert panel.draft_box.isEnabled() == panel.prompt_lookup.isEnabled() == usable


def test_every_stage_has_words() -> None:
    for stage in DraftStage:
        now, _ = activity_words(DraftActivity(stage))
        assert now


def test_a_number_between_automatic_and_the_least_is_never_taken(qtbot: QtBot) -> None:
    box = WholeNumberBox(describe(EngineSettings)["context_length"])
    qtbot.addWidget(box)
    box.stepUp()
    assert box.value() == 512
    box.stepDown()
    assert box.value() == 0
    box.lineEdit().setText("10")
    box.interpretText()
    assert box.value() == 512
    box.lineEdit().setText("4096")
    box.interpretText()
    assert box.value() == 4096
