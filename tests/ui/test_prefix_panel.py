"""What the panel says about reused tokens and sizes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication

from headstart.core.chats.values import FinishReason, PrefixStats, TurnStats
from headstart.core.prefixes import PrefixUse
from headstart.core.text.shown import size_text
from headstart.core.told import told
from headstart.ui.inspector.prefix_panel import PrefixPanel, reuse_text
from headstart.ui.inspector.prefix_sizes import PrefixSizes
from tests.support.plain import plain

FIGURES = TurnStats(FinishReason.END, 1236, 1204, 0.05, 0.09, 260, 8.3)


@pytest.mark.parametrize(
    ("stats", "words"),
    [
        (FIGURES, "1,204 of 1,236 tokens reused. 32 were new."),
        (
            replace(FIGURES, prefix=PrefixStats(from_disk=1204)),
            "1,204 of 1,236 tokens reused (from disk). 32 were new.",
        ),
        (
            replace(FIGURES, prefix=PrefixStats(from_disk=900, from_memory=200, ahead=31)),
            (
                "1,204 of 1,236 tokens reused (900 from disk, 200 from memory). 32 were new. "
                "31 were prefilled before you asked."
            ),
        ),
        (
            replace(FIGURES, prefix=PrefixStats(recomputed=30, reason=told("system-changed"))),
            (
                "1,204 of 1,236 tokens reused. 30 tokens were recomputed: the system prompt "
                "changed, and everything after it depends on it."
            ),
        ),
        (replace(FIGURES, reused_tokens=0), "0 of 1,236 tokens reused. All of it was new."),
        (
            replace(FIGURES, reused_tokens=1235),
            "1,235 of 1,236 tokens reused. The last token is always processed.",
        ),
    ],
)
def test_reuse_is_told_in_words(stats: TurnStats, words: str) -> None:
    assert plain(reuse_text(stats)) == words


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 kB"), (1, "1 kB"), (12_000, "12 kB"), (5_900_000, "6 MB"), (8_000_000_000, "8.0 GB")],
)
def test_sizes_are_told_as_people_read_them(size: int, words: str) -> None:
    assert plain(size_text(size)) == words


def test_the_panel_shows_this_chats_numbers_and_says_why_nothing_is_kept(
    qapp: QApplication,
) -> None:
    panel = PrefixPanel()
    full = told("cache-not-written", error="No space left on device")
    use = PrefixUse(9_000_000, 8_000_000_000, {"a": 6_000_000}, 0, "/x", 0, full)
    panel.set_chat("a", keep=True, private=False)
    panel.set_use(use)
    assert plain(panel.values["inspector.chat-on-disk"].text()) == "6 MB"
    assert panel.note.text() == full.message
    panel.set_chat("b", keep=True, private=False)
    assert plain(panel.values["inspector.chat-on-disk"].text()) == "0 kB"
    kept: list[bool] = []
    panel.keep_changed.connect(kept.append)
    panel.keep.click()
    assert kept == [False]
    panel.set_chat("c", keep=True, private=True)
    assert not panel.keep.isEnabled()
    assert "neither its text" in plain(panel.note.text())
    panel.set_chat("a", keep=True, private=False, on_disk=False)
    assert not panel.keep.isChecked()
    assert "switched off in the settings" in plain(panel.note.text())
    assert kept == [False]


def test_sizes_are_listed_largest_first_and_the_choice_stays(qapp: QApplication) -> None:
    window = PrefixSizes()
    use = PrefixUse(9, 99, {"a": 1_000_000, "b": 8_000_000, "gone": 1000}, 0, "/x", 0)
    titles = {"a": "Alpha", "b": "Beta"}
    window.set_use(use, titles)
    rows = [window.list.topLevelItem(index) for index in range(3)]
    shown = [plain(row.text(0)) for row in rows if row is not None]
    assert shown == ["Beta", "Alpha", "a deleted chat"]
    assert not window.clear_one.isEnabled()
    assert rows[1] is not None
    rows[1].setSelected(True)
    window.set_use(use, titles)
    cleared: list[str] = []
    window.clear_chat_requested.connect(cleared.append)
    window.clear_all_requested.connect(lambda: cleared.append("everything"))
    window.clear_one.click()
    window.clear_all.click()
    assert cleared == ["a", "everything"]
