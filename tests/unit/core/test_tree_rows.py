"""The tree of a chat as rows of a drawing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.core.chats.tree import TreeNode
from headstart.core.chats.tree_rows import branches_of, rows_of
from headstart.core.chats.values import Role


def node(name: str, parent: str | None, shown: bool) -> TreeNode:
    return TreeNode(name, parent, Role.USER, name, "", 0, shown)


def test_what_is_read_is_straight_and_other_ways_hang_off_it() -> None:
    nodes = [
        node("a", None, True), node("b", "a", False), node("c", "a", True), node("b1", "b", False),
        node("d", "c", True),
    ]  # fmt: skip
    rows = rows_of(nodes)
    assert [(row.node.id, row.depth, row.begins) for row in rows] == [
        ("a", 0, False), ("b", 1, True), ("b1", 1, False), ("c", 0, False), ("d", 0, False)
    ]  # fmt: skip
    # the straight line passes the way that leaves it
    assert [0 in row.lines for row in rows] == [False, True, True, False, False]
    assert [row.versions for row in rows] == [1, 2, 1, 2, 1]
    assert branches_of(nodes) == 2


@st.composite
def trees(draw: st.DrawFn) -> list[TreeNode]:
    count = draw(st.integers(1, 30))
    parents = [draw(st.integers(0, max(0, number - 1))) for number in range(count)]
    children: dict[int, list[int]] = {}
    for number in range(1, count):
        children.setdefault(parents[number], []).append(number)
    shown, at = {0}, 0
    while at in children:
        at = draw(st.sampled_from(children[at]))
        shown.add(at)
    return [
        node(str(number), None if number == 0 else str(parents[number]), number in shown)
        for number in range(count)
    ]


@settings(deadline=None)
@given(trees())
def test_every_message_once_and_lines_that_meet(nodes: list[TreeNode]) -> None:
    rows = rows_of(nodes)
    assert sorted(row.node.id for row in rows) == sorted(one.id for one in nodes)
    assert [row.node.id for row in rows if row.depth == 0] == [one.id for one in nodes if one.shown]
    place = {row.node.id: number for number, row in enumerate(rows)}
    for number, row in enumerate(rows):
        # a message stands below the one that it answers
        assert row.node.parent is None or place[row.node.parent] < number
        # no line goes through a message's own column
        assert row.depth not in row.lines
        if row.above and not row.begins:
            over = rows[number - 1]
            assert over.depth == row.depth or row.depth in over.lines
