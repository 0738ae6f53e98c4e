"""What the panel on speculation says: what a draft is worth, what it does, and why it does not."""

from __future__ import annotations

from pathlib import Path

from headstart.core.events import DraftActivity, DraftStage
from headstart.core.heads import OWN_LAYERS
from headstart.core.model_ref import AnyModel
from headstart.core.parts import Origin
from headstart.core.servers import ServerModel
from headstart.core.settings import Speculation

NO_DRAFTS = (
    "{host} does not tell how likely a given text is, so that drafts cannot be checked there. "
    "vLLM, SGLang and llama_cpp.server do."
)
ONLY_GREEDY = "For a server's model, only replies at temperature 0 are drafted."
MARKS = {"yes": "works", "by text": "works by text, slower", "no": "does not help here"}


def activity_words(activity: DraftActivity | None) -> tuple[str, str]:
    """What the draft is doing, in a few words, and why, in a sentence or none."""
    if activity is None:
        return "–", ""
    right = f"this draft is right {activity.acceptance:.0%} of the time here"
    match activity.stage:
        case DraftStage.CALIBRATING:
            why = "Measuring what this draft costs and gains while you are not waiting."
            return f"calibrating, {activity.done} of {activity.total}", why
        case DraftStage.LEARNING:
            return "not drafting yet", "Too little is known about this draft so far."
        case DraftStage.READY:
            return "ready", f"{right.capitalize()}; from {activity.needed:.0%} on it helps."
        case DraftStage.DRAFTING:
            who = "" if activity.source is Origin.DRAFT else f"{activity.source.value} "
            return f"{who if activity.source.drafted else ''}drafting {activity.depth}", ""
        case DraftStage.LOOKUP:
            what = "earlier chats" if activity.source is Origin.EARLIER else "text"
            return f"reusing {what}, {activity.depth}", ""
        case DraftStage.NOT_PAYING:
            return "not drafting", f"{right.capitalize()}; it would need {activity.needed:.0%}."
        case DraftStage.WAITING:
            why = "Prefilling the draft with this chat costs more than drafting has saved so far."
            return "not drafting yet", why
        case DraftStage.OFF:
            return "–", ""


def why_no_drafts(model: AnyModel | None, temperature: float) -> str:
    """Why nothing can be drafted for the model of a server; "" where something can be."""
    if not isinstance(model, ServerModel):
        return ""
    if not model.checks_drafts:
        return NO_DRAFTS.format(host=model.host)
    return ONLY_GREEDY if temperature > 0 else ""


def summary(value: Speculation, host: str, no_drafts: str) -> str:
    """What is chosen, in a few words; `host` answers, "" for this computer."""
    if not value.enabled:
        return "off"
    if no_drafts:
        return "not with this server"
    if value.draft:
        own = value.draft == OWN_LAYERS
        return "own layers" if own else Path(value.draft).name.removesuffix(".gguf")
    earlier = value.earlier_chats and not host
    if value.prompt_lookup:
        return "repeats, earlier chats" if earlier else "repeated text only"
    return "earlier chats only" if earlier else "no draft"
