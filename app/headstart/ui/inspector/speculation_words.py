"""Sentences of the panel on drafting: the worth of a draft, its activity, its reasons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headstart.chat.answering.drafts import DraftChoice
from headstart.core.chats.parts import Origin
from headstart.core.events import DraftActivity, DraftStage
from headstart.core.models.draft_choice import Works
from headstart.core.models.heads import AUTOMATIC, OWN_LAYERS
from headstart.core.models.names import people_name
from headstart.core.models.ref import AnyModel
from headstart.core.models.split_files import stem
from headstart.core.servers import ServerModel
from headstart.core.settings.schema import Speculation

NO_DRAFTS = (
    "{host} does not return token probabilities, so drafts cannot be verified there. "
    "vLLM, SGLang and llama_cpp.server do."
)
ONLY_GREEDY = "For a server's model, only replies at temperature 0 are drafted."
# what a model is called that drafts with its own layers
OWN_NAME = "its own layers"
MARKS = {
    Works.YES: "works",
    Works.BY_TEXT: "works by text, slower",
    Works.NO: "does not help here",
}


def activity_words(activity: DraftActivity | None) -> tuple[str, str]:
    """Activity of the draft in a few words, and the reason in a sentence or none."""
    if activity is None:
        return "–", ""
    right = f"{activity.acceptance:.0%} of draft tokens are accepted"
    match activity.stage:
        case DraftStage.CALIBRATING:
            why = "Measuring what this draft costs and gains while you are not waiting."
            return f"calibrating, {activity.done} of {activity.total}", why
        case DraftStage.LEARNING:
            return "not drafting yet", "Too little is known about this draft so far."
        case DraftStage.READY:
            return "ready", f"{right}; drafting pays from {activity.needed:.0%}."
        case DraftStage.DRAFTING:
            who = "" if activity.source is Origin.DRAFT else f"{activity.source.value} "
            return f"{who if activity.source.drafted else ''}drafting {activity.depth}", ""
        case DraftStage.LOOKUP:
            what = "earlier chats" if activity.source is Origin.EARLIER else "text"
            return f"reusing {what}, {activity.depth}", ""
        case DraftStage.NOT_PAYING:
            return "not drafting", f"{right}; drafting pays from {activity.needed:.0%}."
        case DraftStage.WAITING:
            why = "Processing this chat in the draft costs more than drafting has saved so far."
            return "not drafting yet", why
        case DraftStage.OFF:
            return "–", ""


def verdict_text(
    value: Speculation,
    choices: Sequence[DraftChoice],
    no_drafts: str,
    host: str,
    drafts_with: str,
) -> str:
    """The sentence below the choice of a draft; `drafts_with`: name of the chosen draft, or ""."""
    chosen = next((one for one in choices if one.key == value.draft), None)
    if no_drafts:
        return no_drafts
    if chosen is not None:
        return f"{MARKS[chosen.verdict.works]}: {chosen.verdict.reason}"
    if value.draft not in ("", AUTOMATIC):
        return "not among the installed models: replies are written without it"
    if not choices:
        return "looking at the installed models…"
    if not any(choice.verdict.works is not Works.NO for choice in choices):
        reasons = "; ".join(f"{choice.name}: {choice.verdict.reason}" for choice in choices[:3])
        return f"No installed model can draft here. {reasons}."
    if host:
        return f"Choose a small model: it drafts here, and {host} checks what it wrote."
    if value.draft != AUTOMATIC:
        return "A small model of the same family makes replies faster."
    if drafts_with:
        return "The installed draft that gained most with this model."
    return "No installed draft would make this model faster."


def why_no_drafts(model: AnyModel | None, temperature: float) -> str:
    """Why nothing can be drafted for the model of a server; "" where something can be."""
    if not isinstance(model, ServerModel):
        return ""
    if not model.checks_drafts:
        return NO_DRAFTS.format(host=model.host)
    return ONLY_GREEDY if temperature > 0 else ""


def summary(value: Speculation, host: str, no_drafts: str, name: str) -> str:
    """The draft in a few words: the draft called `name`, or what needs no model; `host` answers,
    "" for this computer."""
    if not value.enabled:
        return "off"
    if no_drafts:
        return "not with this server"
    if name:
        return name
    earlier = value.earlier_chats and not host
    if value.prompt_lookup:
        return "repeated text"
    return "earlier chats" if earlier else "nothing"


def said(value: Speculation, host: str, no_drafts: str, name: str) -> str:
    """The same as a sentence."""
    what = summary(value, host, no_drafts, name)
    if what == "off":
        return "Off: one token after another"
    if no_drafts:
        return "Not possible with this server"
    if what == "nothing":
        return "Nothing drafts here"
    if name:
        return f"{name[:1].upper()}{name[1:]} {'draft' if name == OWN_NAME else 'drafts'}"
    return f"{what[:1].upper()}{what[1:]} is drafted"


def draft_name(value: Speculation, choices: Sequence[DraftChoice]) -> str:
    """Name of the draft that is used; "" for none."""
    if not value.draft:
        return ""
    if value.draft == OWN_LAYERS:
        return OWN_NAME
    if value.draft == AUTOMATIC:
        taken = next((one for one in choices if one.taken), None)
        key = "" if taken is None else taken.key
        return OWN_NAME if key == OWN_LAYERS else "" if taken is None else taken.name
    known = next((one.name for one in choices if one.key == value.draft), "")
    return known or people_name(stem(Path(value.draft).name))
