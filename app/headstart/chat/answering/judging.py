"""Verdicts on drafts, each with a reason. Reads files: call on worker threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from headstart.core.errors import ModelProblem
from headstart.core.models import fit
from headstart.core.models.draft_choice import Works
from headstart.core.models.fit import Pair, automatic_context
from headstart.core.models.heads import OWN_LAYERS, HeadFacts, HeadKind
from headstart.core.models.ref import ModelRef
from headstart.core.servers import ServerModel
from headstart.core.settings.schema import EngineSettings
from headstart.core.told import Told, about, told
from headstart.core.wording import say
from headstart.engine.memory import memory
from headstart.engine.speculation.compatibility import PairVerdict, judge
from headstart.engine.speculation.head_fit import judge_head, why_no_own_layers
from headstart.hub.cards import read_card
from headstart.hub.heads import head_shape, own_layers, read_head


class DraftChoice(Struct, frozen=True):
    """A draft as the settings (`key`) and the window (`name`) call it. `taken`: it is the automatic
    choice."""

    key: str
    name: str
    verdict: PairVerdict
    taken: bool = False


def judged_for(
    target: ServerModel,
    installed: list[ModelRef],
    whys: Mapping[str, Told],
    engine: EngineSettings,
) -> list[DraftChoice]:
    """Installed models as drafts for a server's model, small ones first: nothing is known of it."""
    free = memory()

    def verdict_of(model: ModelRef) -> PairVerdict:
        why = whys.get(model.key)
        if why is not None:
            return PairVerdict(Works.NO, (why,))
        card = read_card(model)
        context = engine.context_length or automatic_context(Pair(card.shape), engine, free)
        need = fit.need(card.shape, min(context, card.context_length or context), engine)
        if fit.judge(need, free) == "no":
            why = told("draft-needs-memory", need=need.total, free=free.available)
            return PairVerdict(Works.NO, (why,))
        notes = (told("draft-for-server", host=target.host), told("draft-fits", need=need.total))
        return PairVerdict(Works.YES, notes)

    small = sorted(installed, key=lambda model: model.size)
    choices = [DraftChoice(one.key, one.name, _read(verdict_of, one)) for one in small]
    return sorted(choices, key=lambda choice: choice.verdict.works is Works.NO)


def drafts_itself(target: ModelRef) -> bool:
    try:
        return own_layers(target).usable
    except (ModelProblem, OSError):
        return False


def judged(
    target: ModelRef,
    installed: list[ModelRef],
    heads: list[ModelRef],
    whys: Mapping[str, Told],
    engine: EngineSettings,
) -> list[DraftChoice]:
    """Verdicts on all candidates. `whys`: reasons why models cannot run, and so cannot draft, on
    this computer."""
    card, free = read_card(target), memory()
    context = engine.context_length or automatic_context(Pair(card.shape), engine, free)

    def of_model(model: ModelRef) -> PairVerdict:
        why = whys.get(model.key)
        if why is not None:
            return PairVerdict(Works.NO, (why,))
        return judge(card, read_card(model), context, engine, free)

    def of_head(model: ModelRef) -> PairVerdict:
        facts = read_head(model)
        if facts is None:
            return PairVerdict(Works.NO, (told("head-not-run-here"),))
        return judge_head(card, facts, head_shape(model), context, engine, free)

    def of_itself() -> PairVerdict | None:
        own = own_layers(target)
        if not own.usable:
            return why_no_own_layers(own.there, own.told)
        facts = HeadFacts(HeadKind.OWN, 0)
        return judge_head(card, facts, card.shape.as_own_draft, context, engine, free)

    itself = of_itself()
    choices = [] if itself is None else [DraftChoice(OWN_LAYERS, say("own-layers"), itself)]
    for verdict, models in ((of_head, heads), (of_model, installed)):
        choices += [DraftChoice(one.key, one.name, _read(verdict, one)) for one in models]
    order = list(Works)
    return sorted(choices, key=lambda choice: order.index(choice.verdict.works))


def _read(judged: Callable[[ModelRef], PairVerdict], model: ModelRef) -> PairVerdict:
    try:
        return judged(model)
    except ModelProblem as problem:
        return PairVerdict(Works.NO, (about("draft-unreadable", problem.told),))
    except OSError as error:
        return PairVerdict(Works.NO, (told("draft-unreadable", problem=error.strerror or error),))
