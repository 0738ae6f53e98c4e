"""Sentences of the panel on drafting: a draft's verdict, its activity, the reasons."""

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
from headstart.ui.kit.joining import titled
from headstart.ui.wording import say

NO_DRAFTS = "inspector.host-does-not-return-token"
ONLY_GREEDY = "inspector.for-servers-model-only-replies"
# the displayed name of a model's own layers as a draft
OWN_NAME = "inspector.own-layers"
MARKS = {
    Works.YES: "inspector.works",
    Works.BY_TEXT: "inspector.works-by-text-slower",
    Works.NO: "inspector.does-not-help-here",
}


def activity_words(activity: DraftActivity | None) -> tuple[str, str]:
    """Activity of the draft in a few words, and the reason in a sentence or none."""
    if activity is None:
        return "–", ""
    right = say("inspector.acceptance-of-draft-tokens-accepted", acceptance=activity.acceptance)
    match activity.stage:
        case DraftStage.CALIBRATING:
            why = say("inspector.measuring-draft")
            return say(
                "inspector.calibrating-done-of-total-2", done=activity.done, total=activity.total
            ), why
        case DraftStage.LEARNING:
            return say("inspector.not-drafting-yet"), say("inspector.too-little-known-about-draft")
        case DraftStage.READY:
            return say("inspector.ready"), say(
                "inspector.right-drafting-pays-from-needed", right=right, needed=activity.needed
            )
        case DraftStage.DRAFTING:
            source = activity.source.value if activity.source.drafted else "other"
            return say("inspector.drafts-by", source=source, depth=activity.depth), ""
        case DraftStage.LOOKUP:
            earlier = activity.source is Origin.EARLIER
            code = "inspector.reusing-earlier-chats" if earlier else "inspector.reusing-text"
            return say(code, depth=activity.depth), ""
        case DraftStage.NOT_PAYING:
            return say("inspector.not-drafting"), say(
                "inspector.right-drafting-pays-from-needed", right=right, needed=activity.needed
            )
        case DraftStage.WAITING:
            why = say("inspector.processing-chat-in-draft-costs")
            return say("inspector.not-drafting-yet"), why
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
        return say(no_drafts, host=host)
    if chosen is not None:
        return titled(say(MARKS[chosen.verdict.works]), chosen.verdict.reason)
    if value.draft not in ("", AUTOMATIC):
        return say("inspector.not-among-installed-models-replies")
    if not choices:
        return say("inspector.looking-at-installed-models")
    if not any(choice.verdict.works is not Works.NO for choice in choices):
        reasons = "; ".join(titled(choice.name, choice.verdict.reason) for choice in choices[:3])
        return say("inspector.no-installed-model-can-draft", reasons=reasons)
    if host:
        return say("inspector.choose-small-model-drafts-here", host=host)
    if value.draft != AUTOMATIC:
        return say("inspector.small-model-of-same-family")
    if drafts_with:
        return say("inspector.installed-draft-gained-most-with")
    return say("inspector.no-installed-draft-would-make")


def why_no_drafts(model: AnyModel | None, temperature: float) -> str:
    """The code of the reason why a server's model allows no drafting; "" if drafting is
    possible."""
    if not isinstance(model, ServerModel):
        return ""
    if not model.checks_drafts:
        return NO_DRAFTS
    return ONLY_GREEDY if temperature > 0 else ""


def summary(value: Speculation, host: str, no_drafts: str, name: str) -> str:
    """The source of drafts in a few words: the draft `name`, or text without a model; `host`: the
    answering one, "" for this computer."""
    if not value.enabled:
        return say("inspector.off")
    if no_drafts:
        return say("inspector.not-with-server")
    if name:
        return name
    earlier = value.earlier_chats and not host
    if value.prompt_lookup:
        return say("inspector.repeated-text")
    return say("inspector.earlier-chats") if earlier else say("inspector.nothing")


def said(value: Speculation, host: str, no_drafts: str, name: str) -> str:
    """The source of drafts as a sentence."""
    if not value.enabled:
        return say("inspector.off-one-token-after-another")
    if no_drafts:
        return say("inspector.not-possible-with-server")
    if name == say(OWN_NAME):
        return say("inspector.drafts-by-own-layers")
    if name:
        return say("inspector.drafts-by-name", name=name)
    if value.prompt_lookup:
        return say("inspector.repeated-drafted")
    earlier = value.earlier_chats and not host
    return say("inspector.earlier-drafted" if earlier else "inspector.nothing-drafts-here")


def draft_name(value: Speculation, choices: Sequence[DraftChoice]) -> str:
    """Name of the draft in use; "" for none."""
    if not value.draft:
        return ""
    if value.draft == OWN_LAYERS:
        return say(OWN_NAME)
    if value.draft == AUTOMATIC:
        taken = next((one for one in choices if one.taken), None)
        key = "" if taken is None else taken.key
        return say(OWN_NAME) if key == OWN_LAYERS else "" if taken is None else taken.name
    known = next((one.name for one in choices if one.key == value.draft), "")
    return known or people_name(stem(Path(value.draft).name))
