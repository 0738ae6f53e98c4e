"""Chat templates that ask for too much: of memory (size), of time, and of depth (nesting).

`all_tried` gives each to the part that chooses a model's template, in a process of its own, and
says how long it took and by how much the memory grew at most.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from dataclasses import dataclass

MEGA = "{% set m=('a'*100000)|replace('a','b c '*98) %}"
HALF = "{% set m=('a'*100000)|replace('a','b'*300) %}"

SIZE = (
    # every filter of Jinja's that can make much of little
    "{% set a=('a'*100000)|replace('a','b'*490) %}"
    + "".join(f"{{% set b{n}=a|list %}}" for n in range(40)),
    (
        "{% set a=([none]*1000)|map('default','x'*1000,true)|list %}"
        "{% set b=([none]*1000)|map('default',a,true)|list %}"
        "{% set c=([none]*1000)|map('default',b,true)|list %}{{ c|tojson|length }}"
    ),
    MEGA
    + "{% set l=[] %}{% for i in range(9999) %}{{ l.append(m) or '' }}{% endfor %}{{ l|join }}",
    MEGA + "{% set l=[] %}{% for i in range(99999) %}{{ l.append(m ~ i) or '' }}{% endfor %}",
    "{% set l=[1] %}{% for i in l %}{{ l.append(i) or '' }}{% endfor %}",
    "{% set l=['x'*999] %}{% for i in range(60) %}{{ l.append(l) }}{% endfor %}{{ l|string }}",
    MEGA + "{{ m|title|length }}",
    MEGA + "{{ m|wordcount }}",
    MEGA + "{{ m.split()|length }}",
    MEGA + "{{ m.split(' ')|length }}",
    MEGA + "{{ m.encode('utf-32')|length }}",
    MEGA + "{{ m|urlize|length }}",
    MEGA + "{{ m|escape|length }}",
    MEGA + "{{ m|urlencode|length }}",
    MEGA + "{{ m|wordwrap(1)|length }}",
    MEGA + "{{ m|groupby('x')|length }}",
    MEGA + "{{ m|unique|list|length }}",
    MEGA + "{{ m|batch(1)|list|length }}",
    MEGA + "{{ (m ~ m ~ m ~ m ~ m ~ m ~ m ~ m ~ m ~ m ~ m ~ m)|length }}",
    MEGA + "{% set l=[m,m,m,m,m,m,m,m,m,m] %}{{ l|join|length }}{{ l|string|length }}",
    MEGA + "{{ '%s%s%s%s%s%s%s%s%s' % (m,m,m,m,m,m,m,m,m) }}",
    MEGA + "{{ '{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}'.format(m)|length }}",
    MEGA + "{% for i in range(1000) %}{{ m }}{% endfor %}",
    HALF + "{% set ns=namespace(l=[]) %}{% for i in range(400) %}"
    "{% set ns.l = ns.l + [m|replace('b', 'c')] %}{% endfor %}{{ ns.l|length }}",
    HALF + "{% set ns=namespace(l=[]) %}{% for i in range(400) %}"
    "{% set ns.l = [ns.l, m[1:]] %}{% endfor %}{{ ns.l|length }}",
    HALF + "{% macro f() %}{{ m }}{% endmacro %}{% set ns=namespace(l=[]) %}"
    "{% for i in range(400) %}{% set ns.l = ns.l + [f()] %}{% endfor %}",
    "{{ ('\\t'*100000).expandtabs(100000)|length }}",
    "{{ (1).to_bytes(1000000000, 'big')|length }}",
    "{{ " + "'{:>9999}'" * 2000 + ".format(" + "1," * 1999 + "1)|length }}",
    "{{ '" + "{:>99999}" * 2000 + "'.format(" + "1," * 1999 + "1)|length }}",
    "{% set a=range(100000)|list %}" + "".join(f"{{% set b{n}=a+a+a %}}" for n in range(400)),
    "{% set a=range(99999)|map('string')|list %}"
    + "".join(
        f"{{% set b{n}=range(99999)|map('string')|map('center',99)|list %}}" for n in range(40)
    ),
    "{{ lipsum(100000, max=10000, min=9000)|length }}",
    "{% set a=('\u4e00'*100000)|replace('\u4e00','\u4e8c\u4e09'*200) %}{{ a|list|length }}",
)

TIME = (
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}",
    (
        "{% set a=range(100000)|list %}{% for i in range(100000) %}{% if -1 in a %}{% endif %}"
        "{% endfor %}"
    ),
    (
        "{% set a=range(100000)|list %}{% for i in range(100000) %}{% if a == a[::1] %}{% endif %}"
        "{% endfor %}"
    ),
    "{% set a=range(100000)|list %}" + "{% set x = -1 in a %}" * 4000,
    "{% set a=range(100000)|list %}{{ " + "a[::-1]|first + " * 4000 + "1 }}",
    "{% set a=range(100000)|list %}{{ " + "(-1 in a) or " * 5000 + "1 }}",
    "{% for i in range(100000) %}{{ range(100000)|sort|first }}{% endfor %}",
    "{% for i in range(100000) %}{{ range(100000)|sum }}{% endfor %}",
    "{% for i in range(100000) %}{{ range(100000)|select('odd')|list|length }}{% endfor %}",
    "{% for i in range(100000) %}{{ range(100000)|map('string')|join|length }}{% endfor %}",
    "{{ ([[1]*1000]*1000)|sum(start=[])|length }}",
    "{{ (['x'*1000]*100000)|sum(start='')|length }}",
    HALF + "{{ m|wordwrap(1, true)|length }}",
    "{{ (('<!---->'*10000)|replace('-','--'))|striptags|length }}",
    "{{ (('a'*100000)|replace('a','(a'))|urlize|length }}",
    HALF + "{% for i in range(100000) %}{% if 'q' in m %}{% endif %}{% endfor %}",
    HALF + "{% for i in range(100000) %}{{ m.count('q') }}{% endfor %}",
    HALF + "{% for i in range(100000) %}{{ m|trim|length }}{% endfor %}",
    HALF + "{% for i in range(100000) %}{{ m|reverse|length }}{% endfor %}",
    "{% set n=namespace(s=7) %}{% for i in range(100000) %}{% set n.s = n.s * 7 %}{% endfor %}",
    "{% set n=namespace(s='ff'*40000) %}{{ n.s|int(base=16) % 7 }}",
    "{% for a in [range(99999)|list] recursive %}{{ loop([a,a]) }}{% endfor %}",
    (
        "{% set x=dict.fromkeys(range(9999)) %}{% for i in range(99999) %}{{ x|dictsort|length }}"
        "{% endfor %}"
    ),
)

NESTING = (
    (
        "{% set n=namespace(s='x') %}{% for i in range(60) %}{% set n.s = [n.s, n.s] %}{% endfor %}"
        "{{ n.s }}"
    ),
    (
        "{% set n=namespace(s='x') %}{% for i in range(60) %}{% set n.s = dict(a=n.s, b=n.s) %}"
        "{% endfor %}{{ n.s|tojson }}"
    ),
    "{% set n=namespace(s='x') %}{% for i in range(18) %}{% set n.s = [n.s, n.s] %}{% endfor %}"
    + "{{ n.s|tojson|length }}" * 1000,
    (
        "{% set n=namespace(s='x') %}{% for i in range(60) %}{% set n.s = (n.s, n.s) %}{% endfor %}"
        "{{ {}[n.s] }}"
    ),
    # namespaces hold each other, and are written out with what they hold
    "".join(f"{{% set n{i}=namespace() %}}" for i in range(40))
    + "".join(f"{{% set n{i}.a=[n{i + 1},n{i + 1}] %}}" for i in range(39))
    + "{{ n0 }}",
    "{% set n=namespace() %}{% set n.a=n %}{{ n }}",
    "{% set n=namespace() %}{% set n.a=[n,n] %}{{ n ~ n }}{{ '%s' % n }}",
    "{% set n=namespace(s=[]) %}{% for i in range(100000) %}{% set n.s = [n.s] %}{% endfor %}",
    (
        "{% set n=namespace(s=[1]) %}{% for i in range(100000) %}"
        "{% set n.s = [n.s]|batch(1)|list %}{% endfor %}{{ n.s }}"
    ),
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "{{ " + "not " * 20000 + "1 }}",
    "{{ " + "-" * 50000 + "1 }}",
    "{{ " + "[" * 5000 + "]" * 5000 + " }}",
    "{{ 1" + "+1" * 30000 + " }}",
    "{{ 1" + "~1" * 30000 + " }}",
    "{{ 1" + "|string" * 10000 + " }}",
    "{{ a" + ".a" * 30000 + " }}",
    "{{ a" + "[0]" * 20000 + " }}",
    "{{ a" + " if a else b" * 8000 + " }}",
    "{% if a %}" * 3000 + "{% endif %}" * 3000,
    "{% for a in b %}" * 2000 + "{% endfor %}" * 2000,
    "{% for a in [1] %}" * 18 + "x" + "{% endfor %}" * 18,
    "{% macro f() %}" * 500 + "{% endmacro %}" * 500,
    "{% block a %}" * 100 + "{% endblock %}" * 100,
    "{% filter upper %}" * 2000 + "x" + "{% endfilter %}" * 2000,
    "{% set a %}" * 2000 + "x" + "{% endset %}" * 2000,
    "{% call f() %}" * 500 + "x" + "{% endcall %}" * 500,
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{% macro f() %}{{ caller() }}{% endmacro %}" + "{% call f() %}" * 90 + "{% endcall %}" * 90,
    "{{ x }}" * 14000,
    "{% set x=1 %}" * 7000,
    "{% if x==1 %}{% endif %}" * 4000,
    "".join(f"{{% set v{n}=v{n + 1} %}}" for n in range(4500)),
)

KINDS = {"size": SIZE, "time": TIME, "nesting": NESTING}


@dataclass(frozen=True, slots=True)
class Ended:
    """`outcome`: the reason of a refusal, or empty; `seconds` and `megabytes` above the start."""

    kind: str
    template: str
    outcome: str
    seconds: float
    megabytes: float


def tried(kind: str, source: str) -> Ended:
    """One of them, chosen and rendered as a model's would be, here."""
    from headstart.core.chats.values import Role
    from headstart.core.requests import PromptMessage
    from headstart.engine.template import TemplateError, choose

    # what a first use imports is not a template's
    choose("{% for m in messages %}{{ m.content|trim }}{% endfor %}", "", "", frozenset())
    before = _peak()
    start = time.perf_counter()
    chosen = choose(source, "<s>", "</s>", frozenset())
    seconds = time.perf_counter() - start
    outcome = "" if chosen.fallback is None else chosen.fallback.text
    if not outcome:
        start = time.perf_counter()
        try:
            chosen.render([PromptMessage(Role.USER, "Hello")])
        except TemplateError as error:
            outcome = f"{error}"
        seconds = max(seconds, time.perf_counter() - start)
    return Ended(kind, source[:60], outcome, seconds, (_peak() - before) / 1024)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _one(kind: str, source: str, results: multiprocessing.SimpleQueue[Ended]) -> None:
    # a template that gets past every limit ends its process, not the computer
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    results.put(tried(kind, source))


def all_tried() -> list[Ended]:
    """All of them, each in a process of its own."""
    context = multiprocessing.get_context("spawn")
    found = []
    for kind, sources in KINDS.items():
        for source in sources:
            results = context.SimpleQueue()
            process = context.Process(target=_one, args=(kind, source, results))
            process.start()
            process.join()
            if process.exitcode:
                found.append(Ended(kind, source[:60], f"ended: {process.exitcode}", 60, 4096))
            else:
                found.append(results.get())
    return found
