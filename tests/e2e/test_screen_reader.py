"""The whole program as a blind person has it: over the accessibility bus, with a real model.

Needs Xvfb, openbox, D-Bus and at-spi2-core; part of `make proof`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.at_spi import Bus, Part, desktop, missing
from tests.support.patience import PATIENCE, wait_for
from tests.support.screen import Screen

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(sys.platform != "linux" or bool(missing()), reason="needs AT-SPI, a screen"),
]

_CONTROLS = ("push button", "check box", "text", "combo box", "spin box", "slider", "page tab")


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[tuple[Screen, Bus]]:
    with desktop(tmp_path) as found:
        yield found


def window_of(bus: Bus) -> Part | None:
    for program in bus.programs():
        for window in program.parts:
            if window.name.startswith(("Headstart", "New chat")):
                return window
    return None


def test_a_question_is_asked_and_the_reply_is_heard(
    reading: tuple[Screen, Bus], tmp_path: Path
) -> None:
    screen, bus = reading
    program = subprocess.Popen(
        [sys.executable, "-m", "headstart", "--home", str(tmp_path / "kept")],
        env=screen.environment,
    )
    try:
        wait_for(lambda: window_of(bus) is not None)
        window = window_of(bus)
        assert window is not None
        # every control has a name, and a role that says what it does
        for part in window.walk():
            role = part.role
            if role in _CONTROLS and part.is_shown:
                assert part.title, f"{role} without a name: {part.path}"
        found = window.find("text", "Message")
        assert found is not None
        found.write("Write two short sentences about the sea.")
        send = window.find("push button", "Send")
        assert send is not None
        send.press()
        wait_for(lambda: "The reply is finished." in bus.heard())
        said = bus.heard()
        assert len(said) >= 2, said
        # the transcript is a list of messages, which are made of paragraphs with lines
        messages = window.find("list", "Messages")
        assert messages is not None
        items = [one for one in messages.parts if one.role == "list item"]
        assert [one.description for one in items] == ["Message 1 of 2", "Message 2 of 2"]
        assert items[0].name.startswith("You: Write two short")
        blocks = [one for one in items[1].walk() if "Text" in one.interfaces]
        whole = " ".join(one.text() for one in blocks if one.role in ("paragraph", "heading"))
        spoken = " ".join(said[: said.index("The reply is finished.")])
        assert whole.split()[:5] == spoken.split()[:5]
        for block in blocks:
            lines = block.lines()
            assert "\n".join(lines).split() == block.text().split()
            if block.text():
                x, y, width, height = block.place(0)
                assert x > 0
                assert y > 0
                assert width > 0
                assert height > 0
    finally:
        program.terminate()
        program.wait(PATIENCE)
