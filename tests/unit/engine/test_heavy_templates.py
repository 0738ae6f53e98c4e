"""Templates that ask for too much end soon, with little memory, and with a reason."""

from __future__ import annotations

import pytest

from headstart.engine.sandbox import budget, rendering
from headstart.engine.template import choose
from tests.support.heavy_templates import KINDS, all_tried


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_heavy_templates_are_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # sooner than in use, because there are many
    monkeypatch.setattr(budget, "MOST_SECONDS", 0.1)
    for source in KINDS[kind]:
        chosen = choose(source, "", "", frozenset())
        assert chosen.fallback is not None, source[:80]


@pytest.mark.proof
def test_heavy_templates_take_little_memory() -> None:
    found = all_tried()
    assert len(found) > 80
    assert [one for one in found if one.megabytes > 200 or one.outcome.startswith("ended")] == []


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("{{ 'a' ~ 1 ~ none ~ [1, 'b'] }}", "a1None[1, 'b']"),
        ("{{ messages[0].content|title }}", "One Two"),
        ("{{ messages[0].items()|list|length }}", "3"),
        ("{{ messages[0].absent is defined }}{{ messages[0].absent }}", "False"),
        ("{{ messages|map(attribute='role')|join(', ') }}", "user"),
        ("{{ 'a,b'.split(',')|last }}{{ 'ab'[::-1] }}", "bba"),
        ("{% set n = namespace(a=1) %}{% set n.a = n.a + 1 %}{{ n.a }}{{ n.b }}.", "2."),
        ("{% for a in [1, 2] %}{{ a }}{{ ',' if not loop.last }}{% endfor %}", "1,2"),
        ("{% for k, v in {'x': 1}.items() %}{{ k }}{{ v }}{% endfor %}", "x1"),
        ("{% macro f(a, b=2) %}{{ a + b }}{% endmacro %}{{ f(1) }}{{ f(1, b=3) }}", "34"),
        ("{{ '%s-%05.1f' % ('a', 2) }}{{ '{:>3}'.format(7) }}", "a-002.0  7"),
        ("{{ [3, 1, 2]|sort|tojson }}{{ [[1], [2]]|sum(start=[]) }}", "[1, 2, 3][1, 2]"),
        ("{{ [1, 2, 3]|sum }}{{ range(3)|list }}{{ 'x' * 3 }}", "6[0, 1, 2]xxx"),
        ("{% for a in [1, [2]] recursive %}{{ a if a is number else loop(a) }}{% endfor %}", "12"),
        ("{{ {'a': [1]}|tojson(indent=1)|replace('\\n', '') }}", '{ "a": [  1 ]}'),
        ("{{ 'one two three'|wordwrap(7)|replace('\\n', '/') }}", "one two/three"),
    ],
)  # fmt: skip
def test_the_limits_change_nothing_of_other_templates(source: str, shown: str) -> None:
    messages = [{"role": "user", "content": "one two", "reasoning_content": ""}]
    assert rendering.render(source, {"messages": messages}) == shown
