"""Short texts of the pages about models: verdicts, sources, states."""

from __future__ import annotations

from headstart.core.hub.catalog import Fit, Repository
from headstart.core.hub.downloads import Download, DownloadState
from headstart.core.models.recommended import Recommended
from headstart.core.text.shown import size_text
from headstart.ui.kit import theme
from headstart.ui.wording import say

# least memory of a model per byte of weights; shares of memory above which it is tight, too large
_BESIDE, _EASY, _MOST = 1.15, 0.7, 0.9
SOURCES = {
    "starter": "models.came-with-headstart",
    "opened": "models.opened-from-file",
    "hugging-face": "models.hugging-face-cache",
    "lm-studio": "LM Studio",
    "ollama": "Ollama",
    "gpt4all": "GPT4All",
    "folder": "models.your-folder",
}
PURPOSES = {
    "general": "models.for-everything",
    "code": "models.for-code",
    "reasoning": "models.thinks-first",
    "small": "models.small-and-quick",
    "vision": "models.sees-pictures-2",
}


def source_words(source: str) -> str:
    """The source of a model in words; names of programs are the same in every language."""
    words = SOURCES[source]
    return say(words) if "." in words else words


def badge_of(row: Repository | Recommended, memory: int) -> tuple[str, str] | None:
    """A word beside the name, with its colour; None if there is nothing to say."""
    colours = theme.current()
    if isinstance(row, Recommended):
        return say(PURPOSES[row.purpose]), colours.accent
    needed = int(row.smallest * _BESIDE)
    if not memory or not needed:
        return None
    if needed > _MOST * memory:
        return say("models.needs-needed", needed=needed), colours.warning
    if needed > _EASY * memory:
        return say("models.tight"), colours.warning
    return None


def memory_words(fit: Fit, short: bool = False) -> tuple[str, str]:
    """Text on the memory need of a variant, and its colour."""
    colours = theme.current()
    text = (
        size_text(fit.need)
        if short
        else say("models.need-of-total", need=fit.need / 1e9, total=fit.total / 1e9)
    )
    if fit.verdict == "fits":
        return text, colours.accent
    if fit.verdict == "tight":
        return say("models.text-tight", text=text), colours.warning
    return say("models.text-too-large", text=text), colours.warning


def fit_hint(fit: Fit) -> str:
    """The numbers behind the verdict, for a tool tip."""
    verdict = {
        "fits": say("models.fits-in-memory-free"),
        "tight": say("models.fits-if-you-close-other"),
        "no": say("models.does-not-fit-into-computers"),
    }[fit.verdict]
    code = "models.needs-with-draft" if fit.with_draft else "models.needs-with-context"
    needs = say(code, need=fit.need, total=fit.total, context=fit.context)
    return f"{needs} {verdict}"


def quality_words(quality: int) -> str:
    return "●" * quality + "○" * (4 - quality) if quality else ""


def download_words(download: Download) -> str:
    """Progress of a download, in one line."""
    size = download.wanted.size
    amount = say("models.received-of-size", received=download.received, size=size)
    if download.state is DownloadState.RUNNING:
        parts = [amount]
        if download.speed:
            parts.append(f"{size_text(int(download.speed))}/s")
        if download.seconds_left is not None:
            parts.append(say("models.seconds-left-left", seconds_left=download.seconds_left))
        return " · ".join(parts)
    if download.state is DownloadState.CHECKING:
        return say("models.size-checking", size=size)
    if download.state is DownloadState.DONE:
        return say("models.size-done", size=size)
    state = {
        DownloadState.QUEUED: say("models.queued"),
        DownloadState.WAITING: say("models.waiting"),
        DownloadState.PAUSED: say("models.paused"),
        DownloadState.FAILED: say("models.failed"),
    }[download.state]
    return f"{amount} · {state}"
